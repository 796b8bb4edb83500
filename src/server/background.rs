//! The background jobs of a server. Each calls a function of a capability, at an interval or when something changed.

use crate::app::App;
use crate::app::offline::ConnectError;
use crate::app::picture_sweep::SweptPictures;
use access::claims::store as claims;
use access::keys::warnings::warn_owners;
use access::usage::saver;
use giving::checkout;
use giving::ledger::anchors::log::ANCHOR_INTERVAL;
use giving::ledger::outbox;
use giving::payments::store as payment_store;
use giving::thanks;
use platform::blobs::BlobStoreAway;
use platform::db::{Follower, Revision, Topic};
use platform::mail;
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// The interval between two sweeps of idle rate limiters and two upkeeps of the metrics.
const SWEEP_INTERVAL: Duration = Duration::from_secs(5);

/// The interval between two counts of the servers that share the limits.
const COUNT_SERVERS_INTERVAL: Duration = Duration::from_secs(15);

/// The interval between two comparisons of clocks.
const CLOCK_INTERVAL: Duration = Duration::from_secs(15);

/// The interval between two looks for the blob store, after a start without it.
const BLOB_STORE_INTERVAL: Duration = Duration::from_secs(2);

/// The interval between two removals of orphaned uploads, old outbox rows and the like.
const CLEANUP_INTERVAL: Duration = Duration::from_mins(15);
/// The interval between two comparisons of receipts with the ledger, which read all of them.
const RECEIPTS_INTERVAL: Duration = Duration::from_hours(1);
/// The pause between two looks at payments whose outcome is open.
const CHECK_INTERVAL: Duration = Duration::from_mins(1);
/// The longest pause between two looks for events to send, which other servers may have queued.
const MAX_SEND_PAUSE: Duration = Duration::from_secs(1);
/// The shortest, while another server sends what is due.
const MIN_SEND_PAUSE: Duration = Duration::from_millis(5);
const DAY_MILLIS: i64 = 86_400_000;
/// The shortest pause between two looks at the outbox for emails.
const EVENT_EMAILS_INTERVAL: Duration = Duration::from_secs(1);

/// The interval between two looks for messages of organizers to donors.
const THANKS_INTERVAL: Duration = Duration::from_secs(10);

/// The interval between two looks for a snapshot without sitemaps.
const SITEMAP_INTERVAL: Duration = Duration::from_secs(1);

/// The longest pause after a failed refresh of the directory.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The interval between two looks for keys to save.
const SAVE_KEYS_INTERVAL: Duration = Duration::from_secs(1);

/// The interval between two looks for required lists that are too old.
const HOLDS_INTERVAL: Duration = Duration::from_mins(1);

/// The interval between two attempts to connect to the store after a start without it.
const CONNECT_INTERVAL: Duration = Duration::from_millis(250);

/// Runs all background jobs until the task is dropped.
///
/// # Errors
///
/// If the server started without its store, and the store turned out to be another one.
pub async fn run(app: App) -> Result<Infallible, ConnectError> {
    app.access.hashing.warm_up();
    let with_store = async {
        connect(&app).await?;
        Box::pin(run_with_store(&app)).await;
        // The jobs never end.
        pending().await
    };
    let without_store = async {
        tokio::join!(sweep_limiters(&app), refresh_sitemaps(&app));
    };
    tokio::select! {
        result = with_store => result,
        () = without_store => pending().await,
    }
}

/// Waits for the store, if the server started without it.
async fn connect(app: &App) -> Result<(), ConnectError> {
    let mut reported = String::new();
    while !app.availability.is_connected() {
        if app.db.responds().await {
            match app.connect().await {
                Ok(()) => tracing::info!("connected to the database; this server is complete now"),
                Err(error @ ConnectError::OtherStore) => return Err(error),
                Err(ConnectError::Failed(error)) => {
                    let error = format!("{error:#}");
                    if error != reported {
                        tracing::error!(error, "could not open the database; trying again");
                        reported = error;
                    }
                }
            }
        }
        tokio::time::sleep(CONNECT_INTERVAL).await;
    }
    Ok(())
}

/// Runs the jobs that need the store. Each has a loop of its own: a snapshot that is being built must not delay the
/// revocation of a key.
async fn run_with_store(app: &App) {
    tokio::join!(
        app.db.watch(
            &app.changes,
            &app.config.database,
            app.config.directory.poll_interval
        ),
        warn_owners(&app.db, app.notices()),
        record_responses(app),
        refresh_keys(app),
        save_keys(app),
        refresh_directory(app),
        refresh_holds(app),
        refresh_fundraisers(app),
        save_counts(app),
        sweep_pictures(app),
        remove_claim_documents(app),
        deliver_emails(app),
        queue_event_emails(app),
        queue_timed_emails(app),
        send_thanks(app),
        update_anchors(app),
        thin_anchors(app),
        check_receipts(app),
        prune_outbox(app),
        prune_revision_tokens(app),
        count_servers(app),
        check_clock(app),
        settle_payments(app),
        check_payments(app),
        reconcile_payments(app),
        keep_monthly_gifts(app),
        remove_unpaid_donations(app),
        clean_up_guard(app),
        collect_owed(app),
        queue_yearly_statements(app),
        fan_out_events(app),
        send_events(app),
        clean_up_events(app)
    );
}

/// Waits until the blob store responds, after a start without it, and logs what is wrong with it then.
pub async fn await_blob_store(app: App) {
    loop {
        tokio::time::sleep(BLOB_STORE_INTERVAL).await;
        match app.pictures.blobs().probe().await {
            Ok(()) => return tracing::info!("the blob store responds; pictures are shown"),
            Err(error) if error.is::<BlobStoreAway>() => {}
            Err(error) => {
                let error = format!("{error:#}");
                return tracing::error!(
                    error,
                    "the blob store cannot be used; restart the server when this is corrected"
                );
            }
        }
    }
}

/// Counts the servers of the database, so that each knows its share of the limits while Redis is away. While the database is
/// away, the last count holds.
async fn count_servers(app: &App) {
    if app.config.redis.url.is_none() {
        return;
    }
    let mut ticks = every(COUNT_SERVERS_INTERVAL);
    let mut last = 1;
    loop {
        ticks.tick().await;
        if let Ok(others) = app.db.count_other_servers().await {
            let servers = u32::try_from(others).unwrap_or(0) + 1;
            app.set_servers(servers);
            if std::mem::replace(&mut last, servers) != servers {
                tracing::info!("{servers} servers share their limits");
            }
        }
    }
}

/// Compares the clock of this machine with that of the store.
async fn check_clock(app: &App) {
    let mut ticks = every(CLOCK_INTERVAL);
    let mut health = JobHealth::new(app, "clock");
    loop {
        ticks.tick().await;
        health.record(&app.check_clock().await.map_err(Into::into));
    }
}

/// Records whether the store responds, for readiness and for what a server without its store may answer.
async fn record_responses(app: &App) {
    let mut responses = app.changes.responses();
    while responses.changed().await.is_ok() {
        app.record_response(*responses.borrow_and_update());
    }
}

async fn refresh_keys(app: &App) {
    let mut revisions = app.changes.follow(Topic::Keys);
    let mut health = JobHealth::new(app, "keys");
    loop {
        let revision = revisions.changed().await;
        let result = app.access.keys.refresh().await.map_err(Into::into);
        if result.is_ok() {
            app.record_response(true);
        }
        finish(app, &mut revisions, revision, &result).await;
        health.record(&result);
    }
}

/// Saves the keys when they change, for a start without the store.
async fn save_keys(app: &App) {
    let mut ticks = every(SAVE_KEYS_INTERVAL);
    let mut health = JobHealth::new(app, "saved keys");
    loop {
        ticks.tick().await;
        health.record(&app.save_keys().await.map_err(Into::into));
    }
}

async fn refresh_directory(app: &App) {
    let mut revisions = app.changes.follow(Topic::Directory);
    let mut health = JobHealth::new(app, "directory");
    loop {
        let revision = revisions.changed().await;
        let start = Instant::now();
        let result = app.refresh_directory().await;
        // A failed refresh is retried after a pause as long as the attempt, so that a full disk does not keep a core busy.
        let pause = result.is_err().then(|| start.elapsed().min(MAX_PAUSE));
        health.record(&result);
        if app.directory.view().shows(revision) {
            revisions.mark_handled(revision);
        } else {
            // Another process may be building the snapshot.
            tokio::time::sleep(pause.unwrap_or_default() + app.config.directory.poll_interval).await;
        }
    }
}

/// Writes the sitemaps of a new snapshot.
async fn refresh_sitemaps(app: &App) {
    let mut ticks = every(SITEMAP_INTERVAL);
    let mut health = JobHealth::new(app, "sitemaps");
    loop {
        ticks.tick().await;
        health.record(&app.refresh_sitemaps().await);
    }
}

/// Stops donations when a required list is too old or a period of grace is over, and records verdicts that changed.
async fn refresh_holds(app: &App) {
    let mut ticks = every(HOLDS_INTERVAL);
    let mut health = JobHealth::new(app, "eligibility");
    loop {
        ticks.tick().await;
        let outcome = async {
            app.directory.refresh_holds().await?;
            app.record_verdicts().await
        };
        health.record(&outcome.await);
    }
}

async fn refresh_fundraisers(app: &App) {
    let mut revisions = app.changes.follow(Topic::Events);
    let mut health = JobHealth::new(app, "fundraisers");
    loop {
        let revision = revisions.changed().await;
        let result = app.giving.fundraisers.refresh().await.map_err(Into::into);
        finish(app, &mut revisions, revision, &result).await;
        health.record(&result);
    }
}

/// Marks a revision as handled, or waits before the next attempt.
async fn finish(app: &App, revisions: &mut Follower, revision: Revision, result: &anyhow::Result<()>) {
    if result.is_ok() {
        revisions.mark_handled(revision);
    } else {
        tokio::time::sleep(app.config.directory.poll_interval).await;
    }
}

async fn save_counts(app: &App) {
    let mut ticks = every(saver::COLLECT_INTERVAL);
    let mut health = JobHealth::new(app, "call counts");
    loop {
        ticks.tick().await;
        health.record(&app.save_counts_if_due().await.map_err(Into::into));
    }
}

async fn sweep_limiters(app: &App) {
    let mut ticks = every(SWEEP_INTERVAL);
    loop {
        ticks.tick().await;
        app.access.limiter.sweep(app.clock.instant());
        app.access.visitors.sweep(app.clock.instant());
        app.giving.checkouts.sweep(app.clock.instant());
        app.telemetry.metrics.run_upkeep();
    }
}

async fn sweep_pictures(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "pictures");
    loop {
        ticks.tick().await;
        let swept = app.sweep_pictures().await;
        if let Ok(swept) = &swept
            && *swept != SweptPictures::default()
        {
            let SweptPictures { pictures, blobs } = *swept;
            tracing::info!(
                pictures,
                blobs,
                "removed unused pictures, and blobs without a picture"
            );
        }
        health.record(&swept.map(|_| ()));
    }
}

/// Removes the documents of claims that were decided a while ago.
async fn remove_claim_documents(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "claim documents");
    loop {
        ticks.tick().await;
        let removed = claims::remove_documents(&app.db, app.clock.millis()).await;
        health.record(&removed.map(|_| ()).map_err(Into::into));
    }
}

/// Delivers emails that this server or another one could not deliver at once.
async fn deliver_emails(app: &App) {
    let mut ticks = every(mail::RETRY_INTERVAL);
    let mut health = JobHealth::new(app, "email");
    loop {
        ticks.tick().await;
        let delivered = app.mail.deliver_queued().await;
        if let Ok(emails @ 1..) = delivered {
            tracing::info!(emails, "delivered queued emails");
        }
        health.record(&delivered.map(|_| ()));
    }
}

/// Queues emails about what the outbox announces.
async fn queue_event_emails(app: &App) {
    let mut revisions = app.changes.follow(Topic::Events);
    let mut health = JobHealth::new(app, "emails about events");
    loop {
        let revision = revisions.changed().await;
        let result = app.giving_notices().queue_events().await.map_err(Into::into);
        finish(app, &mut revisions, revision, &result).await;
        health.record(&result);
        // Many events may follow each other; one transaction queues the emails of all.
        tokio::time::sleep(EVENT_EMAILS_INTERVAL).await;
    }
}

/// Queues reminders of fundraisers that end soon, and summaries of what exceeded the limit on emails.
async fn queue_timed_emails(app: &App) {
    let mut ticks = every(CHECK_INTERVAL);
    let mut health = JobHealth::new(app, "reminders and summaries");
    loop {
        ticks.tick().await;
        let reminded = app.giving_notices().queue_endings().await;
        let summarized = app.notices().queue_summaries(&app.db).await;
        health.record(&reminded.and(summarized).map_err(Into::into));
    }
}

/// Sends the messages with which organizers thank donors.
async fn send_thanks(app: &App) {
    let mut ticks = every(THANKS_INTERVAL);
    let mut health = JobHealth::new(app, "thank-you emails");
    loop {
        ticks.tick().await;
        let sent = thanks::send(app.giving_notices(), &app.directory).await;
        health.record(&sent.map_err(Into::into));
    }
}

/// Compares the ledger with its anchors, and writes a new one if it grew.
async fn update_anchors(app: &App) {
    let mut ticks = every(ANCHOR_INTERVAL);
    let mut health = JobHealth::new(app, "anchors");
    loop {
        ticks.tick().await;
        health.record(&app.giving.anchors.update().await);
    }
}

/// Removes anchors that newer ones make unnecessary.
async fn thin_anchors(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "old anchors");
    loop {
        ticks.tick().await;
        health.record(&app.giving.anchors.thin().await.map(|_| ()));
    }
}

/// Compares the donations of the checkout with the ledger.
async fn check_receipts(app: &App) {
    let mut ticks = every(RECEIPTS_INTERVAL);
    let mut health = JobHealth::new(app, "receipts");
    loop {
        ticks.tick().await;
        let check = giving::check::check_receipts(&app.db).await;
        if let Ok(check) = &check {
            let differences = &app.telemetry.metrics.receipt_differences;
            differences.set(check.count as f64);
            if let [first, ..] = check.differences.as_slice() {
                let differences = check.count;
                tracing::error!(
                    differences,
                    first,
                    "receipts differ from the ledger; run causeway check"
                );
            }
        }
        health.record(&check.map(drop).map_err(Into::into));
    }
}

async fn prune_outbox(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "outbox");
    loop {
        ticks.tick().await;
        let pruned = outbox::prune(&app.db, app.config.outbox, app.clock.millis()).await;
        if let Ok(events @ 1..) = pruned {
            tracing::info!(events, "removed old events from the outbox");
        }
        health.record(&pruned.map(|_| ()).map_err(Into::into));
    }
}

/// Removes the tokens of old revisions.
async fn prune_revision_tokens(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "revision tokens");
    loop {
        ticks.tick().await;
        let pruned = app.db.prune_revision_tokens().await;
        health.record(&pruned.map(|_| ()).map_err(Into::into));
    }
}

/// Settles payments that the provider has completed but that are not in the ledger, because the server stopped.
async fn settle_payments(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "payments");
    loop {
        ticks.tick().await;
        health.record(&app.settlement().settle_pending().await.map_err(Into::into));
    }
}

/// Asks Stripe about payments whose outcome no event has told, and handles events again that could not be handled.
async fn check_payments(app: &App) {
    let Some(payments) = app.payments() else {
        return;
    };
    let mut ticks = every(CHECK_INTERVAL);
    let mut health = JobHealth::new(app, "payments at Stripe");
    loop {
        ticks.tick().await;
        let handled = payments.handle_open_events().await;
        let checked = payments.sweep().await;
        health.record(&handled.and(checked).map_err(Into::into));
    }
}

/// Compares the ledger with Stripe's balance transactions once a day. Of several servers, the first does.
async fn reconcile_payments(app: &App) {
    let Some(payments) = app.payments() else {
        return;
    };
    let livemode = !payments.mode.is_test();
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "reconciliation");
    loop {
        ticks.tick().await;
        let last = payment_store::find_last_reconciliation(&app.db, livemode).await;
        let outcome = match last {
            Ok(last) if last.is_some_and(|last| app.clock.millis() - last.finished_at < DAY_MILLIS) => Ok(()),
            Ok(_) => payments.reconcile(None, None).await.map(drop).map_err(Into::into),
            Err(error) => Err(error.into()),
        };
        health.record(&outcome);
    }
}

/// Removes what was counted about declined payments a week ago.
async fn clean_up_guard(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "declined payments");
    loop {
        ticks.tick().await;
        health.record(&app.guard().clean_up().await.map_err(Into::into));
    }
}

/// Renews monthly gifts in test mode, and sends the emails about monthly gifts that time causes.
async fn keep_monthly_gifts(app: &App) {
    let mut ticks = every(CHECK_INTERVAL);
    let mut health = JobHealth::new(app, "monthly gifts");
    loop {
        ticks.tick().await;
        let renewed = app.settlement().renew_test_gifts().await.map_err(Into::into);
        let sent = app.settlement().send_monthly_notices().await.map_err(Into::into);
        health.record(&renewed.and(sent));
    }
}

/// Collects what new entries of the books owe to nonprofits, for the metrics and the list of what needs attention.
async fn collect_owed(app: &App) {
    let mut ticks = every(CHECK_INTERVAL);
    let mut health = JobHealth::new(app, "disbursement");
    loop {
        ticks.tick().await;
        health.record(&app.disbursements().refresh_owed().await.map_err(Into::into));
    }
}

/// Queues the emails with yearly statements in January.
async fn queue_yearly_statements(app: &App) {
    if !app.config.yearly_statements {
        return;
    }
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "yearly statements");
    loop {
        ticks.tick().await;
        let queued = app.yearly_statements().queue_emails().await;
        if let Ok(emails @ 1..) = queued {
            tracing::info!(emails, "queued emails with yearly statements");
        }
        health.record(&queued.map(drop));
    }
}

/// Removes donations that were started but never paid.
async fn remove_unpaid_donations(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "unpaid donations");
    loop {
        ticks.tick().await;
        let removed = checkout::store::remove_unpaid(&app.db, app.clock.millis()).await;
        if let Ok(donations @ 1..) = removed {
            tracing::info!(donations, "removed donations that were never paid");
        }
        health.record(&removed.map(|_| ()).map_err(Into::into));
    }
}

/// Adds the events of what was written, here or by another server, and wakes those who wait for them.
async fn fan_out_events(app: &App) {
    let mut events = app.changes.follow(Topic::Events);
    let mut imports = app.changes.follow(Topic::Directory);
    let mut health = JobHealth::new(app, "events");
    loop {
        tokio::select! {
            revision = events.changed() => events.mark_handled(revision),
            revision = imports.changed() => imports.mark_handled(revision),
        }
        loop {
            let result = app.fan_out_events().await;
            let is_done = matches!(result, Ok(false));
            let has_failed = result.is_err();
            health.record(&result.map(drop).map_err(Into::into));
            if is_done {
                break;
            }
            if has_failed {
                tokio::time::sleep(app.config.directory.poll_interval).await;
            }
        }
    }
}

/// Sends what is due to webhook endpoints.
async fn send_events(app: &App) {
    let mut sender = app.event_sender();
    let mut new_events = app.giving.new_events.subscribe();
    let mut health = JobHealth::new(app, "webhooks");
    loop {
        let result = async {
            let has_more = app.giving.webhooks.continue_replays().await?;
            let due = sender.round().await?;
            Ok(if has_more { Some(0) } else { due })
        };
        let result: sqlx::Result<Option<i64>> = result.await;
        let due = result.as_ref().ok().copied().flatten();
        let due = due.map_or(MAX_SEND_PAUSE, |due| Duration::from_millis(due as u64));
        health.record(&result.map(drop).map_err(Into::into));
        tokio::select! {
            () = sender.ended() => {}
            _ = new_events.changed() => {}
            () = tokio::time::sleep(due.clamp(MIN_SEND_PAUSE, MAX_SEND_PAUSE)) => {}
        }
    }
}

/// Removes old events and deliveries.
async fn clean_up_events(app: &App) {
    let mut ticks = every(CLEANUP_INTERVAL);
    let mut health = JobHealth::new(app, "old events");
    loop {
        ticks.tick().await;
        let removed = app.giving.webhooks.clean_up().await;
        if let Ok(events @ 1..) = removed {
            tracing::info!(events, "removed old events");
        }
        health.record(&removed.map(drop).map_err(Into::into));
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Logs when a job starts to fail and when it recovers, and lists it for operators in between.
struct JobHealth<'a> {
    app: &'a App,
    job: &'static str,
    is_healthy: bool,
}

impl JobHealth<'_> {
    fn new<'a>(app: &'a App, job: &'static str) -> JobHealth<'a> {
        JobHealth {
            app,
            job,
            is_healthy: true,
        }
    }

    fn record(&mut self, result: &anyhow::Result<()>) {
        let job = self.job;
        match (result, self.is_healthy) {
            (Err(error), true) => {
                let error = format!("{error:#}");
                tracing::error!(job, error, "background job failed; the last state stays in use");
            }
            (Ok(()), false) => tracing::info!(job, "background job works again"),
            _ => {}
        }
        match (result, self.is_healthy) {
            (Err(error), _) => {
                let (error, now) = (format!("{error:#}"), self.app.clock.millis());
                self.app.telemetry.failing_jobs.add(job, error, now);
            }
            (Ok(()), false) => self.app.telemetry.failing_jobs.remove(job),
            (Ok(()), true) => {}
        }
        self.is_healthy = result.is_ok();
    }
}
