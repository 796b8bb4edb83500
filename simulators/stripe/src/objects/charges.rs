//! Charges: attempts to take money, and their balance transactions, which may come later than the charge.

use crate::cards::Behavior;
use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{flag, maybe_text, merge_metadata, number, text};
use crate::lists;
use crate::objects::payment_methods;
use crate::records::Job;
use crate::state::{Call, State};
use crate::transactions::{self, Entry, payment_fee};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "charge";

/// The result of an attempt.
pub(crate) enum Attempt<'a> {
    Succeeded,
    Pending,
    Failed(&'a ApiError),
}

/// Creates the charge of a payment intent.
pub(crate) fn create(
    state: &mut State,
    call: &Call,
    intent: &Value,
    method: &Value,
    result: &Attempt<'_>,
) -> Value {
    let id = new_id(if text(method, "type") == "card" {
        "ch"
    } else {
        "py"
    });
    let amount = number(intent, "amount");
    let (status, event) = match result {
        Attempt::Succeeded => ("succeeded", "charge.succeeded"),
        Attempt::Pending => ("pending", "charge.pending"),
        Attempt::Failed(_) => ("failed", "charge.failed"),
    };
    let is_manual = text(intent, "capture_method") == "manual";
    let is_captured = status == "succeeded" && !is_manual;
    let (failure_code, failure_message, outcome) = match result {
        Attempt::Failed(error) => {
            let code = error.fields.get("code").cloned();
            let reason = error.fields.get("decline_code").or(error.fields.get("code"));
            (code, Some(error.message().to_owned()), declined_outcome(reason))
        }
        _ => (None, None, approved_outcome()),
    };
    let value = json!({
        "id": id,
        "object": KIND,
        "amount": amount,
        "amount_captured": if is_captured { amount } else { 0 },
        "amount_refunded": 0,
        "application": null,
        "application_fee": null,
        "application_fee_amount": null,
        "balance_transaction": null,
        "billing_details": method["billing_details"],
        "calculated_statement_descriptor": "SIMULATOR",
        "captured": is_captured,
        "created": state.now(),
        "currency": intent["currency"],
        "customer": intent["customer"],
        "description": intent["description"],
        "disputed": false,
        "failure_balance_transaction": null,
        "failure_code": failure_code,
        "failure_message": failure_message,
        "fraud_details": {},
        "livemode": call.scope.livemode,
        "metadata": intent["metadata"],
        "on_behalf_of": null,
        "outcome": outcome,
        "paid": status == "succeeded",
        "payment_intent": intent["id"],
        "payment_method": method["id"],
        "payment_method_details": method_details(method, amount),
        "radar_options": {},
        "receipt_email": intent["receipt_email"],
        "receipt_number": null,
        "receipt_url": format!("https://pay.stripe.com/receipts/{id}"),
        "refunded": false,
        "review": null,
        "shipping": intent["shipping"],
        "source": null,
        "source_transfer": null,
        "statement_descriptor": null,
        "statement_descriptor_suffix": null,
        "status": status,
        "transfer_data": null,
        "transfer_group": null,
    });
    let value = state.create(call, value, Value::Null, None);
    let is_available = is_available_now(state, text(method, "id"));
    let is_posted = is_captured && (is_available || state.tuning().transaction_delay == 0);
    let value = if is_posted {
        post_transaction(state, call, &id, None)
    } else {
        value
    };
    state.emit(call, event, &value, None);
    if is_captured && is_available {
        let balance = transactions::balance(state, call);
        state.emit(call, "balance.available", &balance, None);
    }
    if is_captured && !is_posted {
        let delay = state.tuning().transaction_delay;
        state.schedule_now(&call.scope, delay, Job::PostTransaction { charge: id });
    }
    value
}

fn is_available_now(state: &State, method: &str) -> bool {
    payment_methods::behavior(state, method) == Behavior::AvailableNow
}

fn approved_outcome() -> Value {
    json!({
        "advice_code": null,
        "network_advice_code": null,
        "network_decline_code": null,
        "network_status": "approved_by_network",
        "reason": null,
        "risk_level": "normal",
        "risk_score": 12,
        "seller_message": "Payment complete.",
        "type": "authorized",
    })
}

fn declined_outcome(reason: Option<&Value>) -> Value {
    json!({
        "advice_code": null,
        "network_advice_code": null,
        "network_decline_code": "05",
        "network_status": "declined_by_network",
        "reason": reason,
        "risk_level": "normal",
        "risk_score": 12,
        "seller_message": "The bank returned a decline.",
        "type": "issuer_declined",
    })
}

fn method_details(method: &Value, amount: i64) -> Value {
    let kind = text(method, "type");
    let details = &method[kind];
    let details = match kind {
        "card" => json!({
            "amount_authorized": amount,
            "authorization_code": "123456",
            "brand": details["brand"],
            "checks": details["checks"],
            "country": details["country"],
            "electronic_commerce_indicator": null,
            "exp_month": details["exp_month"],
            "exp_year": details["exp_year"],
            "fingerprint": details["fingerprint"],
            "funding": details["funding"],
            "installments": null,
            "last4": details["last4"],
            "mandate": null,
            "network": details["brand"],
            "network_transaction_id": "123456789012345",
            "regulated_status": "unregulated",
            "three_d_secure": null,
            "transaction_link_id": null,
            "wallet": null,
        }),
        "us_bank_account" => json!({
            "account_holder_type": details["account_holder_type"],
            "account_type": details["account_type"],
            "bank_name": details["bank_name"],
            "fingerprint": details["fingerprint"],
            "last4": details["last4"],
            "payment_reference": null,
            "routing_number": details["routing_number"],
        }),
        _ => json!({
            "bank_code": details["bank_code"],
            "branch_code": details["branch_code"],
            "country": details["country"],
            "fingerprint": details["fingerprint"],
            "last4": details["last4"],
            "mandate": null,
        }),
    };
    json!({ "type": kind, kind: details })
}

/// Enters the balance transaction of a charge, unless it has one.
pub(crate) fn post_transaction(state: &mut State, call: &Call, id: &str, event: Option<&str>) -> Value {
    let charge = state.object(id);
    if !charge["balance_transaction"].is_null() || !flag(&charge, "captured") {
        return charge;
    }
    state.unschedule(|job| matches!(job, Job::PostTransaction { charge } if charge == id));
    let method = text(&charge["payment_method_details"], "type");
    let amount = number(&charge, "amount_captured");
    let kind = if method == "card" { "charge" } else { "payment" };
    let entry = Entry {
        fee: payment_fee(amount, method),
        description: maybe_text(&charge, "description"),
        is_available: is_available_now(state, text(&charge, "payment_method")),
        ..Entry::new(kind, "charge", amount, text(&charge, "currency"), id)
    };
    let transaction = transactions::enter(state, &call.scope, &entry);
    state.update(call, id, &json!({ "balance_transaction": transaction }), event)
}

/// Captures an authorized charge.
pub(crate) fn capture(state: &mut State, call: &Call, id: &str, amount: i64) -> Value {
    let changes = json!({ "captured": true, "amount_captured": amount });
    state.update(call, id, &changes, None);
    let charge = post_transaction(state, call, id, None);
    state.emit(call, "charge.captured", &charge, None);
    charge
}

/// Ends a bank debit: the bank confirms it, or refuses it with an error.
pub(crate) fn finish_debit(state: &mut State, call: &Call, id: &str, error: Option<&ApiError>) -> Value {
    if let Some(error) = error {
        let changes = json!({
            "status": "failed",
            "failure_code": error.fields.get("code"),
            "failure_message": error.message(),
            "outcome": declined_outcome(error.fields.get("code")),
        });
        return state.update(call, id, &changes, Some("charge.failed"));
    }
    let amount = number(&state.object(id), "amount");
    let changes = json!({ "status": "succeeded", "paid": true, "captured": true, "amount_captured": amount });
    state.update(call, id, &changes, None);
    let charge = post_transaction(state, call, id, None);
    state.emit(call, "charge.succeeded", &charge, None);
    charge
}

/// `POST /v1/charges/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let mut changes =
        json!({ "metadata": merge_metadata(&current["metadata"], call.params.get("metadata")) });
    for field in ["description", "receipt_email"]
        .into_iter()
        .filter(|field| call.params.has(field))
    {
        changes[field] = call.params.value(field);
    }
    Ok(state.update(call, id, &changes, Some("charge.updated")))
}

/// `GET /v1/charges/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/charges`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/charges", &["customer", "payment_intent"])
}
