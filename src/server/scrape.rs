//! The page that Prometheus scrapes. What other parts know is read here, at the moment of the scrape.
//!
//! A metric of a part that is not configured is not exported, so that no alert mistakes it for an outage.

use crate::app::App;
use giving::disbursement::batches::store as batches;
use giving::guard;
use giving::monthly::{State, store as monthly};
use giving::payments::store as payments;
use platform::backup;
use rustix::fs::statvfs;
use std::time::Duration;
use tokio::time::timeout;

/// How long a scrape waits for the store. Metrics matter most when all connections are in use.
const STORE_TIMEOUT: Duration = Duration::from_millis(500);

const DAY_MILLIS: f64 = 86_400_000.0;
const HOUR_MILLIS: i64 = 60 * 60 * 1_000;

/// Returns the metrics of the server.
pub async fn scrape(app: &App) -> String {
    let metrics = &app.telemetry.metrics;
    let readiness = app.readiness();
    metrics.ready.set(f64::from(u8::from(readiness.serves_reads)));
    metrics
        .write_ready
        .set(f64::from(u8::from(readiness.serves_writes())));
    metrics.clock_skew.set(app.availability.clock_skew() as f64 / 1e3);
    let pool = app.db.pool_status();
    metrics.pool.connections.set(f64::from(pool.connections));
    metrics.pool.idle.set(pool.idle as f64);
    if let Some(waiting) = pool.waiting {
        metrics.pool.waiting.set(waiting as f64);
    }
    if let Ok(Ok(Some(waits))) = timeout(STORE_TIMEOUT, app.db.count_lock_waits()).await {
        metrics.pool.lock_waits.set(waits as f64);
    }
    let outdated = app.directory.view().standings.outdated(app.clock.millis());
    metrics.outdated_lists.set(outdated.len() as f64);
    metrics.emails.waiting.set(app.mail.last_status().waiting as f64);
    let anchors = app.giving.anchors.status();
    let covered_at = app.clock.millis() - anchors.age.as_millis() as i64;
    metrics.anchor.age.set_time(covered_at);
    metrics.anchor.missing.set(anchors.missing as f64);
    metrics.anchor.failing_places.set(anchors.failing_places as f64);
    if let Ok(Ok(Some(backup))) = timeout(STORE_TIMEOUT, backup::store::find(&app.db)).await {
        metrics.backup_age.set_time(backup.created_at);
    }
    if let Ok(Ok(backlog)) = timeout(STORE_TIMEOUT, app.giving.webhooks.backlog()).await {
        let webhooks = &metrics.webhooks;
        webhooks.backlog_age.set(backlog.age_millis as f64 / 1_000.0);
        webhooks.failing.set(backlog.failing as f64);
        webhooks.disabled.set(backlog.disabled as f64);
    }
    if app.payments().is_some()
        && let Ok(Ok(open)) = timeout(STORE_TIMEOUT, payments::find_open(&app.db)).await
    {
        let payments = &metrics.payments;
        payments.unreconciled_cents.set(open.unreconciled.get() as f64);
        payments.waiting_events.set(open.waiting_events as f64);
        payments.unanswered_disputes.set(open.unanswered_disputes as f64);
        let since = app.clock.millis() - HOUR_MILLIS;
        if let Ok(Ok(sums)) = timeout(STORE_TIMEOUT, guard::store::sum(&app.db, since)).await {
            payments.declined.set(sums.declined as f64);
            payments.held.set(sums.asked as f64);
            payments.let_through.set((sums.by_proof + sums.by_email) as f64);
        }
    }
    if app.payments().is_some()
        && let Ok(Ok(counts)) =
            timeout(STORE_TIMEOUT, monthly::count(&app.db, app.config.giving.mode())).await
    {
        for count in counts {
            match count.state {
                State::Active => metrics.payments.monthly_active.set(count.gifts as f64),
                State::PastDue => metrics.payments.monthly_past_due.set(count.gifts as f64),
                State::Paused | State::Canceled => {}
            }
        }
    }
    let disbursements = app.disbursements();
    if app.payments().is_some()
        && let Ok(Ok(owed)) = timeout(STORE_TIMEOUT, batches::sum_open(&app.db, disbursements.mode)).await
    {
        let payments = &metrics.payments;
        payments.owed_cents.set(owed.amount.get() as f64);
        let age = owed.oldest_at.map_or(0, |at| app.clock.millis() - at);
        payments.oldest_unpaid_days.set(age as f64 / DAY_MILLIS);
    }
    if let Ok(disk) = statvfs(&app.config.data) {
        metrics.disk.available.set((disk.f_bavail * disk.f_frsize) as f64);
        metrics.disk.size.set((disk.f_blocks * disk.f_frsize) as f64);
    }
    metrics.render()
}
