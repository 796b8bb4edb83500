//! Payment intents: one payment with its attempts.

use crate::cards::{self, Behavior};
use crate::error::{ApiError, Result};
use crate::ids::{client_secret, new_id};
use crate::json::{maybe_text, merge_metadata, number, text};
use crate::lists;
use crate::objects::charges::{self, Attempt};
use crate::objects::{disputes, payment_methods};
use crate::records::Job;
use crate::state::{Call, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "payment_intent";
const MIN_AMOUNT: i64 = 50;
const MAX_AMOUNT: i64 = 99_999_999;

/// Refuses amounts that Stripe does not accept.
pub(crate) fn check_amount(amount: i64, currency: &str, param: &str) -> Result<()> {
    if currency == "usd" && amount < MIN_AMOUNT {
        let error = ApiError::param(param, "Amount must be at least $0.50 usd");
        return Err(error.with("code", "amount_too_small"));
    }
    if amount > MAX_AMOUNT {
        let error = ApiError::param(param, "Amount must be no more than $999,999.99");
        return Err(error.with("code", "amount_too_large"));
    }
    Ok(())
}

/// Creates a payment intent. `fields` replaces defaults, such as the customer and the metadata.
pub(crate) fn create_with(
    state: &mut State,
    call: &Call,
    amount: i64,
    currency: &str,
    fields: &Value,
) -> Value {
    let id = new_id("pi");
    let mut value = json!({
        "id": id,
        "object": KIND,
        "allowed_payment_method_types": null,
        "amount": amount,
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "amount_received": 0,
        "application": null,
        "application_fee_amount": null,
        "automatic_payment_methods": null,
        "canceled_at": null,
        "cancellation_reason": null,
        "capture_method": "automatic_async",
        "client_secret": client_secret(&id),
        "confirmation_method": "automatic",
        "created": state.now(),
        "currency": currency,
        "customer": null,
        "customer_account": null,
        "description": null,
        "excluded_payment_method_types": null,
        "last_payment_error": null,
        "latest_charge": null,
        "livemode": call.scope.livemode,
        "managed_payments": null,
        "metadata": {},
        "next_action": null,
        "on_behalf_of": null,
        "payment_method": null,
        "payment_method_configuration_details": null,
        "payment_method_options": {"card": {
            "installments": null,
            "mandate_options": null,
            "network": null,
            "request_three_d_secure": "automatic",
        }},
        "payment_method_types": ["card"],
        "payment_record": null,
        "processing": null,
        "receipt_email": null,
        "review": null,
        "setup_future_usage": null,
        "shipping": null,
        "source": null,
        "statement_descriptor": null,
        "statement_descriptor_suffix": null,
        "status": "requires_payment_method",
        "transfer_data": null,
        "transfer_group": null,
    });
    crate::json::merge(&mut value, fields);
    state.create(call, value, Value::Null, Some("payment_intent.created"))
}

/// Who is there while a payment is confirmed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The cardholder can authenticate.
    OnSession,
    /// The cardholder has just authenticated.
    Authenticated,
    /// The cardholder is away, as in renewals.
    OffSession,
}

/// Pays an intent. The status of the returned intent is `succeeded`, `processing`, `requires_action` or
/// `requires_capture`; a refused payment is an error.
pub(crate) fn pay(
    state: &mut State,
    call: &Call,
    id: &str,
    method: &str,
    presence: Presence,
) -> Result<Value> {
    let intent = state.update(
        call,
        id,
        &json!({ "payment_method": method, "next_action": null }),
        None,
    );
    let method = state.object(method);
    let behavior = payment_methods::behavior(state, text(&method, "id"));
    if text(&method, "type") != "card" {
        return Ok(start_debit(state, call, &intent, &method));
    }
    match (behavior, presence) {
        (Behavior::Decline(decline), _) => {
            Err(decline_intent(state, call, &intent, &method, decline.error()))
        }
        (Behavior::DeclineLater, _) => Err(decline_intent(
            state,
            call,
            &intent,
            &method,
            cards::generic_decline(),
        )),
        (Behavior::Authenticate, Presence::OffSession) => Err(decline_intent(
            state,
            call,
            &intent,
            &method,
            cards::authentication_required(),
        )),
        (Behavior::Authenticate, Presence::OnSession) => {
            let url = format!("{}/authenticate/{id}", state.base_url);
            let changes = json!({
                "status": "requires_action",
                "next_action": {"type": "redirect_to_url", "redirect_to_url": {"return_url": null, "url": url}},
            });
            Ok(state.update(call, id, &changes, Some("payment_intent.requires_action")))
        }
        _ => Ok(succeed(state, call, &intent, &method, behavior)),
    }
}

fn succeed(state: &mut State, call: &Call, intent: &Value, method: &Value, behavior: Behavior) -> Value {
    let id = text(intent, "id");
    let charge = charges::create(state, call, intent, method, &Attempt::Succeeded);
    let amount = number(intent, "amount");
    if text(intent, "capture_method") == "manual" {
        let changes = json!({
            "status": "requires_capture",
            "amount_capturable": amount,
            "latest_charge": charge["id"],
        });
        return state.update(
            call,
            id,
            &changes,
            Some("payment_intent.amount_capturable_updated"),
        );
    }
    let changes = json!({
        "status": "succeeded",
        "amount_received": amount,
        "latest_charge": charge["id"],
        "last_payment_error": null,
    });
    let intent = state.update(call, id, &changes, Some("payment_intent.succeeded"));
    match behavior {
        Behavior::Dispute => disputes::open(state, call, text(&charge, "id"), "fraudulent", false),
        Behavior::Inquire => disputes::open(state, call, text(&charge, "id"), "fraudulent", true),
        _ => Value::Null,
    };
    intent
}

fn start_debit(state: &mut State, call: &Call, intent: &Value, method: &Value) -> Value {
    let charge = charges::create(state, call, intent, method, &Attempt::Pending);
    let job = Job::FinishDebit {
        charge: text(&charge, "id").to_owned(),
    };
    let delay = state.tuning().debit_delay * 1_000;
    state.schedule_now(&call.scope, delay, job);
    let changes = json!({ "status": "processing", "latest_charge": charge["id"] });
    state.update(
        call,
        text(intent, "id"),
        &changes,
        Some("payment_intent.processing"),
    )
}

/// Records a refused payment and returns its error.
fn decline_intent(
    state: &mut State,
    call: &Call,
    intent: &Value,
    method: &Value,
    error: ApiError,
) -> ApiError {
    let charge = charges::create(state, call, intent, method, &Attempt::Failed(&error));
    let mut failure = Value::Object(error.fields.clone());
    failure["charge"] = charge["id"].clone();
    failure["payment_method"] = method.clone();
    let changes = json!({
        "status": "requires_payment_method",
        "payment_method": null,
        "latest_charge": charge["id"],
        "last_payment_error": failure,
    });
    let intent = state.update(
        call,
        text(intent, "id"),
        &changes,
        Some("payment_intent.payment_failed"),
    );
    error
        .with("charge", charge["id"].clone())
        .with("payment_method", method.clone())
        .with("payment_intent", intent)
}

/// Ends a bank debit and returns its payment intent.
pub(crate) fn finish_debit(state: &mut State, call: &Call, charge: &str, error: Option<&ApiError>) -> Value {
    let charge = charges::finish_debit(state, call, charge, error);
    let id = text(&charge, "payment_intent");
    match error {
        None => {
            let changes = json!({ "status": "succeeded", "amount_received": charge["amount"] });
            state.update(call, id, &changes, Some("payment_intent.succeeded"))
        }
        Some(error) => {
            let changes = json!({ "status": "requires_payment_method", "last_payment_error": error.fields });
            state.update(call, id, &changes, Some("payment_intent.payment_failed"))
        }
    }
}

/// `POST /v1/payment_intents`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let amount = params.required_integer("amount")?;
    let currency = params.required("currency")?.to_lowercase();
    check_amount(amount, &currency, "amount")?;
    let customer = params.text("customer");
    if let Some(customer) = customer {
        state.find(&call.scope, "customer", customer)?;
    }
    let method = match (
        params.text("payment_method"),
        params.maybe_nested("payment_method_data"),
    ) {
        (Some(method), _) => Some(payment_methods::resolve(state, call, method)?),
        (None, Some(data)) => Some(payment_methods::create_from(state, call, &data)?),
        (None, None) => None,
    };
    let types = params.texts("payment_method_types");
    let types = if types.is_empty() {
        vec!["card".to_owned()]
    } else {
        types
    };
    let fields = json!({
        "capture_method": params.choice("capture_method", &["automatic_async", "automatic", "manual"])?,
        "confirmation_method": params.choice("confirmation_method", &["automatic", "manual"])?,
        "customer": customer,
        "description": params.value("description"),
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "payment_method": method,
        "payment_method_types": types,
        "receipt_email": params.value("receipt_email"),
        "setup_future_usage": params.value("setup_future_usage"),
        "shipping": shipping(&params.value("shipping")),
        "status": if method.is_some() { "requires_confirmation" } else { "requires_payment_method" },
    });
    let intent = create_with(state, call, amount, &currency, &fields);
    if params.flag("confirm") == Some(true) {
        return confirm(state, call, text(&intent, "id"));
    }
    Ok(intent)
}

fn shipping(sent: &Value) -> Value {
    if sent.is_null() {
        return Value::Null;
    }
    let address = &sent["address"];
    json!({
        "address": {
            "city": address["city"], "country": address["country"], "line1": address["line1"],
            "line2": address["line2"], "postal_code": address["postal_code"], "state": address["state"],
        },
        "carrier": null,
        "name": sent["name"],
        "phone": sent["phone"],
        "tracking_number": null,
    })
}

/// `POST /v1/payment_intents/{id}/confirm`
pub(crate) fn confirm(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let intent = state.find(&call.scope, KIND, id)?.clone();
    if !matches!(
        text(&intent, "status"),
        "requires_payment_method" | "requires_confirmation" | "requires_action"
    ) {
        let message = format!("This PaymentIntent's status is {}.", text(&intent, "status"));
        return Err(ApiError::unexpected_state(KIND, message).with("payment_intent", intent));
    }
    let method = call
        .params
        .text("payment_method")
        .or(maybe_text(&intent, "payment_method"));
    let Some(method) = method.map(str::to_owned) else {
        let message = "You cannot confirm this PaymentIntent because it's missing a payment method.";
        return Err(ApiError::unexpected_state(KIND, message));
    };
    let method = payment_methods::resolve(state, call, &method)?;
    let is_away = call.params.flag("off_session") == Some(true);
    let presence = if is_away {
        Presence::OffSession
    } else {
        Presence::OnSession
    };
    pay(state, call, id, &method, presence)
}

/// `POST /v1/payment_intents/{id}/cancel`
pub(crate) fn cancel(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let intent = state.find(&call.scope, KIND, id)?.clone();
    if matches!(text(&intent, "status"), "succeeded" | "canceled" | "processing") {
        let message = format!(
            "You cannot cancel this PaymentIntent because it has a status of {}.",
            text(&intent, "status")
        );
        return Err(ApiError::unexpected_state(KIND, message).with("payment_intent", intent));
    }
    let changes = json!({
        "status": "canceled",
        "canceled_at": state.now(),
        "cancellation_reason": call.params.value("cancellation_reason"),
    });
    Ok(state.update(call, id, &changes, Some("payment_intent.canceled")))
}

/// `POST /v1/payment_intents/{id}/capture`
pub(crate) fn capture(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let intent = state.find(&call.scope, KIND, id)?.clone();
    if text(&intent, "status") != "requires_capture" {
        return Err(
            ApiError::unexpected_state(KIND, "This PaymentIntent could not be captured.")
                .with("payment_intent", intent),
        );
    }
    let amount = call
        .params
        .integer("amount_to_capture")?
        .unwrap_or(number(&intent, "amount"));
    charges::capture(state, call, text(&intent, "latest_charge"), amount);
    let changes = json!({ "status": "succeeded", "amount_capturable": 0, "amount_received": amount });
    Ok(state.update(call, id, &changes, Some("payment_intent.succeeded")))
}

/// `POST /v1/payment_intents/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let mut changes =
        json!({ "metadata": merge_metadata(&current["metadata"], call.params.get("metadata")) });
    if call.params.has("description") {
        changes["description"] = call.params.value("description");
    }
    Ok(state.update(call, id, &changes, None))
}

/// `GET /v1/payment_intents/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/payment_intents`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    lists::list(state, call, KIND, "/v1/payment_intents", &["customer"])
}
