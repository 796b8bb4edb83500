//! The account of the key, and connected accounts.

use crate::error::{ApiError, Result};
use crate::state::{Call, State};
use serde_json::{Value, json};

const PLATFORM: &str = "acct_simulator";

/// Returns an account. Every ID of the form `acct_…` is a connected account.
fn show(state: &State, id: &str) -> Value {
    json!({
        "id": id,
        "object": "account",
        "business_profile": {
            "mcc": "8398",
            "minority_owned_business_designation": null,
            "name": "Simulator",
            "product_description": null,
            "specified_commercial_transactions_act_url": null,
            "support_address": null,
            "support_email": null,
            "support_phone": null,
            "support_url": null,
            "url": null,
        },
        "business_type": "non_profit",
        "capabilities": {"card_payments": "active", "transfers": "active", "us_bank_account_ach_payments": "active"},
        "charges_enabled": true,
        "country": "US",
        "created": state.now(),
        "default_currency": "usd",
        "details_submitted": true,
        "email": "account@example.org",
        "metadata": {},
        "payouts_enabled": true,
        "type": "standard",
    })
}

/// `GET /v1/account`
pub(crate) fn own(state: &State, call: &Call) -> Value {
    show(state, call.scope.account.as_deref().unwrap_or(PLATFORM))
}

/// `GET /v1/accounts/{id}`
pub(crate) fn retrieve(state: &State, id: &str) -> Result<Value> {
    if !id.starts_with("acct_") {
        return Err(ApiError::no_such("account", id));
    }
    Ok(show(state, id))
}
