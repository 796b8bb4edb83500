//! Items that wait for the next invoice, and the lines of invoices.

use crate::error::Result;
use crate::ids::new_id;
use crate::json::{merge_metadata, number, text};
use crate::state::{Call, State};
use serde_json::{Value, json};

const ITEM: &str = "invoiceitem";

/// Something that an invoice charges for.
pub(crate) struct Line {
    pub(crate) amount: i64,
    pub(crate) description: String,
    pub(crate) price: Value,
    pub(crate) quantity: i64,
    pub(crate) period: (i64, i64),
    pub(crate) parent: Value,
}

pub(crate) fn show_line(line: &Line, invoice: &str, currency: &str, livemode: bool) -> Value {
    let pricing = if line.price.is_null() {
        Value::Null
    } else {
        json!({
            "price_details": {"price": line.price["id"], "product": line.price["product"]},
            "type": "price_details",
            "unit_amount_decimal": line.price["unit_amount_decimal"],
        })
    };
    json!({
        "id": new_id("il"),
        "object": "line_item",
        "amount": line.amount,
        "currency": currency,
        "description": line.description,
        "discount_amounts": [],
        "discountable": true,
        "discounts": [],
        "invoice": invoice,
        "livemode": livemode,
        "metadata": {},
        "parent": line.parent,
        "period": {"end": line.period.1, "start": line.period.0},
        "pretax_credit_amounts": [],
        "pricing": pricing,
        "quantity": line.quantity,
        "quantity_decimal": line.quantity.to_string(),
        "subscription": line.parent["subscription_item_details"]["subscription"],
        "subtotal": line.amount,
        "taxes": [],
    })
}

/// Creates an item that the next invoice includes.
pub(crate) fn add_item(state: &mut State, call: &Call, customer: &str, amount: i64, fields: &Value) -> Value {
    let now = state.now();
    let mut value = json!({
        "id": new_id("ii"),
        "object": ITEM,
        "amount": amount,
        "currency": "usd",
        "customer": customer,
        "customer_account": null,
        "date": now,
        "description": null,
        "discountable": true,
        "discounts": [],
        "invoice": null,
        "livemode": call.scope.livemode,
        "metadata": {},
        "parent": null,
        "period": {"end": now, "start": now},
        "pricing": null,
        "proration": false,
        "quantity": 1,
        "quantity_decimal": "1",
        "tax_rates": [],
        "test_clock": null,
    });
    crate::json::merge(&mut value, fields);
    state.create(call, value, Value::Null, Some("invoiceitem.created"))
}

/// Takes the items of a customer that are on no invoice yet.
pub(crate) fn take_items(state: &State, call: &Call, customer: &str) -> Vec<Value> {
    let items = state.store.list(&call.scope, ITEM, None);
    let open = items
        .filter(|record| text(&record.value, "customer") == customer && record.value["invoice"].is_null());
    open.map(|record| record.value.clone()).collect()
}

/// Returns the line of an item.
pub(crate) fn line_of_item(item: &Value) -> Line {
    Line {
        amount: number(item, "amount"),
        description: text(item, "description").to_owned(),
        price: Value::Null,
        quantity: 1,
        period: (number(&item["period"], "start"), number(&item["period"], "end")),
        parent: json!({
            "invoice_item_details": {
                "invoice_item": item["id"],
                "proration": item["proration"],
                "proration_details": null,
                "subscription": item["parent"]["subscription_details"]["subscription"],
            },
            "subscription_item_details": null,
            "type": "invoice_item_details",
        }),
    }
}

/// Notes on items which invoice has them.
pub(crate) fn assign_items(state: &mut State, call: &Call, items: &[Value], invoice: &str) {
    for item in items {
        state.update(call, text(item, "id"), &json!({ "invoice": invoice }), None);
    }
}

/// `POST /v1/invoiceitems`
pub(crate) fn create_item(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let customer = params.required("customer")?;
    state.find(&call.scope, "customer", customer)?;
    let amount = params.required_integer("amount")?;
    let fields = json!({
        "currency": params.required("currency")?.to_lowercase(),
        "description": params.value("description"),
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
    });
    Ok(add_item(state, call, customer, amount, &fields))
}

/// `DELETE /v1/invoiceitems/{id}`
pub(crate) fn delete_item(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let item = state.find(&call.scope, ITEM, id)?.clone();
    state.store.remove(id);
    state.emit(call, "invoiceitem.deleted", &item, None);
    Ok(json!({ "id": id, "object": ITEM, "deleted": true }))
}
