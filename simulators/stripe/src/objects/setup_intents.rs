//! Setup intents: saving a payment method without a payment.

use crate::cards::Behavior;
use crate::error::{ApiError, Result};
use crate::ids::{client_secret, new_id};
use crate::json::{maybe_text, merge_metadata, text};
use crate::lists;
use crate::objects::payment_methods;
use crate::state::{Call, State};
use serde_json::{Value, json};

const KIND: &str = "setup_intent";

/// `POST /v1/setup_intents`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let method = params.text("payment_method").map(str::to_owned);
    let method = method
        .map(|method| payment_methods::resolve(state, call, &method))
        .transpose()?;
    if let Some(customer) = params.text("customer") {
        state.find(&call.scope, "customer", customer)?;
    }
    let id = new_id("seti");
    let types = params.texts("payment_method_types");
    let value = json!({
        "id": id,
        "object": KIND,
        "allowed_payment_method_types": null,
        "application": null,
        "automatic_payment_methods": null,
        "cancellation_reason": null,
        "client_secret": client_secret(&id),
        "created": state.now(),
        "customer": params.value("customer"),
        "customer_account": null,
        "description": params.value("description"),
        "excluded_payment_method_types": null,
        "flow_directions": null,
        "last_setup_error": null,
        "latest_attempt": null,
        "livemode": call.scope.livemode,
        "mandate": null,
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "next_action": null,
        "on_behalf_of": null,
        "payment_method": method,
        "payment_method_configuration_details": null,
        "payment_method_options": {"card": {
            "mandate_options": null, "network": null, "request_three_d_secure": "automatic",
        }},
        "payment_method_types": if types.is_empty() { vec!["card".to_owned()] } else { types },
        "single_use_mandate": null,
        "status": if method.is_some() { "requires_confirmation" } else { "requires_payment_method" },
        "usage": "off_session",
    });
    let intent = state.create(call, value, Value::Null, Some("setup_intent.created"));
    if params.flag("confirm") == Some(true) {
        return confirm(state, call, &id);
    }
    Ok(intent)
}

/// `POST /v1/setup_intents/{id}/confirm`
pub(crate) fn confirm(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let intent = state.find(&call.scope, KIND, id)?.clone();
    let Some(method) = maybe_text(&intent, "payment_method").or(call.params.text("payment_method")) else {
        return Err(ApiError::unexpected_state(
            KIND,
            "This SetupIntent is missing a payment method.",
        ));
    };
    match payment_methods::behavior(state, method) {
        Behavior::Decline(decline) => {
            let error = decline.error();
            let changes = json!({ "status": "requires_payment_method", "last_setup_error": error.fields });
            let failed = state.update(call, id, &changes, Some("setup_intent.setup_failed"));
            Err(error.with("setup_intent", failed))
        }
        Behavior::Authenticate => {
            let url = format!("{}/authenticate/{id}", state.base_url);
            let changes = json!({
                "status": "requires_action",
                "next_action": {"type": "redirect_to_url", "redirect_to_url": {"return_url": null, "url": url}},
            });
            Ok(state.update(call, id, &changes, Some("setup_intent.requires_action")))
        }
        _ => {
            if let Some(customer) = maybe_text(&intent, "customer") {
                payment_methods::attach_to(state, call, method, customer);
            }
            Ok(state.update(
                call,
                id,
                &json!({ "status": "succeeded" }),
                Some("setup_intent.succeeded"),
            ))
        }
    }
}

/// `POST /v1/setup_intents/{id}/cancel`
pub(crate) fn cancel(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let intent = state.find(&call.scope, KIND, id)?;
    if matches!(text(intent, "status"), "succeeded" | "canceled") {
        return Err(ApiError::unexpected_state(
            KIND,
            "This SetupIntent cannot be canceled.",
        ));
    }
    let reason = call.params.value("cancellation_reason");
    let changes = json!({ "status": "canceled", "cancellation_reason": reason });
    Ok(state.update(call, id, &changes, Some("setup_intent.canceled")))
}

/// `GET /v1/setup_intents/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/setup_intents`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(
        state,
        call,
        KIND,
        "/v1/setup_intents",
        &["customer", "payment_method"],
    )
}
