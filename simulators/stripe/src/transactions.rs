//! Balance transactions: every change of the balance. The balance is their sum, and nothing else is stored about it.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::lists::{ListParams, page};
use crate::records::{BalanceTransaction, Scope};
use crate::state::{Call, State};
use serde_json::{Value, json};

/// Card payments are available after two days.
const AVAILABLE_AFTER: i64 = 2 * 86_400;
/// What the bank takes for a dispute.
pub(crate) const DISPUTE_FEE: i64 = 1_500;

/// Returns the fee of a payment: 2.9% and 30 cents for cards, 0.8% and at most 5 dollars for bank debits.
pub(crate) fn payment_fee(amount: i64, method: &str) -> i64 {
    if method == "card" {
        (amount * 29 + 500) / 1_000 + 30
    } else {
        ((amount * 8 + 500) / 1_000).min(500)
    }
}

/// A change of the balance that is about to be entered.
pub(crate) struct Entry<'a> {
    pub(crate) kind: &'a str,
    pub(crate) category: &'a str,
    pub(crate) amount: i64,
    pub(crate) fee: i64,
    pub(crate) currency: &'a str,
    pub(crate) source: &'a str,
    pub(crate) description: Option<&'a str>,
    pub(crate) is_available: bool,
}

impl<'a> Entry<'a> {
    pub(crate) fn new(
        kind: &'a str,
        category: &'a str,
        amount: i64,
        currency: &'a str,
        source: &'a str,
    ) -> Entry<'a> {
        Entry {
            kind,
            category,
            amount,
            fee: 0,
            currency,
            source,
            description: None,
            is_available: true,
        }
    }
}

/// Enters a balance transaction and returns its ID.
pub(crate) fn enter(state: &mut State, scope: &Scope, entry: &Entry<'_>) -> String {
    let now = state.now();
    let id = new_id("txn");
    state.store.put_transaction(BalanceTransaction {
        id: id.clone(),
        scope: scope.clone(),
        kind: entry.kind.to_owned(),
        category: entry.category.to_owned(),
        amount: entry.amount,
        fee: entry.fee,
        currency: entry.currency.to_owned(),
        description: entry.description.map(str::to_owned),
        source: entry.source.to_owned(),
        created: now,
        available_on: if entry.is_available {
            now
        } else {
            now + AVAILABLE_AFTER
        },
        payout: None,
    });
    id
}

/// Returns the available and the pending sum in cents.
pub(crate) fn sums(state: &State, scope: &Scope, currency: &str) -> (i64, i64) {
    let now = state.now();
    let (mut available, mut pending) = (0, 0);
    let transactions = state.store.transactions(None);
    for transaction in
        transactions.filter(|transaction| transaction.scope == *scope && transaction.currency == currency)
    {
        if transaction.available_on <= now {
            available += transaction.net();
        } else {
            pending += transaction.net();
        }
    }
    (available, pending)
}

/// `GET /v1/balance`
pub(crate) fn balance(state: &State, call: &Call) -> Value {
    let (available, pending) = sums(state, &call.scope, "usd");
    json!({
        "object": "balance",
        "available": [{"amount": available, "currency": "usd", "source_types": {"card": available}}],
        "livemode": call.scope.livemode,
        "pending": [{"amount": pending, "currency": "usd", "source_types": {"card": pending}}],
        "refund_and_dispute_prefunding": {
            "available": [{"amount": 0, "currency": "usd"}],
            "pending": [{"amount": 0, "currency": "usd"}],
        },
    })
}

/// `GET /v1/balance_transactions/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    let found = state
        .store
        .transaction(id)
        .filter(|transaction| transaction.scope == call.scope);
    found
        .map(|transaction| transaction.show(state.now()))
        .ok_or_else(|| ApiError::no_such("balance_transaction", id))
}

/// `GET /v1/balance_transactions`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    let params = ListParams::read(&call.params, &["currency", "payout", "source", "type"])?;
    if let Some(after) = &params.starting_after {
        retrieve(state, call, after)?;
    }
    let filter = |field: &str| call.params.text(field).map(str::to_owned);
    let (kind, payout, source, currency) = (
        filter("type"),
        filter("payout"),
        filter("source"),
        filter("currency"),
    );
    let is_wanted = |transaction: &&BalanceTransaction| {
        transaction.scope == call.scope
            && params.created.contains(transaction.created)
            && kind.as_ref().is_none_or(|kind| *kind == transaction.kind)
            && payout
                .as_ref()
                .is_none_or(|payout| transaction.payout.as_ref() == Some(payout))
            && source.as_ref().is_none_or(|source| *source == transaction.source)
            && currency
                .as_ref()
                .is_none_or(|currency| *currency == transaction.currency)
    };
    let now = state.now();
    let before = params.ending_before.as_deref();
    let found = state
        .store
        .transactions(params.starting_after.as_deref())
        .take_while(|transaction| before != Some(transaction.id.as_str()))
        .filter(is_wanted)
        .map(|transaction| transaction.show(now));
    Ok(page(found, &params, "/v1/balance_transactions"))
}

#[cfg(test)]
mod tests {
    use super::payment_fee;

    #[test]
    fn fees_are_those_of_the_price_list() {
        assert_eq!(payment_fee(2_500, "card"), 103);
        assert_eq!(payment_fee(50, "card"), 31);
        assert_eq!(payment_fee(2_500, "us_bank_account"), 20);
        assert_eq!(payment_fee(10_000_000, "us_bank_account"), 500);
    }
}
