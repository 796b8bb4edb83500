//! Runs what was scheduled: balance transactions that come late, bank debits, renewals, retries and expiries.

use crate::cards::Behavior;
use crate::error::ApiError;
use crate::json::{maybe_text, text};
use crate::objects::{
    charges, invoices, payment_intents, payment_methods, payouts, refunds, renewals, sessions,
};
use crate::records::{Job, ScheduledJob};
use crate::state::{Call, State};
use serde_json::json;

/// Runs the jobs of the simulator's clock that are due, in order, each at its own time.
pub(crate) fn run_due(state: &mut State) {
    let now = state.clock_millis();
    while let Some((number, job)) = state.store.next_job(None, now) {
        let job = job.clone();
        run(state, number, &job);
    }
}

/// Runs the jobs of a test clock up to a time, in order.
pub(crate) fn run_clock(state: &mut State, clock: &str, until: i64) {
    while let Some((number, job)) = state.store.next_job(Some(clock), until) {
        let job = job.clone();
        state.store.change(clock, |record| {
            record.value["frozen_time"] = job.due.div_euclid(1_000).into();
        });
        run(state, number, &job);
    }
}

fn run(state: &mut State, number: u64, scheduled: &ScheduledJob) {
    state.store.remove_job(number);
    let call = Call::internal(&scheduled.scope);
    state.at(scheduled.due, |state| match &scheduled.job {
        Job::PostTransaction { charge } => {
            charges::post_transaction(state, &call, charge, Some("charge.updated"));
        }
        Job::FinishDebit { charge } => finish_debit(state, &call, charge),
        Job::FinishRefund { refund } => {
            refunds::finish(state, &call, refund);
        }
        Job::FailRefund { refund } => {
            // It may have failed already, on command.
            let _ = refunds::fail(state, &call, refund, "expired_or_canceled_card");
        }
        Job::ExpireSession { session } => {
            sessions::end(state, &call, session);
        }
        Job::Renew { subscription } => renewals::renew(state, &call, subscription),
        Job::EndTrial { subscription } => renewals::end_trial(state, &call, subscription),
        Job::ResumeCollection { subscription } => {
            renewals::resume_collection(state, &call, subscription);
        }
        Job::FinalizeInvoice { invoice } => renewals::finalize_renewal(state, &call, invoice),
        Job::RetryInvoice { invoice } => renewals::retry(state, &call, invoice),
        Job::PayPayout { payout } => {
            payouts::pay(state, &call, payout);
        }
    });
    state.store.commit();
}

/// Ends a bank debit as its account demands.
fn finish_debit(state: &mut State, call: &Call, charge: &str) {
    let method = text(&state.object(charge), "payment_method").to_owned();
    let failure = match payment_methods::behavior(state, &method) {
        Behavior::DebitFails(code) => Some(code),
        _ => None,
    };
    end_debit(state, call, charge, failure);
}

/// Ends a bank debit: it succeeds, or fails with a code. Its session and invoice learn of it.
pub(crate) fn end_debit(state: &mut State, call: &Call, charge: &str, failure: Option<&str>) {
    if text(&state.object(charge), "status") != "pending" {
        return;
    }
    state.unschedule(|job| matches!(job, Job::FinishDebit { charge: other } if other == charge));
    let error =
        failure.map(|code| ApiError::card(code, None, "The customer's bank could not process this payment."));
    let intent = payment_intents::finish_debit(state, call, charge, error.as_ref());
    let intent = text(&intent, "id");
    let hidden = state.hidden(intent);
    if let Some(invoice) = maybe_text(&hidden, "invoice") {
        if error.is_none() {
            let paid = invoices::mark_paid(state, call, invoice, Some(intent));
            renewals::after_payment(state, call, &paid);
        } else {
            let failed = state.object(invoice);
            renewals::after_failure(state, call, &failed);
            let subscription = invoices::subscription_of(&failed);
            let is_active = |id: &String| text(&state.object(id), "status") == "active";
            if let Some(subscription) = subscription.filter(is_active) {
                let changes = json!({ "status": "past_due" });
                state.update(
                    call,
                    &subscription,
                    &changes,
                    Some("customer.subscription.updated"),
                );
            }
        }
    }
    if let Some(session) = maybe_text(&hidden, "session") {
        sessions::finish_debit(state, call, session, error.is_none());
    }
}
