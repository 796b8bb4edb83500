//! Subscriptions: creating, changing, pausing, resuming and canceling them.

use crate::error::{ApiError, Result};
use crate::ids::new_id;
use crate::json::{embedded_list, maybe_text, merge_metadata, number, text};
use crate::lists::{self, ListParams};
use crate::objects::payment_intents::Presence;
use crate::objects::subscription_items::{
    change_items, item_with, items_of, period_end, set_items, show_item, subscription_with,
};
use crate::objects::{catalog, customers, invoices, payment_methods, renewals};
use crate::params::Params;
use crate::records::Job;
use crate::state::{Call, DAY, State};
use serde_json::{Value, json};

pub(crate) const KIND: &str = "subscription";

/// How long before its end a trial is announced.
const TRIAL_NOTICE: i64 = 3 * DAY;

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
    let invoice = renewals::create_invoice(state, call, &id, "subscription_create");
    let invoice = text(&invoice, "id").to_owned();
    invoices::finalize(state, call, &invoice);
    if behavior == "default_incomplete" && trial_end.is_none() {
        return Ok(state.object(&id));
    }
    match renewals::collect(state, call, &invoice, None, Presence::OffSession) {
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
        renewals::end_trial(state, call, id);
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
        renewals::end(state, call, id, "cancellation_requested")
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
        renewals::renew(state, call, id);
        state.object(id)
    }))
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
