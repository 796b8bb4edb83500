//! The life of a subscription after its start: renewals, failed payments and their retries, trials, pauses, and the end.

use crate::error::Result;
use crate::json::{flag, maybe_text, number, text};
use crate::objects::customers;
use crate::objects::invoice_items::{self, Line};
use crate::objects::invoices::{self, Draft};
use crate::objects::payment_intents::Presence;
use crate::objects::subscription_items::{items_of, line_of, period_end, set_items};
use crate::records::Job;
use crate::state::{Call, State};
use crate::tuning::DunningEnd;
use serde_json::{Value, json};

/// While `invoice.created` is not answered, a renewal waits for up to this long.
const MAX_WEBHOOK_HOLD: i64 = 72 * 3_600;

const HOUR_MILLIS: i64 = 3_600_000;

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
    let pending = invoice_items::take_items(state, call, customer);
    lines.extend(pending.iter().map(invoice_items::line_of_item));
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
    invoice_items::assign_items(state, call, &pending, text(&invoice, "id"));
    state.update(call, id, &json!({ "latest_invoice": invoice["id"] }), None);
    invoice
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
