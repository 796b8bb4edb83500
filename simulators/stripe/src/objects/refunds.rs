//! Refunds: at once, pending, and failing later.

use crate::cards::Behavior;
use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{flag, maybe_text, merge_metadata, number, text};
use crate::lists;
use crate::objects::{charges, payment_methods};
use crate::records::Job;
use crate::state::{Call, State};
use crate::transactions::{self, Entry};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "refund";
const PARAMS: &[&str] = &[
    "amount",
    "charge",
    "currency",
    "customer",
    "expand",
    "instructions_email",
    "metadata",
    "origin",
    "payment_intent",
    "reason",
    "refund_application_fee",
    "reverse_transfer",
];
const REASONS: &[&str] = &["requested_by_customer", "duplicate", "fraudulent"];
/// How long the refunds of two test cards are pending.
const CARD_DELAY_MILLIS: i64 = 2_000;

/// `POST /v1/refunds`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    params.allow(PARAMS)?;
    let reason = params
        .has("reason")
        .then(|| params.choice("reason", REASONS))
        .transpose()?;
    let charge_id = match (params.text("charge"), params.text("payment_intent")) {
        (Some(charge), _) => charge.to_owned(),
        (None, Some(intent)) => {
            let intent = state.find(&call.scope, "payment_intent", intent)?;
            let charge =
                maybe_text(intent, "latest_charge").filter(|_| text(intent, "status") == "succeeded");
            charge.map(str::to_owned).ok_or_else(|| {
                let id = text(intent, "id");
                ApiError::invalid(format!(
                    "This PaymentIntent ({id}) does not have a successful charge to refund."
                ))
            })?
        }
        (None, None) => {
            return Err(ApiError::invalid(
                "One of the following params should be provided: payment_intent or charge.",
            ));
        }
    };
    let charge = state.find(&call.scope, charges::KIND, &charge_id)?.clone();
    let left = number(&charge, "amount_captured") - number(&charge, "amount_refunded");
    if text(&charge, "status") != "succeeded" {
        return Err(ApiError::invalid(format!(
            "Charge {charge_id} has not succeeded and cannot be refunded."
        ))
        .with("code", "charge_not_refundable"));
    }
    if flag(&charge, "disputed") && !is_refundable(state, call, &charge_id) {
        return Err(ApiError::invalid(format!(
            "Charge {charge_id} has been charged back; cannot issue a refund."
        ))
        .with("code", "charge_disputed"));
    }
    if left == 0 {
        return Err(
            ApiError::invalid(format!("Charge {charge_id} has already been refunded."))
                .with("code", "charge_already_refunded"),
        );
    }
    let amount = params.integer("amount")?.unwrap_or(left);
    if amount <= 0 {
        return Err(params
            .error("amount", "Invalid positive integer")
            .with("code", "parameter_invalid_integer"));
    }
    if amount > left {
        let message = format!(
            "Refund amount (${}.{:02}) is greater than unrefunded amount on charge (${}.{:02})",
            amount / 100,
            amount % 100,
            left / 100,
            left % 100
        );
        return Err(params.error("amount", message));
    }
    Ok(issue(state, call, &charge, amount, reason))
}

fn is_refundable(state: &State, call: &Call, charge: &str) -> bool {
    let mut disputes = state.store.list(&call.scope, "dispute", None);
    disputes
        .all(|record| text(&record.value, "charge") != charge || flag(&record.value, "is_charge_refundable"))
}

fn issue(state: &mut State, call: &Call, charge: &Value, amount: i64, reason: Option<&str>) -> Value {
    let charge_id = text(charge, "id");
    charges::post_transaction(state, call, charge_id, Some("charge.updated"));
    let id = new_id(if charge_id.starts_with("py_") { "pyr" } else { "re" });
    let behavior = payment_methods::behavior(state, text(charge, "payment_method"));
    let is_card = text(&charge["payment_method_details"], "type") == "card";
    let is_pending = behavior == Behavior::RefundIsPending || !is_card;
    let kind = if is_card { "refund" } else { "payment_refund" };
    let entry = Entry {
        description: Some("REFUND FOR CHARGE"),
        ..Entry::new(kind, "refund", -amount, text(charge, "currency"), &id)
    };
    let transaction = transactions::enter(state, &call.scope, &entry);
    let destination = if is_card {
        json!({
            "type": "card",
            "card": {"reference_status": "pending", "reference_type": "acquirer_reference_number", "type": "refund"},
        })
    } else {
        json!({ "type": "us_bank_transfer", "us_bank_transfer": {"reference": null, "reference_status": "pending"} })
    };
    let mut value = json!({
        "id": id,
        "object": KIND,
        "amount": amount,
        "balance_transaction": transaction,
        "charge": charge_id,
        "created": state.now(),
        "currency": charge["currency"],
        "customer": charge["customer"],
        "customer_account": null,
        "destination_details": destination,
        "metadata": merge_metadata(&json!({}), call.params.get("metadata")),
        "payment_intent": charge["payment_intent"],
        "payment_method": charge["payment_method"],
        "reason": reason,
        "receipt_number": null,
        "source_transfer_reversal": null,
        "status": if is_pending { "pending" } else { "succeeded" },
        "transfer_reversal": null,
    });
    if is_pending {
        value["pending_reason"] = "processing".into();
    }
    let refunded = number(charge, "amount_refunded") + amount;
    let changes =
        json!({ "amount_refunded": refunded, "refunded": refunded == number(charge, "amount_captured") });
    let charge = state.update(call, charge_id, &changes, None);
    let value = state.create(call, value, Value::Null, Some("refund.created"));
    state.emit(call, "charge.refunded", &charge, None);
    let refund = id.clone();
    match behavior {
        Behavior::RefundFails => {
            state.schedule_now(&call.scope, CARD_DELAY_MILLIS, Job::FailRefund { refund });
        }
        _ if is_pending => state.schedule_now(&call.scope, CARD_DELAY_MILLIS, Job::FinishRefund { refund }),
        _ => {}
    }
    value
}

/// Makes a pending refund succeed.
pub(crate) fn finish(state: &mut State, call: &Call, id: &str) -> Value {
    let refund = state.object(id);
    if text(&refund, "status") != "pending" {
        return refund;
    }
    state.store.change(id, |record| {
        record
            .value
            .as_object_mut()
            .map(|value| value.remove("pending_reason"))
    });
    let refund = state.update(
        call,
        id,
        &json!({ "status": "succeeded" }),
        Some("refund.updated"),
    );
    state.emit(call, "charge.refund.updated", &refund, None);
    refund
}

/// Makes a refund fail: the bank could not pay it, and the amount comes back to the balance.
pub(crate) fn fail(state: &mut State, call: &Call, id: &str, reason: &str) -> Result<Value> {
    let refund = state.find(&call.scope, KIND, id)?.clone();
    if matches!(text(&refund, "status"), "failed" | "canceled") {
        return Err(ApiError::invalid(format!("The refund {id} has already failed.")));
    }
    let amount = number(&refund, "amount");
    let entry = Entry {
        description: Some("REFUND FAILURE"),
        ..Entry::new(
            "refund_failure",
            "refund_failure",
            amount,
            text(&refund, "currency"),
            id,
        )
    };
    let transaction = transactions::enter(state, &call.scope, &entry);
    let charge = text(&refund, "charge");
    let refunded = number(&state.object(charge), "amount_refunded") - amount;
    state.update(
        call,
        charge,
        &json!({ "amount_refunded": refunded, "refunded": false }),
        Some("charge.updated"),
    );
    state.store.change(id, |record| {
        record
            .value
            .as_object_mut()
            .map(|value| value.remove("pending_reason"))
    });
    let changes = json!({
        "status": "failed",
        "failure_reason": reason,
        "failure_balance_transaction": transaction,
    });
    let refund = state.update(call, id, &changes, Some("refund.failed"));
    state.emit(call, "refund.updated", &refund, None);
    state.emit(call, "charge.refund.updated", &refund, None);
    Ok(refund)
}

/// `POST /v1/refunds/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    let refund = state.update(call, id, &json!({ "metadata": metadata }), Some("refund.updated"));
    state.emit(call, "charge.refund.updated", &refund, None);
    Ok(refund)
}

/// `GET /v1/refunds/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/refunds`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/refunds", &["charge", "payment_intent"])
}
