//! Customers.

use crate::error::Result;
use crate::ids::new_id;
use crate::json::{maybe_text, merge_metadata};
use crate::lists;
use crate::objects::payment_methods;
use crate::state::{Call, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "customer";
const TEXTS: &[&str] = &["name", "email", "phone", "description", "address", "shipping"];

/// Creates a customer with a name and an email address.
pub(crate) fn create_with(state: &mut State, call: &Call, fields: &Value) -> Value {
    let id = new_id("cus");
    let prefix = id[id.len() - 8..].to_uppercase();
    let mut value = json!({
        "id": id,
        "object": KIND,
        "address": null,
        "balance": 0,
        "created": state.now(),
        "currency": null,
        "customer_account": null,
        "default_source": null,
        "delinquent": false,
        "description": null,
        "discount": null,
        "email": null,
        "invoice_prefix": prefix,
        "invoice_settings": {
            "custom_fields": null,
            "default_payment_method": null,
            "footer": null,
            "rendering_options": null,
        },
        "livemode": call.scope.livemode,
        "metadata": {},
        "name": null,
        "next_invoice_sequence": 1,
        "phone": null,
        "preferred_locales": [],
        "shipping": null,
        "tax_exempt": "none",
        "test_clock": null,
    });
    crate::json::merge(&mut value, fields);
    state.create(call, value, Value::Null, Some("customer.created"))
}

/// `POST /v1/customers`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let clock = params.text("test_clock");
    if let Some(clock) = clock {
        state.find(&call.scope, "test_helpers.test_clock", clock)?;
    }
    let sent = params.text("payment_method").or(params.text("source"));
    let method = sent
        .map(|method| payment_methods::resolve(state, call, method))
        .transpose()?;
    let mut fields = json!({
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "test_clock": clock,
    });
    for field in TEXTS {
        fields[*field] = params.value(field);
    }
    let mut value = state.at_clock(clock, |state| create_with(state, call, &fields));
    let id = crate::json::text(&value, "id").to_owned();
    if let Some(method) = method {
        payment_methods::attach_to(state, call, &method, &id);
        if params.nested("invoice_settings").has("default_payment_method") || params.has("source") {
            value = set_default_method(state, call, &id, &method, None);
        }
    }
    Ok(value)
}

/// Makes a payment method the one that invoices use.
pub(crate) fn set_default_method(
    state: &mut State,
    call: &Call,
    id: &str,
    method: &str,
    event: Option<&str>,
) -> Value {
    let mut settings = state.object(id)["invoice_settings"].clone();
    settings["default_payment_method"] = method.into();
    state.update(call, id, &json!({ "invoice_settings": settings }), event)
}

/// Returns the payment method that invoices use.
pub(crate) fn default_method(state: &State, id: &str) -> Option<String> {
    let customer = state.object(id);
    maybe_text(&customer["invoice_settings"], "default_payment_method").map(str::to_owned)
}

/// `POST /v1/customers/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let params = &call.params;
    let current = state.find(&call.scope, KIND, id)?;
    let mut changes = json!({ "metadata": merge_metadata(&current["metadata"], params.get("metadata")) });
    for field in TEXTS.iter().filter(|field| params.has(field)) {
        changes[*field] = params.value(field);
    }
    let settings = current["invoice_settings"].clone();
    if let Some(method) = params.nested("invoice_settings").text("default_payment_method") {
        let method = payment_methods::resolve(state, call, method)?;
        let mut settings = settings;
        settings["default_payment_method"] = method.into();
        changes["invoice_settings"] = settings;
    }
    Ok(state.update(call, id, &changes, Some("customer.updated")))
}

/// `DELETE /v1/customers/{id}`
pub(crate) fn delete(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let customer = state.find(&call.scope, KIND, id)?.clone();
    state.store.remove(id);
    state.emit(call, "customer.deleted", &customer, None);
    Ok(json!({ "id": id, "object": KIND, "deleted": true }))
}

/// `GET /v1/customers/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/customers`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/customers", &["email", "test_clock"])
}
