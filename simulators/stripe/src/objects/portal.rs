//! The customer portal: sessions, their configurations, and the page that replaces a card.

use crate::cards::Behavior;
use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{maybe_text, merge_metadata, text};
use crate::lists;
use crate::objects::{customers, payment_methods, subscriptions};
use crate::state::{Call, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "billing_portal.session";
const CONFIGURATION: &str = "billing_portal.configuration";
const FLOWS: &[&str] = &[
    "payment_method_update",
    "subscription_cancel",
    "subscription_pause",
    "subscription_update",
    "subscription_update_confirm",
];

/// `POST /v1/billing_portal/sessions`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    params.allow(&[
        "configuration",
        "customer",
        "customer_account",
        "expand",
        "flow_data",
        "locale",
        "on_behalf_of",
        "return_url",
    ])?;
    let customer = params.required("customer")?;
    state.find(&call.scope, customers::KIND, customer)?;
    let flow = match params.maybe_nested("flow_data") {
        None => Value::Null,
        Some(flow) => {
            flow.required("type")?;
            let kind = flow.choice("type", FLOWS)?;
            let completion = flow.nested("after_completion");
            let after = completion.choice("type", &["portal_homepage", "redirect", "hosted_confirmation"])?;
            let redirect = match after {
                "redirect" => json!({ "return_url": completion.nested("redirect").required("return_url")? }),
                _ => Value::Null,
            };
            json!({
                "after_completion": {"hosted_confirmation": null, "redirect": redirect, "type": after},
                "customer_update": null,
                "subscription_cancel": flow.value("subscription_cancel"),
                "subscription_pause": flow.value("subscription_pause"),
                "subscription_update": flow.value("subscription_update"),
                "subscription_update_confirm": flow.value("subscription_update_confirm"),
                "type": kind,
            })
        }
    };
    let id = new_id("bps");
    let value = json!({
        "id": id,
        "object": KIND,
        "configuration": params.text("configuration").unwrap_or("bpc_simulator"),
        "created": state.now(),
        "customer": customer,
        "customer_account": null,
        "flow": flow,
        "livemode": call.scope.livemode,
        "locale": params.value("locale"),
        "on_behalf_of": null,
        "return_url": params.value("return_url"),
        "url": format!("{}/p/session/{id}", state.base_url),
    });
    Ok(state.create(call, value, Value::Null, Some("billing_portal.session.created")))
}

/// Replaces the card of a customer, and returns where the page goes then.
pub(crate) fn replace_method(
    state: &mut State,
    call: &Call,
    id: &str,
    method: &str,
) -> Result<Option<String>> {
    let session = state.find(&call.scope, KIND, id)?.clone();
    if let Behavior::Decline(decline) = payment_methods::behavior(state, method) {
        return Err(decline.error());
    }
    let customer = text(&session, "customer");
    payment_methods::attach_to(state, call, method, customer);
    customers::set_default_method(state, call, customer, method, Some("customer.updated"));
    if state.tuning().portal_updates_subscriptions {
        let found = state
            .store
            .list(&call.scope, subscriptions::KIND, None)
            .map(|record| &record.value);
        let found = found.filter(|subscription| {
            text(subscription, "customer") == customer
                && text(subscription, "status") != "canceled"
                && !subscription["default_payment_method"].is_null()
        });
        let ids: Vec<String> = found
            .map(|subscription| text(subscription, "id").to_owned())
            .collect();
        for id in ids {
            let changes = json!({ "default_payment_method": method });
            state.update(call, &id, &changes, Some("customer.subscription.updated"));
        }
    }
    let redirect = maybe_text(&session["flow"]["after_completion"]["redirect"], "return_url");
    Ok(redirect.or(maybe_text(&session, "return_url")).map(str::to_owned))
}

/// `POST /v1/billing_portal/configurations`
pub(crate) fn create_configuration(state: &mut State, call: &Call) -> Result<Value> {
    let profile = call.params.nested("business_profile");
    let features = call.params.nested("features");
    if !call.params.has("features") {
        return Err(ApiError::missing("features"));
    }
    let is_enabled = |feature: &str| features.nested(feature).flag("enabled").unwrap_or(false);
    let now = state.now();
    let value = json!({
        "id": new_id("bpc"),
        "object": CONFIGURATION,
        "active": true,
        "application": null,
        "business_profile": {
            "headline": profile.value("headline"),
            "privacy_policy_url": profile.value("privacy_policy_url"),
            "terms_of_service_url": profile.value("terms_of_service_url"),
        },
        "created": now,
        "default_return_url": call.params.value("default_return_url"),
        "features": {
            "customer_update": {"allowed_updates": [], "enabled": is_enabled("customer_update")},
            "invoice_history": {"enabled": is_enabled("invoice_history")},
            "payment_method_update": {
                "enabled": is_enabled("payment_method_update"), "payment_method_configuration": null,
            },
            "subscription_cancel": {
                "cancellation_reason": {"enabled": false, "options": []},
                "enabled": is_enabled("subscription_cancel"),
                "mode": "at_period_end",
                "proration_behavior": "none",
            },
            "subscription_pause": {"enabled": is_enabled("subscription_pause")},
            "subscription_update": {
                "default_allowed_updates": [], "enabled": false, "proration_behavior": "none",
                "schedule_at_period_end": {"conditions": []}, "trial_update_behavior": "end_trial",
            },
        },
        "is_default": false,
        "livemode": call.scope.livemode,
        "login_page": {"enabled": false, "url": null},
        "metadata": merge_metadata(&json!({}), call.params.get("metadata")),
        "name": call.params.value("name"),
        "updated": now,
    });
    Ok(state.create(
        call,
        value,
        Value::Null,
        Some("billing_portal.configuration.created"),
    ))
}

/// `POST /v1/billing_portal/configurations/{id}`
pub(crate) fn update_configuration(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, CONFIGURATION, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    let changes = json!({ "metadata": metadata });
    Ok(state.update(call, id, &changes, Some("billing_portal.configuration.updated")))
}

/// `GET /v1/billing_portal/configurations`
pub(crate) fn list_configurations(state: &State, call: &Call) -> Result<Value> {
    lists::list(
        state,
        call,
        CONFIGURATION,
        "/v1/billing_portal/configurations",
        &["active"],
    )
}
