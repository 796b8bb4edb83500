//! Disputes and inquiries. A dispute withdraws the amount and a fee when it opens; an inquiry withdraws nothing.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{merge_metadata, number, text};
use crate::lists;
use crate::objects::charges;
use crate::state::{Call, DAY, State};
use crate::transactions::{self, DISPUTE_FEE, Entry};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "dispute";

/// How a dispute ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Won,
    Lost,
}

/// Opens a dispute, or an inquiry.
pub(crate) fn open(state: &mut State, call: &Call, charge: &str, reason: &str, is_inquiry: bool) -> Value {
    let disputed = charges::post_transaction(state, call, charge, Some("charge.updated"));
    let id = new_id(if charge.starts_with("py_") { "pdp" } else { "dp" });
    let amount = number(&disputed, "amount") - number(&disputed, "amount_refunded");
    let brand = disputed["payment_method_details"]["card"]["brand"].clone();
    let details = if brand.is_null() {
        json!({ "type": "us_bank_account" })
    } else {
        let case = if is_inquiry { "inquiry" } else { "chargeback" };
        json!({
            "type": "card",
            "card": {"brand": brand, "case_type": case, "network": brand, "network_reason_code": "83"},
        })
    };
    let value = json!({
        "id": id,
        "object": KIND,
        "amount": amount,
        "balance_transactions": [],
        "charge": charge,
        "created": state.now(),
        "currency": disputed["currency"],
        "enhanced_eligibility_types": [],
        "evidence": empty_evidence(&disputed),
        "evidence_details": {
            "due_by": state.now() + 9 * DAY,
            "enhanced_eligibility": {},
            "has_evidence": false,
            "past_due": false,
            "submission_count": 0,
            "submission_method": "manual",
        },
        "intended_submission_method": null,
        "is_charge_refundable": is_inquiry,
        "livemode": call.scope.livemode,
        "metadata": {},
        "payment_intent": disputed["payment_intent"],
        "payment_method_details": details,
        "reason": reason,
        "status": if is_inquiry { "warning_needs_response" } else { "needs_response" },
    });
    state.update(call, charge, &json!({ "disputed": true }), None);
    let value = state.create(call, value, json!({}), Some("charge.dispute.created"));
    if !is_inquiry && state.tuning().withdraw_on_dispute {
        return withdraw(state, call, &id);
    }
    value
}

/// Takes the disputed amount and the fee from the balance.
pub(crate) fn withdraw(state: &mut State, call: &Call, id: &str) -> Value {
    let dispute = state.object(id);
    let description = format!("Chargeback withdrawal for {}", text(&dispute, "charge"));
    let entry = Entry {
        fee: DISPUTE_FEE,
        description: Some(&description),
        ..Entry::new(
            "adjustment",
            "dispute",
            -number(&dispute, "amount"),
            text(&dispute, "currency"),
            id,
        )
    };
    transactions::enter(state, &call.scope, &entry);
    let changes = json!({
        "balance_transactions": shown_transactions(state, id),
        "is_charge_refundable": false,
        "status": "needs_response",
    });
    state.update(call, id, &changes, Some("charge.dispute.funds_withdrawn"))
}

/// Turns an inquiry into a dispute.
pub(crate) fn escalate(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let dispute = state.find(&call.scope, KIND, id)?;
    if !text(dispute, "status").starts_with("warning_") {
        return Err(ApiError::invalid("Only an inquiry can become a dispute."));
    }
    state.update(
        call,
        id,
        &json!({ "status": "needs_response" }),
        Some("charge.dispute.updated"),
    );
    Ok(withdraw(state, call, id))
}

/// Closes a dispute: won returns the amount, lost keeps it. An inquiry ends as `warning_closed` if it is won, and
/// becomes a dispute first if it is lost.
pub(crate) fn close_with(state: &mut State, call: &Call, id: &str, verdict: Verdict) -> Result<Value> {
    let dispute = state.find(&call.scope, KIND, id)?.clone();
    let status = text(&dispute, "status");
    if matches!(status, "won" | "lost" | "warning_closed") {
        return Err(ApiError::invalid(format!(
            "This dispute is already closed with the status {status}."
        )));
    }
    let is_inquiry = status.starts_with("warning_");
    let status = match verdict {
        Verdict::Won if is_inquiry => "warning_closed",
        Verdict::Won => "won",
        Verdict::Lost => {
            if is_inquiry {
                withdraw(state, call, id);
            }
            "lost"
        }
    };
    let dispute = state.update(
        call,
        id,
        &json!({ "status": status }),
        Some("charge.dispute.closed"),
    );
    if status == "won"
        && !dispute["balance_transactions"]
            .as_array()
            .is_none_or(Vec::is_empty)
    {
        let description = format!("Chargeback reversal for {}", text(&dispute, "charge"));
        let fee = if state.tuning().return_dispute_fee {
            -DISPUTE_FEE
        } else {
            0
        };
        let amount = number(&dispute, "amount");
        let entry = Entry {
            fee,
            description: Some(&description),
            ..Entry::new(
                "adjustment",
                "dispute_reversal",
                amount,
                text(&dispute, "currency"),
                id,
            )
        };
        transactions::enter(state, &call.scope, &entry);
        let changes = json!({ "balance_transactions": shown_transactions(state, id) });
        return Ok(state.update(call, id, &changes, Some("charge.dispute.funds_reinstated")));
    }
    Ok(dispute)
}

/// Returns the balance transactions of a dispute, oldest first.
fn shown_transactions(state: &State, id: &str) -> Vec<Value> {
    let now = state.now();
    let found = state
        .store
        .transactions(None)
        .filter(|transaction| transaction.source == id);
    let mut shown: Vec<Value> = found.map(|transaction| transaction.show(now)).collect();
    shown.reverse();
    shown
}

fn empty_evidence(charge: &Value) -> Value {
    json!({
        "access_activity_log": null,
        "billing_address": null,
        "cancellation_policy": null,
        "cancellation_policy_disclosure": null,
        "cancellation_rebuttal": null,
        "customer_communication": null,
        "customer_email_address": charge["billing_details"]["email"],
        "customer_name": charge["billing_details"]["name"],
        "customer_purchase_ip": null,
        "customer_signature": null,
        "duplicate_charge_documentation": null,
        "duplicate_charge_explanation": null,
        "duplicate_charge_id": null,
        "enhanced_evidence": {},
        "product_description": null,
        "receipt": null,
        "refund_policy": null,
        "refund_policy_disclosure": null,
        "refund_refusal_explanation": null,
        "service_date": null,
        "service_documentation": null,
        "shipping_address": null,
        "shipping_carrier": null,
        "shipping_date": null,
        "shipping_documentation": null,
        "shipping_tracking_number": null,
        "uncategorized_file": null,
        "uncategorized_text": null,
    })
}

/// `POST /v1/disputes/{id}`. As in Stripe's test mode, the text `winning_evidence` wins and `losing_evidence` loses.
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?.clone();
    let mut changes =
        json!({ "metadata": merge_metadata(&current["metadata"], call.params.get("metadata")) });
    let sent = call.params.nested("evidence");
    let statement = sent.text("uncategorized_text").map(str::to_owned);
    if let Some(statement) = &statement {
        let mut evidence = current["evidence"].clone();
        evidence["uncategorized_text"] = statement.as_str().into();
        let mut details = current["evidence_details"].clone();
        details["has_evidence"] = true.into();
        details["submission_count"] = (number(&details, "submission_count") + 1).into();
        let is_inquiry = text(&current, "status").starts_with("warning_");
        changes["evidence"] = evidence;
        changes["evidence_details"] = details;
        changes["status"] = if is_inquiry {
            "warning_under_review"
        } else {
            "under_review"
        }
        .into();
    }
    let dispute = state.update(call, id, &changes, Some("charge.dispute.updated"));
    match statement.as_deref() {
        Some("winning_evidence") => close_with(state, call, id, Verdict::Won),
        Some("losing_evidence") => close_with(state, call, id, Verdict::Lost),
        _ => Ok(dispute),
    }
}

/// `POST /v1/disputes/{id}/close`, which gives up. Nothing was withdrawn for an inquiry, and nothing is then.
pub(crate) fn close(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let status = text(state.find(&call.scope, KIND, id)?, "status");
    let verdict = if status.starts_with("warning_") {
        Verdict::Won
    } else {
        Verdict::Lost
    };
    close_with(state, call, id, verdict)
}

/// `GET /v1/disputes/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/disputes`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/disputes", &["charge", "payment_intent"])
}
