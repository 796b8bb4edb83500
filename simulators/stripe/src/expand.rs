//! `expand[]`: replaces IDs by the objects that they name, and adds fields that are shown only on request.

use crate::json::{embedded_list, text};
use crate::objects::{invoices, sessions};
use crate::state::{Call, State};
use serde_json::Value;

/// Expands all paths that a request names.
pub(crate) fn expand(state: &State, call: &Call, value: &mut Value) {
    for path in call.params.texts("expand") {
        let keys: Vec<&str> = path.split('.').collect();
        expand_path(state, call, value, &keys);
    }
}

fn expand_path(state: &State, call: &Call, value: &mut Value, keys: &[&str]) {
    if let Value::Array(elements) = value {
        for element in elements {
            expand_path(state, call, element, keys);
        }
        return;
    }
    let Some((key, rest)) = keys.split_first() else {
        return;
    };
    if !value.is_object() {
        return;
    }
    add_field(state, call, value, key);
    let Some(field) = value.get_mut(*key) else {
        return;
    };
    if let Value::String(id) = field
        && let Some(object) = find(state, id)
    {
        *field = object;
    }
    expand_path(state, call, field, rest);
}

fn find(state: &State, id: &str) -> Option<Value> {
    if let Some(transaction) = state.store.transaction(id) {
        return Some(transaction.show(state.now()));
    }
    state.store.record(id).map(|record| record.value.clone())
}

/// Adds lists that objects have only if a request asks for them.
fn add_field(state: &State, call: &Call, value: &mut Value, key: &str) {
    let id = text(value, "id").to_owned();
    let list = match (text(value, "object"), key) {
        ("checkout.session", "line_items") => {
            let url = format!("/v1/checkout/sessions/{id}/line_items");
            embedded_list(&url, &sessions::items_of(state, &id))
        }
        ("invoice", "payments") => {
            embedded_list("/v1/invoice_payments", &invoices::payments_of(state, call, &id))
        }
        ("charge", "refunds") => {
            let found = state.store.list(&call.scope, "refund", None);
            let found = found.filter(|record| text(&record.value, "charge") == id);
            let refunds: Vec<Value> = found.map(|record| record.value.clone()).collect();
            embedded_list(&format!("/v1/charges/{id}/refunds"), &refunds)
        }
        _ => return,
    };
    value[key] = list;
}
