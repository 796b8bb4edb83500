//! Checkout sessions: one page where a donor pays once or starts a subscription.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{embedded_list, maybe_text, merge_metadata, number, text};
use crate::lists;
use crate::objects::payment_intents::{self, Presence};
use crate::objects::{catalog, customers, invoices, payment_methods, renewals, subscriptions};
use crate::params::Params;
use crate::records::Job;
use crate::state::{Call, DAY, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "checkout.session";
const MINUTE: i64 = 60;
const HALF_HOUR: i64 = 30 * MINUTE;
const MAX_REFERENCE_LENGTH: usize = 200;
const METADATA_LIMIT: usize = 50;
#[rustfmt::skip]
const PARAMS: &[&str] = &[
    "adaptive_pricing", "after_expiration", "allow_promotion_codes", "allowed_payment_method_types",
    "automatic_tax", "billing_address_collection", "branding_settings", "cancel_url", "client_reference_id",
    "consent_collection", "currency", "custom_fields", "custom_text", "customer", "customer_account",
    "customer_creation", "customer_email", "customer_update", "discounts", "excluded_payment_method_types",
    "expand", "expires_at", "integration_identifier", "invoice_creation", "line_items", "locale",
    "managed_payments", "metadata", "mode", "name_collection", "optional_items", "origin_context",
    "payment_intent_data", "payment_method_collection", "payment_method_configuration", "payment_method_data",
    "payment_method_options", "payment_method_types", "permissions", "phone_number_collection",
    "redirect_on_completion", "return_url", "saved_payment_method_options", "setup_intent_data",
    "shipping_address_collection", "shipping_options", "submit_type", "subscription_data", "success_url",
    "tax_id_collection", "ui_mode", "wallet_options",
];
#[rustfmt::skip]
const INTENT_PARAMS: &[&str] = &[
    "application_fee_amount", "capture_method", "description", "metadata", "on_behalf_of", "receipt_email",
    "setup_future_usage", "shipping", "statement_descriptor", "statement_descriptor_suffix", "transfer_data",
    "transfer_group",
];
#[rustfmt::skip]
const SUBSCRIPTION_PARAMS: &[&str] = &[
    "application_fee_percent", "billing_cycle_anchor", "billing_cycle_anchor_config", "billing_mode",
    "default_tax_rates", "description", "invoice_settings", "metadata", "on_behalf_of",
    "pending_invoice_item_interval", "proration_behavior", "transfer_data", "trial_end", "trial_period_days",
    "trial_settings",
];

/// The parts of a request that are checked before anything is created.
struct Checked {
    mode: &'static str,
    ui_mode: &'static str,
    submit_type: Option<&'static str>,
    customer_creation: Option<&'static str>,
    expires_at: i64,
}

fn check(state: &State, call: &Call) -> Result<Checked> {
    let params = &call.params;
    params.allow(PARAMS)?;
    if call.is_pinned && params.has("payment_method_types") {
        return Err(ApiError::unknown("payment_method_types"));
    }
    params.required("mode")?;
    let mode = params.choice("mode", &["payment", "subscription"])?;
    let ui_mode = params.choice("ui_mode", &["hosted_page", "embedded_page", "elements", "form"])?;
    if ui_mode == "hosted_page" {
        params.required("success_url")?;
    }
    let intent_data = params.nested("payment_intent_data");
    intent_data.allow(INTENT_PARAMS)?;
    let subscription_data = params.nested("subscription_data");
    subscription_data.allow(SUBSCRIPTION_PARAMS)?;
    for (field, other) in [
        ("payment_intent_data", "subscription"),
        ("subscription_data", "payment"),
    ] {
        if mode == other && params.has(field) {
            return Err(params.error(field, format!("You can not pass `{field}` in `{mode}` mode.")));
        }
    }
    let reference = params.text("client_reference_id");
    if reference.is_some_and(|reference| reference.len() > MAX_REFERENCE_LENGTH) {
        let message = "Invalid string: must be at most 200 characters";
        return Err(params.error("client_reference_id", message));
    }
    for data in [params, &intent_data, &subscription_data] {
        check_metadata(data)?;
    }
    let now = state.now();
    let expires_at = params.integer("expires_at")?.unwrap_or(now + DAY);
    // The request was on its way for a moment.
    if expires_at < now + HALF_HOUR - MINUTE || expires_at > now + DAY + MINUTE {
        let message = "The `expires_at` timestamp must be at least 30 minutes and less than 24 hours from Checkout \
                       Session creation.";
        return Err(params.error("expires_at", message));
    }
    if let Some(customer) = params.text("customer") {
        state.find(&call.scope, customers::KIND, customer)?;
        if params.has("customer_email") {
            let message = "You may only specify one of these parameters: customer, customer_email.";
            return Err(ApiError::invalid(message));
        }
    }
    check_prices(params)?;
    let submit_types = &["auto", "book", "donate", "pay", "subscribe"];
    let submit_type = params
        .has("submit_type")
        .then(|| params.choice("submit_type", submit_types));
    let is_payment = mode == "payment";
    let customer_creation =
        is_payment.then(|| params.choice("customer_creation", &["if_required", "always"]));
    Ok(Checked {
        mode,
        ui_mode,
        submit_type: submit_type.transpose()?,
        customer_creation: customer_creation.transpose()?,
        expires_at,
    })
}

/// Refuses amounts before prices are created for them.
fn check_prices(params: &Params) -> Result<()> {
    let mut total = 0;
    for item in params.elements("line_items") {
        let Some(price) = item.maybe_nested("price_data") else {
            return Ok(());
        };
        total += price.required_integer("unit_amount")? * item.integer("quantity")?.unwrap_or(1);
    }
    if total > 0 {
        payment_intents::check_amount(total, "usd", "line_items")?;
    }
    Ok(())
}

/// `POST /v1/checkout/sessions`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    let params = &call.params;
    let checked = check(state, call)?;
    let items = line_items(state, call, checked.mode)?;
    let total: i64 = items.iter().map(|item| number(item, "amount_total")).sum();
    payment_intents::check_amount(total, text(&items[0], "currency"), "line_items")?;
    let id = new_id(if call.scope.livemode { "cs_live" } else { "cs_test" });
    let value = show(state, call, &id, &checked, &items);
    let hidden = json!({
        "line_items": items,
        "payment_intent_data": params.value("payment_intent_data"),
        "subscription_data": params.value("subscription_data"),
    });
    let delay = checked.expires_at * 1_000 - state.now_millis();
    state.schedule_now(&call.scope, delay, Job::ExpireSession { session: id });
    Ok(state.create(call, value, hidden, None))
}

/// Returns a new session as the API shows it.
fn show(state: &State, call: &Call, id: &str, checked: &Checked, items: &[Value]) -> Value {
    let params = &call.params;
    let total: i64 = items.iter().map(|item| number(item, "amount_total")).sum();
    let mut types = params.texts("payment_method_types");
    types.extend(params.texts("allowed_payment_method_types"));
    if types.is_empty() {
        types = vec!["card".to_owned(), "us_bank_account".to_owned()];
    }
    let email = params.value("customer_email");
    let details = if email.is_null() {
        Value::Null
    } else {
        customer_details(&email, &Value::Null)
    };
    let is_subscription = checked.mode == "subscription";
    json!({
        "id": id,
        "object": KIND,
        "adaptive_pricing": null,
        "after_expiration": null,
        "allow_promotion_codes": null,
        "allowed_payment_method_types": null,
        "amount_subtotal": total,
        "amount_total": total,
        "automatic_tax": {"enabled": false, "liability": null, "provider": null, "status": null},
        "billing_address_collection": params.value("billing_address_collection"),
        "cancel_url": params.value("cancel_url"),
        "client_reference_id": params.value("client_reference_id"),
        "client_secret": null,
        "collected_information": null,
        "consent": null,
        "consent_collection": null,
        "created": state.now(),
        "currency": items[0]["currency"],
        "currency_conversion": null,
        "custom_fields": [],
        "custom_text": {
            "after_submit": null, "shipping_address": null, "submit": null, "terms_of_service_acceptance": null,
        },
        "customer": params.value("customer"),
        "customer_account": null,
        "customer_creation": checked.customer_creation,
        "customer_details": details,
        "customer_email": email,
        "discounts": [],
        "expires_at": checked.expires_at,
        "integration_identifier": null,
        "invoice": null,
        "invoice_creation": null,
        "livemode": call.scope.livemode,
        "locale": params.value("locale"),
        "managed_payments": null,
        "metadata": merge_metadata(&json!({}), params.get("metadata")),
        "mode": checked.mode,
        "origin_context": null,
        "payment_intent": null,
        "payment_link": null,
        "payment_method_collection": if is_subscription { "always" } else { "if_required" },
        "payment_method_configuration_details": null,
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "payment_method_types": types,
        "payment_status": "unpaid",
        "permissions": null,
        "phone_number_collection": {"enabled": false},
        "recovered_from": null,
        "saved_payment_method_options": null,
        "setup_intent": null,
        "shipping_address_collection": null,
        "shipping_cost": null,
        "shipping_options": [],
        "status": "open",
        "submit_type": checked.submit_type,
        "subscription": null,
        "success_url": params.value("success_url"),
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
        "ui_mode": checked.ui_mode,
        "url": format!("{}/c/pay/{id}", state.base_url),
        "wallet_options": null,
    })
}

fn check_metadata(params: &Params) -> Result<()> {
    let metadata = params.get("metadata").and_then(Value::as_object);
    for (count, (key, value)) in metadata.into_iter().flatten().enumerate() {
        if count >= METADATA_LIMIT || key.len() > 40 || value.as_str().is_none_or(|value| value.len() > 500) {
            let message = "Metadata can have up to 50 keys of up to 40 characters, with values of up to 500 characters.";
            return Err(params.error("metadata", message));
        }
    }
    Ok(())
}

fn line_items(state: &mut State, call: &Call, mode: &str) -> Result<Vec<Value>> {
    let elements = call.params.elements("line_items");
    if elements.is_empty() {
        return Err(ApiError::missing("line_items"));
    }
    let mut items: Vec<Value> = Vec::new();
    for element in &elements {
        let price = catalog::price_of_item(state, call, element, true)?;
        let is_recurring = !price["recurring"].is_null();
        if mode == "payment" && is_recurring {
            let message = "You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.";
            return Err(element.error("price", message));
        }
        if mode == "subscription" && !is_recurring && items.is_empty() && elements.len() == 1 {
            let message =
                "You must provide at least one recurring price in `subscription` mode when using prices.";
            return Err(element.error("price", message));
        }
        let quantity = element.integer("quantity")?.unwrap_or(1);
        let amount = number(&price, "unit_amount") * quantity;
        let name = text(&state.object(text(&price, "product")), "name").to_owned();
        items.push(json!({
            "id": new_id("li"),
            "object": "item",
            "adjustable_quantity": null,
            "amount_discount": 0,
            "amount_subtotal": amount,
            "amount_tax": 0,
            "amount_total": amount,
            "currency": price["currency"],
            "description": name,
            "metadata": {},
            "price": price,
            "quantity": quantity,
        }));
    }
    Ok(items)
}

fn customer_details(email: &Value, name: &Value) -> Value {
    json!({
        "address": {
            "city": null, "country": "US", "line1": null, "line2": null, "postal_code": "12345", "state": null,
        },
        "business_name": null,
        "email": email,
        "individual_name": null,
        "name": name,
        "phone": null,
        "tax_exempt": "none",
        "tax_ids": [],
    })
}

/// Returns the line items of a session.
pub(crate) fn items_of(state: &State, id: &str) -> Vec<Value> {
    state.hidden(id)["line_items"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

/// `GET /v1/checkout/sessions/{id}/line_items`
pub(crate) fn list_items(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id)?;
    Ok(embedded_list(
        &format!("/v1/checkout/sessions/{id}/line_items"),
        &items_of(state, id),
    ))
}

/// Pays a session with a payment method. A refused payment is an error, and the session stays open.
pub(crate) fn pay(
    state: &mut State,
    call: &Call,
    id: &str,
    method: &str,
    presence: Presence,
) -> Result<Value> {
    let session = state.find(&call.scope, KIND, id)?.clone();
    if text(&session, "status") != "open" {
        return Err(ApiError::invalid("This Checkout Session is no longer open."));
    }
    let billing = state.object(method)["billing_details"].clone();
    let customer = prepare_customer(state, call, &session, &billing);
    let intent = prepare_intent(state, call, &session, customer.as_deref());
    let intent = payment_intents::pay(state, call, &intent, method, presence)?;
    let status = text(&intent, "status");
    if status == "requires_action" {
        return Ok(state.object(id));
    }
    if let Some(customer) = &customer {
        payment_methods::attach_to(state, call, method, customer);
    }
    let email = email_of(state, &session, &billing);
    let is_paid = matches!(status, "succeeded" | "requires_capture");
    let mut changes = json!({
        "status": "complete",
        "payment_status": if is_paid { "paid" } else { "unpaid" },
        "customer": customer,
        "customer_details": customer_details(&email, &billing["name"]),
        "url": null,
    });
    if text(&session, "mode") == "subscription" {
        let (subscription, invoice) = subscribe(
            state,
            call,
            &session,
            customer.as_deref().unwrap_or_default(),
            method,
            is_paid,
        );
        changes["subscription"] = subscription.into();
        changes["invoice"] = invoice.into();
        changes["payment_intent"] = Value::Null;
    }
    state.unschedule(|job| matches!(job, Job::ExpireSession { session } if session == id));
    Ok(state.update(call, id, &changes, Some("checkout.session.completed")))
}

/// Returns the email address of a donor: that of the session, of its customer, or what was entered on the page.
fn email_of(state: &State, session: &Value, billing: &Value) -> Value {
    let customer = state.object(text(session, "customer"));
    let known = maybe_text(session, "customer_email").or(maybe_text(&customer, "email"));
    known.map_or_else(|| billing["email"].clone(), Value::from)
}

/// Returns the customer of a session. Subscriptions need one, single payments only if the session says so.
fn prepare_customer(state: &mut State, call: &Call, session: &Value, billing: &Value) -> Option<String> {
    let id = text(session, "id");
    if let Some(customer) = maybe_text(session, "customer") {
        return Some(customer.to_owned());
    }
    if let Some(customer) = maybe_text(&state.hidden(id), "customer") {
        return Some(customer.to_owned());
    }
    if text(session, "mode") == "payment" && text(session, "customer_creation") != "always" {
        return None;
    }
    let email = email_of(state, session, billing);
    let customer = customers::create_with(state, call, &json!({ "email": email, "name": billing["name"] }));
    let customer = text(&customer, "id").to_owned();
    state.hide(id, &json!({ "customer": customer }));
    Some(customer)
}

/// Returns the payment intent of a session. All attempts to pay a session share one.
fn prepare_intent(state: &mut State, call: &Call, session: &Value, customer: Option<&str>) -> String {
    let id = text(session, "id");
    let hidden = state.hidden(id);
    if let Some(intent) = maybe_text(&hidden, "payment_intent") {
        return intent.to_owned();
    }
    let is_subscription = text(session, "mode") == "subscription";
    let data = Params::from_json(hidden["payment_intent_data"].clone());
    let description = if is_subscription {
        "Subscription creation".into()
    } else {
        data.value("description")
    };
    let fields = json!({
        "capture_method": data.text("capture_method").unwrap_or("automatic_async"),
        "customer": customer,
        "description": description,
        "metadata": merge_metadata(&json!({}), data.get("metadata")),
        "payment_method_types": session["payment_method_types"],
        "receipt_email": data.value("receipt_email"),
        "setup_future_usage": if is_subscription { "off_session".into() } else { data.value("setup_future_usage") },
    });
    let amount = number(session, "amount_total");
    let intent = payment_intents::create_with(state, call, amount, text(session, "currency"), &fields);
    let intent = text(&intent, "id").to_owned();
    state.hide(&intent, &json!({ "session": id }));
    state.hide(id, &json!({ "payment_intent": intent }));
    if !is_subscription {
        state.update(call, id, &json!({ "payment_intent": intent }), None);
    }
    intent
}

/// Creates the subscription of a session whose first payment was made, and returns its ID and that of its invoice.
fn subscribe(
    state: &mut State,
    call: &Call,
    session: &Value,
    customer: &str,
    method: &str,
    is_paid: bool,
) -> (String, String) {
    let id = text(session, "id");
    let hidden = state.hidden(id);
    let data = Params::from_json(hidden["subscription_data"].clone());
    let items = items_of(state, id)
        .into_iter()
        .filter(|item| !item["price"]["recurring"].is_null());
    let plan = subscriptions::Plan {
        customer,
        items: items
            .map(|item| (item["price"].clone(), number(&item, "quantity")))
            .collect(),
        metadata: merge_metadata(&json!({}), data.get("metadata")),
        description: data.value("description"),
        method: Some(method.to_owned()),
        trial_end: None,
    };
    let subscription = subscriptions::create_with(state, call, &plan);
    let subscription = text(&subscription, "id").to_owned();
    // A bank debit that is not confirmed yet starts the subscription, too.
    let active = state.update(call, &subscription, &json!({ "status": "active" }), None);
    state.emit(call, "customer.subscription.created", &active, None);
    let invoice = renewals::create_invoice(state, call, &subscription, "subscription_create");
    let invoice = text(&invoice, "id").to_owned();
    invoices::finalize(state, call, &invoice);
    let intent = text(&hidden, "payment_intent");
    let intent = if intent.is_empty() {
        text(&state.hidden(id), "payment_intent").to_owned()
    } else {
        intent.to_owned()
    };
    invoices::link_payment(state, call, &invoice, &intent, number(session, "amount_total"));
    if is_paid {
        invoices::mark_paid(state, call, &invoice, Some(&intent));
    } else {
        state.update(
            call,
            &invoice,
            &json!({ "attempted": true, "attempt_count": 1 }),
            None,
        );
    }
    (subscription, invoice)
}

/// Tells a session how its bank debit ended.
pub(crate) fn finish_debit(state: &mut State, call: &Call, id: &str, is_paid: bool) {
    if is_paid {
        let changes = json!({ "payment_status": "paid" });
        state.update(
            call,
            id,
            &changes,
            Some("checkout.session.async_payment_succeeded"),
        );
    } else {
        let session = state.object(id);
        state.emit(call, "checkout.session.async_payment_failed", &session, None);
    }
}

/// Ends a session that was not paid.
pub(crate) fn end(state: &mut State, call: &Call, id: &str) -> Value {
    state.unschedule(|job| matches!(job, Job::ExpireSession { session } if session == id));
    let session = state.object(id);
    if text(&session, "status") != "open" {
        return session;
    }
    let changes = json!({ "status": "expired", "url": null });
    state.update(call, id, &changes, Some("checkout.session.expired"))
}

/// `POST /v1/checkout/sessions/{id}/expire`
pub(crate) fn expire(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let session = state.find(&call.scope, KIND, id)?;
    let status = text(session, "status");
    if status != "open" {
        let message = format!(
            "Only Checkout Sessions with a status in [\"open\"] can be expired. This Checkout Session has a status of {status}."
        );
        return Err(ApiError::invalid(message));
    }
    Ok(end(state, call, id))
}

/// `POST /v1/checkout/sessions/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let current = state.find(&call.scope, KIND, id)?;
    let metadata = merge_metadata(&current["metadata"], call.params.get("metadata"));
    Ok(state.update(call, id, &json!({ "metadata": metadata }), None))
}

/// `GET /v1/checkout/sessions/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/checkout/sessions`
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    let filters = &["customer", "payment_intent", "subscription", "status"];
    lists::list(state, call, KIND, "/v1/checkout/sessions", filters)
}

/// `GET /v1/payment_pages/{id}`, which the official command-line client reads before it pays.
pub(crate) fn payment_page(state: &State, call: &Call, id: &str) -> Result<Value> {
    let session = state.find(&call.scope, KIND, id)?;
    Ok(json!({
        "id": id.replace("cs_", "ppage_"),
        "object": "checkout.session",
        "session_id": id,
        "status": session["status"],
        "mode": session["mode"],
        "currency": session["currency"],
        "livemode": session["livemode"],
        "total_summary": {"due": session["amount_total"], "total": session["amount_total"]},
    }))
}

/// `POST /v1/payment_pages/{id}/confirm`
pub(crate) fn confirm_page(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let method = call.params.required("payment_method")?.to_owned();
    let session = state.find(&call.scope, KIND, id)?;
    let expected = call.params.integer("expected_amount")?;
    if expected.is_some_and(|expected| expected != number(session, "amount_total")) {
        return Err(call.params.error(
            "expected_amount",
            "The expected amount does not match the amount of the session.",
        ));
    }
    let method = payment_methods::resolve(state, call, &method)?;
    pay(state, call, id, &method, Presence::OnSession)
}
