//! Payouts to the bank account of the operator: manual ones, and automatic ones that name their transactions.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{flag, merge_metadata, number, text};
use crate::lists;
use crate::records::{BalanceTransaction, Job};
use crate::state::{Call, State};
use crate::transactions::{self, Entry};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "payout";

/// Creates a payout and takes its amount from the balance.
fn create_with(state: &mut State, call: &Call, amount: i64, is_automatic: bool) -> Value {
    let id = new_id("po");
    let kind = if amount < 0 {
        "STRIPE PAYOUT REVERSAL"
    } else {
        "STRIPE PAYOUT"
    };
    let entry = Entry {
        description: Some(kind),
        ..Entry::new("payout", "payout", -amount, "usd", &id)
    };
    let transaction = transactions::enter(state, &call.scope, &entry);
    let delay = state.tuning().payout_delay;
    let value = json!({
        "id": id,
        "object": KIND,
        "amount": amount,
        "application_fee": null,
        "application_fee_amount": null,
        "arrival_date": state.now() + delay,
        "automatic": is_automatic,
        "balance_transaction": transaction,
        "created": state.now(),
        "currency": "usd",
        "description": call.params.value("description"),
        "destination": "ba_simulator",
        "failure_balance_transaction": null,
        "failure_code": null,
        "failure_message": null,
        "livemode": call.scope.livemode,
        "metadata": merge_metadata(&json!({}), call.params.get("metadata")),
        "method": "standard",
        "original_payout": null,
        "payout_method": null,
        "reconciliation_status": if is_automatic { "in_progress" } else { "not_applicable" },
        "reversed_by": null,
        "source_type": "card",
        "statement_descriptor": null,
        "status": "pending",
        "trace_id": null,
        "type": "bank_account",
    });
    let value = state.create(call, value, Value::Null, Some("payout.created"));
    state.schedule_now(&call.scope, delay * 1_000, Job::PayPayout { payout: id });
    value
}

/// `POST /v1/payouts`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let amount = call.params.required_integer("amount")?;
    call.params.required("currency")?;
    if amount < 1 {
        return Err(call
            .params
            .error("amount", "This value must be greater than or equal to 1."));
    }
    let (available, _) = transactions::sums(state, &call.scope, "usd");
    if amount > available {
        let message = "You have insufficient funds in your Stripe account for this transfer.";
        return Err(ApiError::invalid(message).with("code", "balance_insufficient"));
    }
    Ok(create_with(state, call, amount, false))
}

/// Pays out everything that is available and in no payout yet, as Stripe does every day. Returns `None` if that is nothing.
pub(crate) fn create_automatic(state: &mut State, call: &Call) -> Option<Value> {
    let now = state.now();
    let is_open = |transaction: &&BalanceTransaction| {
        transaction.scope == call.scope
            && transaction.available_on <= now
            && transaction.payout.is_none()
            && !(transaction.kind.starts_with("payout")
                && flag(&state.object(&transaction.source), "automatic"))
    };
    let included: Vec<BalanceTransaction> = state.store.transactions(None).filter(is_open).cloned().collect();
    let amount: i64 = included.iter().map(BalanceTransaction::net).sum();
    if amount <= 0 {
        return None;
    }
    let payout = create_with(state, call, amount, true);
    let id = text(&payout, "id").to_owned();
    let own = state
        .store
        .transaction(text(&payout, "balance_transaction"))
        .cloned();
    for mut transaction in included.into_iter().chain(own) {
        transaction.payout = Some(id.clone());
        state.store.put_transaction(transaction);
    }
    let changes = json!({ "reconciliation_status": "completed" });
    Some(state.update(call, &id, &changes, Some("payout.reconciliation_completed")))
}

/// Makes a payout arrive at the bank.
pub(crate) fn pay(state: &mut State, call: &Call, id: &str) -> Value {
    let payout = state.object(id);
    if !matches!(text(&payout, "status"), "pending" | "in_transit") {
        return payout;
    }
    state.unschedule(|job| matches!(job, Job::PayPayout { payout } if payout == id));
    state.update(call, id, &json!({ "status": "paid" }), Some("payout.paid"))
}

/// Makes a payout fail, which can also happen after it was paid. The amount comes back to the balance, and the next
/// automatic payout includes the transactions again.
pub(crate) fn fail(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let payout = state.find(&call.scope, KIND, id)?.clone();
    if matches!(text(&payout, "status"), "failed" | "canceled") {
        return Err(ApiError::invalid(format!("The payout {id} has already failed.")));
    }
    state.unschedule(|job| matches!(job, Job::PayPayout { payout } if payout == id));
    let entry = Entry {
        description: Some("STRIPE PAYOUT FAILURE"),
        ..Entry::new(
            "payout_failure",
            "payout_reversal",
            number(&payout, "amount"),
            "usd",
            id,
        )
    };
    let transaction = transactions::enter(state, &call.scope, &entry);
    if flag(&payout, "automatic") {
        let is_included = |transaction: &&BalanceTransaction| transaction.payout.as_deref() == Some(id);
        let included: Vec<BalanceTransaction> = state
            .store
            .transactions(None)
            .filter(is_included)
            .cloned()
            .collect();
        for mut transaction in included
            .into_iter()
            .filter(|transaction| transaction.kind != "payout")
        {
            transaction.payout = None;
            state.store.put_transaction(transaction);
        }
    }
    let changes = json!({
        "status": "failed",
        "failure_balance_transaction": transaction,
        "failure_code": "account_closed",
        "failure_message": "The bank account has been closed.",
    });
    Ok(state.update(call, id, &changes, Some("payout.failed")))
}

/// `POST /v1/payouts/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    Ok(state.update(call, id, &json!({ "metadata": metadata }), Some("payout.updated")))
}

/// `GET /v1/payouts/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/payouts`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/payouts", &["status"])
}
