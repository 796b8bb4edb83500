//! The endpoints to which events are sent. The control interface sets them.

use crate::error::Result;
use crate::lists::{ListParams, page};
use crate::state::{API_VERSION, Call, State};
use serde_json::{Value, json};

/// `GET /v1/webhook_endpoints`: the endpoint of the account, and that of connected accounts if it has its own secret.
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    let params = ListParams::read(&call.params, &[])?;
    let endpoint = &state.endpoint;
    let has_connect = endpoint.connect_secret != endpoint.secret;
    let ids = ["we_accounts", "we_platform"]
        .into_iter()
        .filter(|id| *id == "we_platform" || has_connect);
    let found = ids.filter_map(|id| {
        let url = endpoint.url.as_deref()?;
        Some(json!({
            "id": id,
            "object": "webhook_endpoint",
            "api_version": API_VERSION,
            "application": null,
            "created": state.now(),
            "description": null,
            "enabled_events": ["*"],
            "livemode": call.scope.livemode,
            "metadata": {},
            "status": "enabled",
            "url": url,
        }))
    });
    Ok(page(found, &params, "/v1/webhook_endpoints"))
}
