//! Subscriptions: periods, renewals, failed renewals, pauses and changes of the amount.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{embedded_list, flag, maybe_text, merge_metadata, number, text};
use crate::lists::{self, ListParams};
use crate::objects::invoices::{self, Draft, Line};
use crate::objects::payment_intents::Presence;
use crate::objects::{catalog, customers, payment_methods};
use crate::params::Params;
use crate::records::Job;
use crate::state::{Call, DAY, State};
use crate::tuning::DunningEnd;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "subscription";
/// While `invoice.created` is not answered, a renewal waits for up to this long.
const MAX_WEBHOOK_HOLD: i64 = 72 * 3_600;
/// How long before its end a trial is announced.
const TRIAL_NOTICE: i64 = 3 * DAY;
const HOUR_MILLIS: i64 = 3_600_000;

#[rustfmt::skip]
const CREATE_PARAMS: &[&str] = &[
    "add_invoice_items", "application_fee_percent", "automatic_tax", "backdate_start_date",
    "billing_cycle_anchor", "billing_cycle_anchor_config", "billing_mode", "billing_schedules",
    "billing_thresholds", "cancel_at", "cancel_at_period_end", "collection_method", "currency", "customer",
    "customer_account", "days_until_due", "default_payment_method", "default_source", "default_tax_rates",
    "description", "discounts", "expand", "invoice_settings", "items", "metadata", "off_session",
    "on_behalf_of", "payment_behavior", "payment_settings", "pending_invoice_item_interval",
    "proration_behavior", "transfer_data", "trial_end", "trial_from_plan", "trial_period_days",
    "trial_settings",
];
#[rustfmt::skip]
const UPDATE_PARAMS: &[&str] = &[
    "add_invoice_items", "application_fee_percent", "automatic_tax", "billing_cycle_anchor",
    "billing_schedules", "billing_thresholds", "cancel_at", "cancel_at_period_end", "cancellation_details",
    "collection_method", "days_until_due", "default_payment_method", "default_source", "default_tax_rates",
    "description", "discounts", "expand", "invoice_settings", "items", "metadata", "off_session",
    "on_behalf_of", "pause_collection", "payment_behavior", "payment_settings",
    "pending_invoice_item_interval", "proration_behavior", "proration_date", "transfer_data", "trial_end",
    "trial_from_plan", "trial_settings",
];

/// Returns the end of the period after `count` intervals. Months end on the day of the anchor, or on their last day.
fn add_intervals(anchor: i64, interval: &str, count: i64) -> i64 {
    let start = Timestamp::from_second(anchor)
        .unwrap_or_default()
        .to_zoned(TimeZone::UTC);
    let span = match interval {
        "day" => Span::new().days(count),
        "week" => Span::new().weeks(count),
        "year" => Span::new().years(count),
        _ => Span::new().months(count),
    };
    start
        .checked_add(span)
        .map_or(i64::MAX, |end| end.timestamp().as_second())
}

/// Returns the first end of a period after a time.
fn period_end(anchor: i64, price: &Value, after: i64) -> i64 {
    let interval = text(&price["recurring"], "interval");
    let step = number(&price["recurring"], "interval_count").max(1);
    let mut count = step;
    loop {
        let end = add_intervals(anchor, interval, count);
        if end > after {
            return end;
        }
        count += step;
    }
}

/// What a new subscription is made of.
pub(crate) struct Plan<'a> {
    pub(crate) customer: &'a str,
    /// Prices and quantities.
    pub(crate) items: Vec<(Value, i64)>,
    pub(crate) metadata: Value,
    pub(crate) description: Value,
    pub(crate) method: Option<String>,
    pub(crate) trial_end: Option<i64>,
}

/// Creates a subscription with the status `incomplete`, or `trialing`, without an invoice.
pub(crate) fn create_with(state: &mut State, call: &Call, plan: &Plan<'_>) -> Value {
    let id = new_id("sub");
    let now = state.now();
    let customer = state.object(plan.customer);
    let end = plan
        .trial_end
        .unwrap_or_else(|| period_end(now, &plan.items[0].0, now));
    let items: Vec<Value> = plan
        .items
        .iter()
        .map(|(price, quantity)| show_item(&id, price, *quantity, now, (now, end)))
        .collect();
    let items = embedded_list(&format!("/v1/subscription_items?subscription={id}"), &items);
    let value = json!({
        "id": id,
        "object": KIND,
        "application": null,
        "application_fee_percent": null,
        "automatic_tax": {"disabled_reason": null, "enabled": false, "liability": null},
        "billing_cycle_anchor": plan.trial_end.unwrap_or(now),
        "billing_cycle_anchor_config": null,
        "billing_mode": {"flexible": {"proration_discounts": "included"}, "type": "flexible"},
        "billing_schedules": [],
        "billing_thresholds": null,
        "cancel_at": null,
        "cancel_at_period_end": false,
        "canceled_at": null,
        "cancellation_details": {"comment": null, "feedback": null, "feedback_option": null, "reason": null},
        "collection_method": "charge_automatically",
        "created": now,
        "currency": plan.items[0].0["currency"],
        "customer": plan.customer,
        "customer_account": null,
        "days_until_due": null,
        "default_payment_method": plan.method,
        "default_source": null,
        "default_tax_rates": [],
        "description": plan.description,
        "discounts": [],
        "ended_at": null,
        "invoice_settings": {
            "account_tax_ids": null, "custom_fields": null, "description": null, "footer": null,
            "issuer": {"type": "self"},
        },
        "items": items,
        "latest_invoice": null,
        "livemode": call.scope.livemode,
        "managed_payments": null,
        "metadata": plan.metadata,
        "next_pending_invoice_item_invoice": null,
        "on_behalf_of": null,
        "pause_collection": null,
        "payment_settings": {
            "payment_method_options": null, "payment_method_types": null, "save_default_payment_method": "off",
        },
        "pending_invoice_item_interval": null,
        "pending_setup_intent": null,
        "pending_update": null,
        "schedule": null,
        "start_date": now,
        "status": if plan.trial_end.is_some() { "trialing" } else { "incomplete" },
        "test_clock": customer["test_clock"],
        "transfer_data": null,
        "trial_end": plan.trial_end,
        "trial_settings": {"end_behavior": {"billing_cycle_anchor": null, "missing_payment_method": "create_invoice"}},
        "trial_start": plan.trial_end.map(|_| now),
    });
    let clock = maybe_text(&customer, "test_clock").map(str::to_owned);
    let job = if plan.trial_end.is_some() {
        Job::EndTrial { subscription: id }
    } else {
        Job::Renew { subscription: id }
    };
    state.schedule(&call.scope, clock.as_deref(), (end - now) * 1_000, job);
    state.create(call, value, Value::Null, None)
}

fn show_item(subscription: &str, price: &Value, quantity: i64, now: i64, period: (i64, i64)) -> Value {
    json!({
        "id": new_id("si"),
        "object": "subscription_item",
        "billing_thresholds": null,
        "created": now,
        "current_period_end": period.1,
        "current_period_start": period.0,
        "current_trial": null,
        "discounts": [],
        "metadata": {},
        "plan": catalog::plan(price),
        "price": price,
        "quantity": quantity,
        "subscription": subscription,
        "tax_rates": [],
    })
}

fn items_of(subscription: &Value) -> Vec<Value> {
    subscription["items"]["data"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

fn set_items(subscription: &Value, items: Vec<Value>) -> Value {
    let mut list = subscription["items"].clone();
    list["data"] = Value::Array(items);
    list
}

/// Creates the draft invoice of the current period, with items that wait for it.
pub(crate) fn create_invoice(state: &mut State, call: &Call, id: &str, reason: &str) -> Value {
    let subscription = state.object(id);
    let customer = text(&subscription, "customer");
    let is_trial = text(&subscription, "status") == "trialing";
    let items = items_of(&subscription);
    let mut lines: Vec<Line> = items
        .iter()
        .map(|item| line_of(state, id, item, is_trial))
        .collect();
    let pending = invoices::take_items(state, call, customer);
    lines.extend(pending.iter().map(invoices::line_of_item));
    let draft = Draft {
        customer,
        reason,
        lines,
        currency: text(&subscription, "currency"),
        subscription: Some(&subscription),
        period: (state.now(), state.now()),
        metadata: json!({}),
        description: subscription["description"].clone(),
        is_automatic: reason == "subscription_cycle",
    };
    let invoice = invoices::create_draft(state, call, &draft);
    invoices::assign_items(state, call, &pending, text(&invoice, "id"));
    state.update(call, id, &json!({ "latest_invoice": invoice["id"] }), None);
    invoice
}

fn line_of(state: &State, subscription: &str, item: &Value, is_trial: bool) -> Line {
    let price = &item["price"];
    let quantity = number(item, "quantity");
    let amount = if is_trial {
        0
    } else {
        number(price, "unit_amount") * quantity
    };
    let product = state.object(text(price, "product"));
    let interval = text(&price["recurring"], "interval");
    let cents = number(price, "unit_amount");
    Line {
        amount,
        description: format!(
            "{quantity} × {} (at ${}.{:02} / {interval})",
            text(&product, "name"),
            cents / 100,
            cents % 100
        ),
        price: price.clone(),
        quantity,
        period: (
            number(item, "current_period_start"),
            number(item, "current_period_end"),
        ),
        parent: json!({
            "invoice_item_details": null,
            "subscription_item_details": {
                "invoice_item": null,
                "proration": false,
                "proration_details": null,
                "subscription": subscription,
                "subscription_item": item["id"],
            },
            "type": "subscription_item_details",
        }),
    }
}

/// Tries to collect an invoice, and brings its subscription up to date.
pub(crate) fn collect(
    state: &mut State,
    call: &Call,
    invoice: &str,
    method: Option<String>,
    presence: Presence,
) -> Result<Value> {
    let result = invoices::collect(state, call, invoice, method, presence);
    let current = state.object(invoice);
    match (&result, text(&current, "status")) {
        (Ok(_), "paid") => after_payment(state, call, &current),
        (Ok(_), _) => {}
        (Err(_), _) => after_failure(state, call, &current),
    }
    result.map(|_| state.object(invoice))
}

/// Makes the subscription of a paid invoice active again.
pub(crate) fn after_payment(state: &mut State, call: &Call, invoice: &Value) {
    let Some(id) = invoices::subscription_of(invoice) else {
        return;
    };
    let subscription = state.object(&id);
    let is_latest = subscription["latest_invoice"] == invoice["id"];
    match text(&subscription, "status") {
        "incomplete" => {
            state.update(call, &id, &json!({ "status": "active" }), None);
        }
        "past_due" | "unpaid" if is_latest => {
            state.update(
                call,
                &id,
                &json!({ "status": "active" }),
                Some("customer.subscription.updated"),
            );
        }
        _ => {}
    }
}

/// Plans the next attempt for an invoice that could not be collected, or gives up.
pub(crate) fn after_failure(state: &mut State, call: &Call, invoice: &Value) {
    let id = text(invoice, "id");
    let is_renewal = text(invoice, "billing_reason") == "subscription_cycle";
    let attempts = number(invoice, "attempt_count");
    let delay = usize::try_from(attempts - 1)
        .ok()
        .and_then(|index| state.tuning().dunning.get(index).copied());
    let delay = delay.filter(|_| is_renewal);
    let next = delay.map(|delay| state.now() + delay);
    let changes = json!({ "next_payment_attempt": next, "auto_advance": next.is_some() });
    state.update(call, id, &changes, Some("invoice.payment_failed"));
    let Some(subscription) = invoices::subscription_of(invoice).filter(|_| is_renewal) else {
        return;
    };
    if let Some(delay) = delay {
        let clock = maybe_text(invoice, "test_clock");
        let job = Job::RetryInvoice {
            invoice: id.to_owned(),
        };
        state.schedule(&call.scope, clock, delay * 1_000, job);
        if text(&state.object(&subscription), "status") == "active" {
            let changes = json!({ "status": "past_due" });
            state.update(
                call,
                &subscription,
                &changes,
                Some("customer.subscription.updated"),
            );
        }
        return;
    }
    match state.tuning().dunning_end {
        DunningEnd::Canceled => {
            end(state, call, &subscription, "payment_failed");
        }
        DunningEnd::Unpaid => {
            state.update(
                call,
                &subscription,
                &json!({ "status": "unpaid" }),
                Some("customer.subscription.updated"),
            );
        }
        DunningEnd::Paused => {
            state.update(
                call,
                &subscription,
                &json!({ "status": "paused" }),
                Some("customer.subscription.updated"),
            );
            let paused = state.object(&subscription);
            state.emit(call, "customer.subscription.paused", &paused, None);
        }
    }
}

/// Ends a subscription.
pub(crate) fn end(state: &mut State, call: &Call, id: &str, reason: &str) -> Value {
    let now = state.now();
    let subscription = state.object(id);
    state.unschedule(|job| match job {
        Job::Renew { subscription }
        | Job::EndTrial { subscription }
        | Job::ResumeCollection { subscription } => subscription == id,
        _ => false,
    });
    // An open invoice stays open, but nothing collects it any more.
    let latest = text(&subscription, "latest_invoice").to_owned();
    let status = text(&state.object(&latest), "status").to_owned();
    if matches!(status.as_str(), "draft" | "open") {
        state.unschedule(|job| match job {
            Job::RetryInvoice { invoice } | Job::FinalizeInvoice { invoice } => *invoice == latest,
            _ => false,
        });
        let changes = json!({ "auto_advance": false, "next_payment_attempt": null, "automatically_finalizes_at": null });
        state.update(call, &latest, &changes, Some("invoice.updated"));
    }
    let mut details = subscription["cancellation_details"].clone();
    details["reason"] = reason.into();
    let changes = json!({
        "status": "canceled",
        "canceled_at": now,
        "ended_at": now,
        "cancellation_details": details,
    });
    state.update(call, id, &changes, Some("customer.subscription.deleted"))
}

// Jobs

/// Starts the next period: a draft invoice now, which is charged an hour later.
pub(crate) fn renew(state: &mut State, call: &Call, id: &str) {
    let subscription = state.object(id);
    if matches!(
        text(&subscription, "status"),
        "canceled" | "incomplete_expired" | "paused"
    ) {
        return;
    }
    if flag(&subscription, "cancel_at_period_end") {
        end(state, call, id, "cancellation_requested");
        return;
    }
    let mut items = items_of(&subscription);
    let start = number(&items[0], "current_period_end");
    let end = period_end(
        number(&subscription, "billing_cycle_anchor"),
        &items[0]["price"],
        start,
    );
    for item in &mut items {
        item["current_period_start"] = start.into();
        item["current_period_end"] = end.into();
    }
    let clock = maybe_text(&subscription, "test_clock").map(str::to_owned);
    let job = Job::Renew {
        subscription: id.to_owned(),
    };
    let delay = end * 1_000 - state.now_millis();
    state.schedule(&call.scope, clock.as_deref(), delay, job);
    let status = if text(&subscription, "status") == "trialing" {
        "active"
    } else {
        text(&subscription, "status")
    };
    let changes = json!({ "items": set_items(&subscription, items), "status": status });
    state.update(call, id, &changes, None);
    let invoice = create_invoice(state, call, id, "subscription_cycle");
    let invoice_id = text(&invoice, "id").to_owned();
    let current = state.object(id);
    let previous =
        json!({ "items": subscription["items"], "latest_invoice": subscription["latest_invoice"] });
    state.emit(
        call,
        "customer.subscription.updated",
        &current,
        previous.as_object().cloned(),
    );
    match text(&subscription["pause_collection"], "behavior") {
        "void" => {
            invoices::abandon(state, call, &invoice_id, "void");
        }
        "mark_uncollectible" => {
            invoices::abandon(state, call, &invoice_id, "uncollectible");
        }
        "keep_as_draft" => keep_as_draft(state, call, &invoice_id),
        _ if status == "unpaid" => keep_as_draft(state, call, &invoice_id),
        _ => {
            let delay = state.tuning().invoice_delay * 1_000;
            let job = Job::FinalizeInvoice { invoice: invoice_id };
            state.schedule(&call.scope, clock.as_deref(), delay, job);
        }
    }
}

fn keep_as_draft(state: &mut State, call: &Call, invoice: &str) {
    let changes =
        json!({ "auto_advance": false, "automatically_finalizes_at": null, "next_payment_attempt": null });
    state.update(call, invoice, &changes, None);
}

/// Finalizes and collects the draft of a renewal, unless the webhook endpoint does not accept `invoice.created`.
pub(crate) fn finalize_renewal(state: &mut State, call: &Call, id: &str) {
    let invoice = state.object(id);
    if text(&invoice, "status") != "draft" {
        return;
    }
    let is_held = state.store.deliveries().values().any(|delivery| {
        let event = state.object(&delivery.event);
        delivery.failures > 0
            && text(&event, "type") == "invoice.created"
            && event["data"]["object"]["id"] == id
    });
    if is_held && state.now() < number(&invoice, "created") + MAX_WEBHOOK_HOLD {
        let job = Job::FinalizeInvoice {
            invoice: id.to_owned(),
        };
        state.schedule(&call.scope, maybe_text(&invoice, "test_clock"), HOUR_MILLIS, job);
        return;
    }
    invoices::finalize(state, call, id);
    // A refused payment is recorded; nobody waits for it.
    let _ = collect(state, call, id, None, Presence::OffSession);
}

/// Tries to collect an open invoice again.
pub(crate) fn retry(state: &mut State, call: &Call, id: &str) {
    let invoice = state.object(id);
    if text(&invoice, "status") == "open" {
        let _ = collect(state, call, id, None, Presence::OffSession);
    }
}

/// Ends a trial: with a payment method the first period starts, and without one the subscription may be paused.
pub(crate) fn end_trial(state: &mut State, call: &Call, id: &str) {
    let subscription = state.object(id);
    if text(&subscription, "status") != "trialing" {
        return;
    }
    state.unschedule(|job| matches!(job, Job::EndTrial { subscription } if subscription == id));
    let now = state.now();
    let has_method = maybe_text(&subscription, "default_payment_method").is_some()
        || customers::default_method(state, text(&subscription, "customer")).is_some();
    let without = text(
        &subscription["trial_settings"]["end_behavior"],
        "missing_payment_method",
    );
    if !has_method && without == "pause" {
        let changes = json!({ "status": "paused", "trial_end": now });
        state.update(call, id, &changes, Some("customer.subscription.updated"));
        let paused = state.object(id);
        state.emit(call, "customer.subscription.paused", &paused, None);
        return;
    }
    let mut items = items_of(&subscription);
    for item in &mut items {
        item["current_period_end"] = now.into();
    }
    let changes = json!({
        "billing_cycle_anchor": now,
        "trial_end": now,
        "items": set_items(&subscription, items),
    });
    state.update(call, id, &changes, None);
    renew(state, call, id);
}

/// Ends a pause of collection.
pub(crate) fn resume_collection(state: &mut State, call: &Call, id: &str) {
    if !state.object(id)["pause_collection"].is_null() {
        state.update(
            call,
            id,
            &json!({ "pause_collection": null }),
            Some("customer.subscription.updated"),
        );
    }
}

// Operations

fn clock_of(state: &State, customer: &str) -> Option<String> {
    maybe_text(&state.object(customer), "test_clock").map(str::to_owned)
}

/// `POST /v1/subscriptions`
pub(crate) fn create(state: &mut State, call: &Call) -> Result<Value> {
    call.params.allow(CREATE_PARAMS)?;
    let customer = call.params.required("customer")?;
    state.find(&call.scope, customers::KIND, customer)?;
    let clock = clock_of(state, customer);
    state.at_clock(clock.as_deref(), |state| create_at(state, call, customer))
}

fn create_at(state: &mut State, call: &Call, customer: &str) -> Result<Value> {
    let params = &call.params;
    let elements = params.elements("items");
    if elements.is_empty() {
        return Err(ApiError::missing("items"));
    }
    let mut items = Vec::new();
    for element in &elements {
        let price = catalog::price_of_item(state, call, element, false)?;
        if price["recurring"].is_null() {
            return Err(element.error("price", "The price specified is set to `type=one_time`, but this field only accepts prices with `type=recurring`."));
        }
        items.push((price, element.integer("quantity")?.unwrap_or(1)));
    }
    let method = params.text("default_payment_method").map(str::to_owned);
    let method = method
        .map(|method| payment_methods::resolve(state, call, &method))
        .transpose()?;
    let behavior = params.choice(
        "payment_behavior",
        &[
            "allow_incomplete",
            "default_incomplete",
            "error_if_incomplete",
            "pending_if_incomplete",
        ],
    )?;
    let trial_end = match (params.integer("trial_period_days")?, params.text("trial_end")) {
        (Some(days), _) => Some(state.now() + days * DAY),
        (None, Some("now") | None) => None,
        (None, Some(_)) => params.integer("trial_end")?,
    };
    let plan = Plan {
        customer,
        items,
        metadata: merge_metadata(&json!({}), params.get("metadata")),
        description: params.value("description"),
        method,
        trial_end,
    };
    let subscription = create_with(state, call, &plan);
    let id = text(&subscription, "id").to_owned();
    if let Some(settings) = params.maybe_nested("trial_settings") {
        state.update(
            call,
            &id,
            &json!({ "trial_settings": settings_value(&settings) }),
            None,
        );
    }
    let created = state.object(&id);
    state.emit(call, "customer.subscription.created", &created, None);
    if trial_end.is_some_and(|end| end <= state.now() + TRIAL_NOTICE) {
        state.emit(call, "customer.subscription.trial_will_end", &created, None);
    }
    let invoice = create_invoice(state, call, &id, "subscription_create");
    let invoice = text(&invoice, "id").to_owned();
    invoices::finalize(state, call, &invoice);
    if behavior == "default_incomplete" && trial_end.is_none() {
        return Ok(state.object(&id));
    }
    match collect(state, call, &invoice, None, Presence::OffSession) {
        Err(error) if behavior == "error_if_incomplete" => return Err(error),
        _ => {}
    }
    let current = state.object(&id);
    if text(&current, "status") == "active" {
        let previous = json!({ "status": "incomplete" });
        state.emit(
            call,
            "customer.subscription.updated",
            &current,
            previous.as_object().cloned(),
        );
    }
    Ok(current)
}

fn settings_value(settings: &Params) -> Value {
    let behavior = settings.nested("end_behavior");
    let method = behavior
        .text("missing_payment_method")
        .unwrap_or("create_invoice");
    json!({ "end_behavior": {"billing_cycle_anchor": null, "missing_payment_method": method} })
}

/// `POST /v1/subscriptions/{id}`
pub(crate) fn update(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    call.params.allow(UPDATE_PARAMS)?;
    let subscription = state.find(&call.scope, KIND, id)?.clone();
    let clock = maybe_text(&subscription, "test_clock").map(str::to_owned);
    state.at_clock(clock.as_deref(), |state| update_at(state, call, &subscription))
}

fn update_at(state: &mut State, call: &Call, subscription: &Value) -> Result<Value> {
    let params = &call.params;
    let id = text(subscription, "id");
    if text(subscription, "status") == "canceled" {
        let message = "A canceled subscription can only update its cancellation_details and metadata.";
        return Err(ApiError::invalid(message));
    }
    let mut changes =
        json!({ "metadata": merge_metadata(&subscription["metadata"], params.get("metadata")) });
    if params.has("description") {
        changes["description"] = params.value("description");
    }
    if let Some(flag) = params.flag("cancel_at_period_end") {
        changes["cancel_at_period_end"] = flag.into();
        changes["canceled_at"] = if flag { state.now().into() } else { Value::Null };
        let end = number(&items_of(subscription)[0], "current_period_end");
        changes["cancel_at"] = if flag { end.into() } else { Value::Null };
    }
    if let Some(method) = params.text("default_payment_method").map(str::to_owned) {
        changes["default_payment_method"] = payment_methods::resolve(state, call, &method)?.into();
    }
    if params.has("pause_collection") {
        changes["pause_collection"] = pause(state, call, subscription)?;
    }
    if params.has("items") {
        changes["items"] = change_items(state, call, subscription)?;
    }
    let is_trial_ended =
        params.text("trial_end") == Some("now") && text(subscription, "status") == "trialing";
    if is_trial_ended {
        state.update(call, id, &changes, None);
        end_trial(state, call, id);
        return Ok(state.object(id));
    }
    Ok(state.update(call, id, &changes, Some("customer.subscription.updated")))
}

fn pause(state: &mut State, call: &Call, subscription: &Value) -> Result<Value> {
    let id = text(subscription, "id");
    state.unschedule(|job| matches!(job, Job::ResumeCollection { subscription } if subscription == id));
    let Some(sent) = call.params.maybe_nested("pause_collection") else {
        return Ok(Value::Null);
    };
    sent.required("behavior")?;
    let behavior = sent.choice("behavior", &["void", "keep_as_draft", "mark_uncollectible"])?;
    let resumes_at = sent.integer("resumes_at")?;
    if let Some(time) = resumes_at {
        if time <= state.now() {
            return Err(sent.error("resumes_at", "The resumes_at timestamp must be in the future."));
        }
        let delay = time * 1_000 - state.now_millis();
        let job = Job::ResumeCollection {
            subscription: id.to_owned(),
        };
        state.schedule(&call.scope, maybe_text(subscription, "test_clock"), delay, job);
    }
    Ok(json!({ "behavior": behavior, "resumes_at": resumes_at }))
}

/// Changes prices and quantities. Unless `proration_behavior` is `none`, the next invoice includes the difference for the
/// rest of the period.
fn change_items(state: &mut State, call: &Call, subscription: &Value) -> Result<Value> {
    let params = &call.params;
    let proration = params.choice(
        "proration_behavior",
        &["create_prorations", "none", "always_invoice"],
    )?;
    let mut items = items_of(subscription);
    let total = |items: &[Value]| -> i64 {
        items
            .iter()
            .map(|item| number(&item["price"], "unit_amount") * number(item, "quantity"))
            .sum()
    };
    let before = total(&items);
    for element in params.elements("items") {
        let position = match element.text("id") {
            Some(id) => {
                let position = items.iter().position(|item| text(item, "id") == id);
                position.ok_or_else(|| ApiError::no_such("subscription_item", id))?
            }
            None => items.len(),
        };
        if element.flag("deleted") == Some(true) {
            items.remove(position);
            continue;
        }
        if position == items.len() {
            let price = catalog::price_of_item(state, call, &element, false)?;
            let period = (
                number(&items[0], "current_period_start"),
                number(&items[0], "current_period_end"),
            );
            items.push(show_item(
                text(subscription, "id"),
                &price,
                1,
                state.now(),
                period,
            ));
        } else if element.has("price") || element.has("price_data") {
            let price = catalog::price_of_item(state, call, &element, false)?;
            items[position]["plan"] = catalog::plan(&price);
            items[position]["price"] = price;
        }
        if let Some(quantity) = element.integer("quantity")? {
            items[position]["quantity"] = quantity.into();
        }
    }
    let (start, end) = (
        number(&items[0], "current_period_start"),
        number(&items[0], "current_period_end"),
    );
    let difference = total(&items) - before;
    if proration != "none" && difference != 0 && end > start {
        let amount = difference * (end - state.now()) / (end - start);
        let fields = json!({
            "currency": subscription["currency"],
            "description": "Difference for the rest of the period",
            "proration": true,
            "parent": {
                "subscription_details": {"subscription": subscription["id"], "subscription_item": items[0]["id"]},
                "type": "subscription_details",
            },
        });
        invoices::add_item(state, call, text(subscription, "customer"), amount, &fields);
    }
    Ok(set_items(subscription, items))
}

/// Returns the subscription that has an item.
fn subscription_with(state: &State, call: &Call, item: &str) -> Result<Value> {
    let mut subscriptions = state
        .store
        .list(&call.scope, KIND, None)
        .map(|record| &record.value);
    let found = subscriptions.find(|value| items_of(value).iter().any(|each| text(each, "id") == item));
    found
        .cloned()
        .ok_or_else(|| ApiError::no_such("subscription_item", item))
}

fn item_with(subscription: &Value, id: &str) -> Value {
    let mut items = items_of(subscription).into_iter();
    items.find(|item| text(item, "id") == id).unwrap_or_default()
}

/// `GET /v1/subscription_items`
pub(crate) fn list_items(state: &State, call: &Call) -> Result<Value> {
    let id = call.params.required("subscription")?;
    Ok(state.find(&call.scope, KIND, id)?["items"].clone())
}

/// `GET /v1/subscription_items/{id}`
pub(crate) fn retrieve_item(state: &State, call: &Call, id: &str) -> Result<Value> {
    Ok(item_with(&subscription_with(state, call, id)?, id))
}

/// `POST /v1/subscription_items/{id}`
pub(crate) fn update_item(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let subscription = subscription_with(state, call, id)?;
    let mut element = json!({ "id": id });
    for field in ["price", "price_data", "quantity"]
        .into_iter()
        .filter(|field| call.params.has(field))
    {
        element[field] = call.params.value(field);
    }
    let mut call = call.clone();
    call.params = Params::from_json(json!({
        "items": [element],
        "proration_behavior": call.params.text("proration_behavior").unwrap_or("create_prorations"),
    }));
    let subscription = update(state, &call, text(&subscription, "id"))?;
    Ok(item_with(&subscription, id))
}

/// `DELETE /v1/subscriptions/{id}`
pub(crate) fn cancel(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    call.params
        .allow(&["cancellation_details", "expand", "invoice_now", "prorate"])?;
    let subscription = state.find(&call.scope, KIND, id)?.clone();
    if text(&subscription, "status") == "canceled" {
        return Err(ApiError::no_such(KIND, id));
    }
    let clock = maybe_text(&subscription, "test_clock").map(str::to_owned);
    Ok(state.at_clock(clock.as_deref(), |state| {
        end(state, call, id, "cancellation_requested")
    }))
}

/// `POST /v1/subscriptions/{id}/resume`
pub(crate) fn resume(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let subscription = state.find(&call.scope, KIND, id)?.clone();
    if text(&subscription, "status") != "paused" {
        return Err(ApiError::invalid("Only a paused subscription can be resumed."));
    }
    let clock = maybe_text(&subscription, "test_clock").map(str::to_owned);
    Ok(state.at_clock(clock.as_deref(), |state| {
        let now = state.now();
        let mut items = items_of(&subscription);
        for item in &mut items {
            item["current_period_end"] = now.into();
        }
        let changes = json!({
            "status": "active", "billing_cycle_anchor": now, "items": set_items(&subscription, items),
        });
        let resumed = state.update(call, id, &changes, Some("customer.subscription.updated"));
        state.emit(call, "customer.subscription.resumed", &resumed, None);
        state.unschedule(|job| matches!(job, Job::Renew { subscription } if subscription == id));
        renew(state, call, id);
        state.object(id)
    }))
}

/// `POST /v1/invoices/{id}/pay`
pub(crate) fn pay_invoice(state: &mut State, call: &Call, id: &str) -> Result<Value> {
    let method = invoices::check_payable(state, call, id)?;
    let clock = maybe_text(&state.object(id), "test_clock").map(str::to_owned);
    state.at_clock(clock.as_deref(), |state| {
        invoices::finalize(state, call, id);
        let is_away = call.params.flag("off_session") != Some(false);
        let presence = if is_away {
            Presence::OffSession
        } else {
            Presence::OnSession
        };
        collect(state, call, id, method, presence)
    })
}

/// `GET /v1/subscriptions/{id}`
pub(crate) fn retrieve(state: &State, call: &Call, id: &str) -> Result<Value> {
    state.find(&call.scope, KIND, id).cloned()
}

/// `GET /v1/subscriptions`. Canceled ones are listed only with `status=canceled` or `status=all`.
pub(crate) fn list(state: &State, call: &Call) -> Result<Value> {
    let params = ListParams::read(&call.params, &["customer", "status"])?;
    let status = call.params.text("status");
    let customer = call.params.text("customer");
    let found = state
        .store
        .list(&call.scope, KIND, params.starting_after.as_deref());
    let found = found.map(|record| &record.value).filter(|value| match status {
        Some("all") => true,
        Some("ended") => matches!(text(value, "status"), "canceled" | "incomplete_expired"),
        Some(status) => text(value, "status") == status,
        None => text(value, "status") != "canceled",
    });
    let found = found
        .filter(|value| customer.is_none_or(|customer| text(value, "customer") == customer))
        .filter(|value| params.created.contains(number(value, "created")));
    Ok(lists::page(found.cloned(), &params, "/v1/subscriptions"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_that_is_too_short_does_not_move_later_months() {
        // January 31, 2026, 12:00 UTC.
        let anchor = 1_769_860_800;
        let price = json!({ "recurring": {"interval": "month", "interval_count": 1} });
        let february = period_end(anchor, &price, anchor);
        let march = period_end(anchor, &price, february);
        assert_eq!(
            Timestamp::from_second(february).unwrap().to_string(),
            "2026-02-28T12:00:00Z"
        );
        assert_eq!(
            Timestamp::from_second(march).unwrap().to_string(),
            "2026-03-31T12:00:00Z"
        );
    }
}
