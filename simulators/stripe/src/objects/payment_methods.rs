//! Payment methods: test cards by number, token or name, and bank accounts.

use crate::cards::{self, Behavior, TestCard};
use crate::error::{ApiError, Result};
use crate::hex::hex;
use crate::ids::new_id;
use crate::json::{maybe_text, merge_metadata, text};
use crate::lists;
use crate::params::Params;
use crate::state::{Call, State};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const KIND: &str = "payment_method";

/// Returns what happens when a payment method pays.
pub(crate) fn behavior(state: &State, id: &str) -> Behavior {
    let hidden = state.hidden(id);
    match maybe_text(&hidden, "card") {
        Some(number) => cards::by_number(number).map_or(Behavior::Succeed, |card| card.behavior),
        None => cards::bank_account(text(&hidden, "account")),
    }
}

/// Returns the ID of a payment method. Names such as `pm_card_visa` create one.
pub(crate) fn resolve(state: &mut State, call: &Call, id: &str) -> Result<String> {
    if let Some(card) = cards::by_name(id) {
        return Ok(create_card(
            state,
            call,
            card,
            &billing_details(&Params::default()),
        ));
    }
    if id.starts_with("pm_usBankAccount") {
        return Ok(create_bank_account(
            state,
            call,
            "us_bank_account",
            "000123456789",
            &billing_details(&Params::default()),
        ));
    }
    state.find(&call.scope, KIND, id)?;
    Ok(id.to_owned())
}

fn billing_details(params: &Params) -> Value {
    let address = params.maybe_nested("address").map(|address| {
        json!({
            "city": address.value("city"),
            "country": address.value("country"),
            "line1": address.value("line1"),
            "line2": address.value("line2"),
            "postal_code": address.value("postal_code"),
            "state": address.value("state"),
        })
    });
    let empty = json!({
        "city": null, "country": null, "line1": null, "line2": null, "postal_code": null, "state": null,
    });
    json!({
        "address": address.unwrap_or(empty),
        "email": params.value("email"),
        "name": params.value("name"),
        "phone": params.value("phone"),
        "tax_id": null,
    })
}

/// Returns a hash that is the same for the same card or account.
fn fingerprint(number: &str) -> String {
    let hash = Sha256::digest(number.as_bytes());
    hex(&hash[..8])
}

/// Creates a card and returns its ID.
fn create_card(state: &mut State, call: &Call, card: &TestCard, billing_details: &Value) -> String {
    let id = new_id("pm");
    let value = json!({
        "id": id,
        "object": KIND,
        "allow_redisplay": "unspecified",
        "billing_details": billing_details,
        "card": {
            "brand": card.brand,
            "checks": {"address_line1_check": null, "address_postal_code_check": null, "cvc_check": "pass"},
            "country": "US",
            "display_brand": card.brand,
            "exp_month": 12,
            "exp_year": 2034,
            "fingerprint": fingerprint(card.number),
            "funding": "credit",
            "generated_from": null,
            "last4": card.last4(),
            "networks": {"available": [card.brand], "preferred": null},
            "regulated_status": "unregulated",
            "three_d_secure_usage": {"supported": true},
            "wallet": null,
        },
        "created": state.now(),
        "customer": null,
        "customer_account": null,
        "livemode": call.scope.livemode,
        "metadata": {},
        "type": "card",
    });
    state.create(call, value, json!({ "card": card.number }), None);
    id
}

/// Creates a bank account and returns its ID.
fn create_bank_account(
    state: &mut State,
    call: &Call,
    kind: &str,
    number: &str,
    billing_details: &Value,
) -> String {
    let id = new_id("pm");
    let last4 = &number[number.len().saturating_sub(4)..];
    let details = if kind == "us_bank_account" {
        json!({
            "account_holder_type": "individual",
            "account_type": "checking",
            "bank_name": "STRIPE TEST BANK",
            "financial_connections_account": null,
            "fingerprint": fingerprint(number),
            "last4": last4,
            "networks": {"preferred": "ach", "supported": ["ach"]},
            "routing_number": "110000000",
            "status_details": null,
        })
    } else {
        json!({
            "bank_code": "19043",
            "branch_code": "",
            "country": "AT",
            "fingerprint": fingerprint(number),
            "generated_from": {"charge": null, "setup_attempt": null},
            "last4": last4,
        })
    };
    let value = json!({
        "id": id,
        "object": KIND,
        "allow_redisplay": "unspecified",
        "billing_details": billing_details,
        "created": state.now(),
        "customer": null,
        "customer_account": null,
        "livemode": call.scope.livemode,
        "metadata": {},
        "type": kind,
        kind: details,
    });
    state.create(call, value, json!({ "account": number }), None);
    id
}

/// Creates a payment method from the fields of a request or of a hosted page, and returns its ID.
pub(crate) fn create_from(state: &mut State, call: &Call, params: &Params) -> Result<String> {
    let billing = billing_details(&params.nested("billing_details"));
    let kind = params.required("type")?;
    match kind {
        "card" => {
            let card = params.nested("card");
            let found = match (card.text("token"), card.text("number")) {
                (Some(token), _) => cards::by_name(token).ok_or_else(|| ApiError::no_such("token", token))?,
                (_, Some(number)) => cards::by_number(number).ok_or_else(|| {
                    let message = "Your card number is incorrect.";
                    ApiError::card("incorrect_number", None, message).with("param", "number")
                })?,
                _ => return Err(ApiError::missing("card[number]")),
            };
            Ok(create_card(state, call, found, &billing))
        }
        "us_bank_account" => {
            let number = params.nested("us_bank_account");
            let number = number.required("account_number")?;
            Ok(create_bank_account(state, call, kind, number, &billing))
        }
        "sepa_debit" => {
            let account = params.nested("sepa_debit");
            Ok(create_bank_account(
                state,
                call,
                kind,
                account.required("iban")?,
                &billing,
            ))
        }
        _ => Err(params.error(
            "type",
            format!("The simulator has no payment method of the type {kind}."),
        )),
    }
}

/// `POST /v1/payment_methods`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = call.params.clone();
    let id = create_from(state, call, &params)?;
    let metadata = merge_metadata(&json!({}), params.get("metadata"));
    Ok(state.update(call, &id, &json!({ "metadata": metadata }), None))
}

/// `POST /v1/payment_methods/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    Ok(state.update(
        call,
        id,
        &json!({ "metadata": metadata }),
        Some("payment_method.updated"),
    ))
}

/// Attaches a payment method to a customer.
pub(crate) fn attach_to(state: &mut State, call: &Call, id: &str, customer: &str) -> Value {
    state.update(
        call,
        id,
        &json!({ "customer": customer }),
        Some("payment_method.attached"),
    )
}

/// `POST /v1/payment_methods/{id}/attach`
pub(crate) fn attach(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let customer = call.params.required("customer")?;
    state.find(&call.scope, "customer", customer)?;
    let id = resolve(state, call, id)?;
    if let Behavior::Decline(decline) = behavior(state, &id) {
        return Err(decline.error());
    }
    Ok(attach_to(state, call, &id, customer))
}

/// `POST /v1/payment_methods/{id}/detach`
pub(crate) fn detach(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id)?;
    Ok(state.update(
        call,
        id,
        &json!({ "customer": null }),
        Some("payment_method.detached"),
    ))
}

/// `GET /v1/payment_methods/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/payment_methods` and `GET /v1/customers/{id}/payment_methods`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/payment_methods", &["customer", "type"])
}
