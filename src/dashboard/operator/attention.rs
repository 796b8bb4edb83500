//! What needs the attention of an operator.

use crate::app::App;
use crate::dashboard::operator::{disburse, money, monthly, payees, webhooks};
use crate::http::error::Result;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{AttentionTexts, fill};
use access::claims::store as claims;
use directory::eligibility::{Check, store as eligibility};
use directory::history::imports::store as imports;
use giving::checkout::store as checkout;
use giving::disbursement::batches::store as batches;
use giving::fundraisers::store::{self as fundraisers, Listing};
use giving::guard;
use giving::monthly::store as monthly_gifts;
use giving::payments::store as payments;
use giving::providers::stripe;
use giving::reports;
use giving::webhooks::endpoints::store as endpoints;
use giving::webhooks::schedule::Status;
use platform::disk_space::{DiskSpace, SpaceLevel};
use platform::mail;
use std::time::Duration;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// The IRS publishes new files every month.
const OLD_IMPORT: i64 = 45 * DAY;
/// A mail server that is restarted is not worth mentioning.
const LONG_WAIT: i64 = 60 * MINUTE;
/// Anchors are written every minute.
const OLD_ANCHOR: Duration = Duration::from_mins(10);
/// The kind of the imports that the IRS publishes every month.
const IRS: &str = "irs";

/// Something that needs attention.
#[derive(Debug)]
pub struct Attention {
    pub severity: Severity,
    pub text: String,
    /// When it happened or began.
    pub when: Option<RelativeTime>,
    /// More about it, such as the message of an error.
    pub detail: Option<String>,
    /// The page on which something can be done.
    pub path: Option<&'static str>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something is broken.
    Problem,
    /// Something waits for an operator, or will break.
    Warning,
}

impl Severity {
    /// Returns the CSS class of the badge.
    pub const fn badge(self) -> &'static str {
        match self {
            Severity::Problem => "badge badge-bad",
            Severity::Warning => "badge badge-warn",
        }
    }

    pub const fn text(self, t: &AttentionTexts) -> &'static str {
        match self {
            Severity::Problem => t.problem,
            Severity::Warning => t.waiting,
        }
    }
}

impl Attention {
    fn new(severity: Severity, text: impl Into<String>) -> Attention {
        Attention {
            severity,
            text: text.into(),
            when: None,
            detail: None,
            path: None,
        }
    }

    fn counted(severity: Severity, text: &str, count: i64) -> Attention {
        Attention::new(severity, fill(text, &[("count", &count.to_string())]))
    }

    fn path(mut self, path: &'static str) -> Attention {
        self.path = Some(path);
        self
    }

    fn when(mut self, at: i64, now: i64) -> Attention {
        self.when = Some(RelativeTime::new(at, now));
        self
    }

    fn detail(mut self, detail: impl Into<String>) -> Attention {
        self.detail = Some(detail.into());
        self
    }
}

/// Lists what needs attention, the worst first.
pub async fn list(app: &App, t: &AttentionTexts) -> Result<Vec<Attention>> {
    let mut found = list_anchors(app, t);
    found.extend(measure_disk(app, t).await);
    found.extend(list_jobs(app, t));
    found.extend(list_imports(app, t).await?);
    found.extend(list_emails(app, t).await?);
    found.extend(list_payments(app, t).await?);
    found.extend(list_disbursement(app, t).await?);
    found.extend(list_webhooks(app, t).await?);
    let claims = claims::count_waiting(&app.db).await?;
    if claims > 0 {
        let item = Attention::counted(Severity::Warning, t.claims, claims);
        found.push(item.path("/dashboard/operator/claims"));
    }
    let reports = reports::store::count(&app.db, false).await?;
    if reports > 0 {
        let item = Attention::counted(Severity::Warning, t.reports, reports);
        found.push(item.path("/dashboard/operator/reports"));
    }
    let outdated = app.directory.view().standings.outdated(app.clock.millis());
    if !outdated.is_empty() {
        let names: Vec<&str> = outdated.into_iter().map(Check::name).collect();
        let text = fill(t.outdated_lists, &[("checks", &names.join(", "))]);
        found.push(Attention::new(Severity::Problem, text).detail(t.outdated_lists_remedy));
    }
    let pairs = eligibility::count_open(&mut app.db.view().await?).await?;
    if pairs > 0 {
        let item = Attention::counted(Severity::Warning, t.pairs, pairs);
        found.push(item.path("/dashboard/operator/eligibility"));
    }
    let reviews = fundraisers::count(&app.db, Listing::InReview).await?;
    if reviews > 0 {
        let item = Attention::counted(Severity::Warning, t.reviews, reviews);
        found.push(item.path("/dashboard/operator/fundraisers"));
    }
    found.sort_by_key(|item| item.severity);
    Ok(found)
}

fn list_anchors(app: &App, t: &AttentionTexts) -> Vec<Attention> {
    let (status, mut found) = (app.giving.anchors.status(), Vec::new());
    if status.missing > 0 {
        let item = Attention::counted(Severity::Problem, t.missing_entries, status.missing);
        found.push(item.detail(t.missing_entries_remedy));
    }
    if status.failing_places > 0 {
        let item = Attention::counted(Severity::Problem, t.lost_anchors, status.failing_places as i64);
        found.push(item.detail(t.lost_anchors_remedy));
    }
    if status.age > OLD_ANCHOR {
        let minutes = (status.age.as_secs() / 60).to_string();
        let text = fill(t.old_anchor, &[("minutes", &minutes)]);
        found.push(Attention::new(Severity::Problem, text).detail(t.old_anchor_remedy));
    }
    found
}

async fn measure_disk(app: &App, t: &AttentionTexts) -> Option<Attention> {
    let folder = app.config.data.clone();
    let measured = tokio::task::spawn_blocking(move || DiskSpace::measure(&folder)).await;
    let space = measured.ok()?.ok()?;
    let severity = match space.level() {
        SpaceLevel::Enough => return None,
        SpaceLevel::Low => Severity::Warning,
        SpaceLevel::Critical => Severity::Problem,
    };
    let text = fill(t.disk, &[("space", &space.to_string())]);
    Some(Attention::new(severity, text))
}

/// Lists the background jobs that fail, and the requests that failed in the last day, on this server.
fn list_jobs(app: &App, t: &AttentionTexts) -> Vec<Attention> {
    let now = app.clock.millis();
    let jobs = app.telemetry.failing_jobs.list().into_iter().map(|failing| {
        let text = fill(t.job, &[("job", failing.job)]);
        let item = Attention::new(Severity::Problem, text);
        item.when(failing.since, now).detail(failing.error)
    });
    let mut found: Vec<Attention> = jobs.collect();
    let errors = app.telemetry.recent_errors.list();
    let errors: Vec<_> = errors.iter().filter(|failed| failed.at > now - DAY).collect();
    if let Some(last) = errors.first() {
        let item = Attention::counted(Severity::Problem, t.errors, errors.len() as i64);
        found.push(item.when(last.at, now).path("/dashboard/operator/errors"));
    }
    found
}

async fn list_imports(app: &App, t: &AttentionTexts) -> Result<Vec<Attention>> {
    let now = app.clock.millis();
    let failed = imports::list_failures(&app.db).await?.into_iter().map(|failure| {
        let text = fill(t.import_failed, &[("command", &failure.command)]);
        let item = Attention::new(Severity::Problem, text).when(failure.failed_at, now);
        item.detail(failure.error).path("/dashboard/operator/imports")
    });
    let mut found: Vec<Attention> = failed.collect();
    let last = imports::find_last_of(&app.db, IRS).await?;
    if let Some(at) = last.filter(|at| *at < now - OLD_IMPORT) {
        let item = Attention::new(Severity::Warning, t.import_old).when(at, now);
        found.push(item.path("/dashboard/operator/imports"));
    }
    Ok(found)
}

/// Lists monthly gifts without a recipient, what Stripe and the ledger say differently, and the disputes that need a response.
async fn list_payments(app: &App, t: &AttentionTexts) -> Result<Vec<Attention>> {
    let mut found = Vec::new();
    let without_recipient = monthly_gifts::count_without_recipient(&app.db).await?;
    if without_recipient > 0 {
        let item = Attention::counted(Severity::Warning, t.no_recipient, without_recipient);
        found.push(item.detail(t.no_recipient_about).path(monthly::PATH));
    }
    if app.payments().is_none() {
        let unwatched = checkout::count_to_check(&app.db, stripe::NAME).await?;
        if unwatched > 0 {
            let item = Attention::counted(Severity::Problem, t.unwatched, unwatched);
            found.push(item.detail(t.unwatched_remedy));
        }
        return Ok(found);
    }
    let now = app.clock.millis();
    let sums = guard::store::sum(&app.db, now - 60 * MINUTE).await?;
    let worst = guard::store::list_nonprofits(&app.db, now - 60 * MINUTE).await?;
    let of_one = worst.first().map_or(0, |(_, declined)| *declined);
    let caps = app.config.guard;
    if of_one >= i64::from(caps.per_nonprofit) || sums.declined >= i64::from(caps.in_all) {
        let item = Attention::counted(Severity::Problem, t.card_testing, sums.declined);
        let passed = (sums.by_proof + sums.by_email).to_string();
        let detail = [("held", sums.asked.to_string()), ("passed", passed)];
        let detail = detail.each_ref().map(|(name, value)| (*name, value.as_str()));
        found.push(
            item.detail(fill(t.card_testing_detail, &detail))
                .path(money::PATH),
        );
    }
    let open = payments::find_open(&app.db).await?;
    if open.differences > 0 {
        let (count, amount) = (open.differences.to_string(), open.unreconciled.to_string());
        let text = fill(t.differences, &[("count", &count), ("amount", &amount)]);
        found.push(Attention::new(Severity::Problem, text).path(money::PATH));
    }
    if open.unanswered_disputes > 0 {
        let mut item = Attention::counted(Severity::Warning, t.disputes, open.unanswered_disputes);
        if let Some(due_by) = open.first_due_by {
            item = item.detail(fill(t.disputes_due, &[("date", &money::day(app, due_by))]));
        }
        found.push(item.path(money::PATH));
    }
    Ok(found)
}

/// Lists batches that wait, donations that wait too long, and payees that were changed.
async fn list_disbursement(app: &App, t: &AttentionTexts) -> Result<Vec<Attention>> {
    let (now, mut found) = (app.clock.millis(), Vec::new());
    let (drafts, approved) = batches::count_waiting(&app.db).await?;
    for (count, text) in [(drafts, t.drafts), (approved, t.batches_approved)] {
        if count > 0 {
            found.push(Attention::counted(Severity::Warning, text, count).path(disburse::PATH));
        }
    }
    let held = batches::count_held_payees(&app.db, now).await?;
    if held > 0 {
        let item = Attention::counted(Severity::Warning, t.held_payees, held);
        found.push(item.detail(t.held_payees_about).path(payees::PATH));
    }
    let disbursements = app.disbursements();
    let oldest = batches::sum_open(&app.db, disbursements.mode).await?.oldest_at;
    if let Some(at) = oldest.filter(|at| *at < now - app.config.disburse.max_millis()) {
        let days = app.config.disburse.max_days.to_string();
        let item = Attention::new(Severity::Problem, fill(t.overdue, &[("days", &days)]));
        found.push(item.when(at, now).path(disburse::PATH));
    }
    Ok(found)
}

/// Lists endpoints of partners that fail.
async fn list_webhooks(app: &App, t: &AttentionTexts) -> Result<Option<Attention>> {
    let counts = endpoints::count_by_status(&app.db).await?;
    let failing = counts
        .into_iter()
        .find(|(status, _)| status == Status::Failing.name());
    Ok(failing.map(|(_, count)| {
        Attention::counted(Severity::Warning, t.failing_webhooks, count).path(webhooks::PATH)
    }))
}

async fn list_emails(app: &App, t: &AttentionTexts) -> Result<Vec<Attention>> {
    let (status, now) = (mail::store::find_status(&app.db).await?, app.clock.millis());
    let mut found = Vec::new();
    if let Some(at) = status.oldest_failed_at {
        let item = Attention::counted(Severity::Problem, t.emails_failed, status.failed);
        found.push(item.when(at, now));
    }
    if let Some(at) = status.oldest_queued_at.filter(|at| *at < now - LONG_WAIT) {
        let item = Attention::counted(Severity::Warning, t.emails_waiting, status.waiting);
        found.push(item.when(at, now));
    }
    Ok(found)
}
