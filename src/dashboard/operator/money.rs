//! The money page: the last reconciliation, what does not match, disputes, slow payments, and the balances of the books.

use crate::app::App;
use crate::dashboard::operator::list::with_times;
use crate::dashboard::operator::names::name_of;
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::stripe_links::object_url;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{MoneyTexts, fill};
use crate::web::{FormData, Layout, Page};
use access::audit::{self, Action, Actor};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use giving::books::sums::AccountSums;
use giving::checkout::{self, Donation};
use giving::guard::{self, store::GuardSums};
use giving::ledger::entry::Mode;
use giving::moderation::MAX_REASON_CHARS;
use giving::payments::differences::{DifferenceKind, ListedDifference};
use giving::payments::store::{self, DisputeRow, Reconciliation};
use jiff::Timestamp;
use platform::ids::NonprofitId;

/// Where this page is.
pub(super) const PATH: &str = "/dashboard/operator/money";
const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// Bank debits take up to four business days.
const LONG_PROCESSING: i64 = 7 * DAY;
/// A paid donation is entered at once, or by a job that runs every few minutes.
const LONG_PENDING: i64 = 10 * MINUTE;

#[derive(Template)]
#[template(path = "dashboard/operator/money.html")]
struct MoneyPage {
    layout: Layout,
    is_test: bool,
    last: Option<LastReconciliation>,
    differences: Vec<DifferenceView>,
    disputes: Vec<DisputeView>,
    /// Payments that take longer than usual, and when they were started.
    slow: Vec<(Donation, RelativeTime)>,
    declined: DeclinedView,
    sums: AccountSums,
}

/// Declined payments of the last day, and what was done about them.
struct DeclinedView {
    sums: GuardSums,
    /// The nonprofits with the most declined payments.
    nonprofits: Vec<(NonprofitId, String, i64)>,
}

impl DeclinedView {
    async fn load(app: &App) -> Result<DeclinedView> {
        let since = app.clock.millis() - DAY;
        let mut nonprofits = Vec::new();
        for (id, declined) in guard::store::list_nonprofits(&app.db, since).await? {
            nonprofits.push((id, name_of(app, id).await?, declined));
        }
        Ok(DeclinedView {
            sums: guard::store::sum(&app.db, since).await?,
            nonprofits,
        })
    }
}

struct LastReconciliation {
    result: Reconciliation,
    period: String,
    finished: RelativeTime,
}

struct DifferenceView {
    listed: ListedDifference,
    kind: &'static str,
    url: String,
    found: RelativeTime,
    /// Whether an operator can explain it. The balance follows from the other differences.
    can_be_explained: bool,
    /// What the operator typed, if that was not accepted.
    note: String,
    error: Option<&'static str>,
}

/// A dispute or an inquiry, for the operator.
pub(super) struct DisputeView {
    pub row: DisputeRow,
    pub kind: &'static str,
    pub is_inquiry: bool,
    /// Why the donor's bank asks, in words.
    pub reason: String,
    pub needs_response: bool,
    pub due_by: Option<String>,
    pub url: String,
    pub opened: RelativeTime,
}

/// An explanation that was not accepted: the object it is about, and what was typed.
struct RefusedNote {
    object: String,
    note: String,
}

/// `GET /dashboard/operator/money`
pub async fn overview(State(app): State<App>, Operator(user): Operator, layout: Layout) -> Result<Response> {
    show(&app, &user, layout, None).await
}

/// `POST /dashboard/operator/money/{id}/explain`
pub async fn explain(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(object): PathText,
    data: FormData,
) -> Result<Response> {
    let payments = app.payments().ok_or(Error::NotFound)?;
    let listed = store::find_differences(&app.db, &object).await?;
    if listed.iter().any(|listed| !can_be_explained(listed)) {
        return Err(Error::NotFound);
    }
    let note = data.trimmed("note");
    let is_valid = (1..=MAX_REASON_CHARS).contains(&note.chars().count()) && !note.contains(char::is_control);
    if !is_valid {
        let note = note.to_owned();
        let page = show(&app, &user, layout, Some(RefusedNote { object, note })).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let flash = if payments.explain(&object, note).await? {
        let action = Action::new(Actor::Account(user.account), "payment explain", &object, note);
        audit::store::record_alone(&app.db, &action, app.clock.millis()).await?;
        Flash::DifferenceExplained
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    mut refused: Option<RefusedNote>,
) -> Result<Response> {
    let payments = app.payments().ok_or(Error::NotFound)?;
    let (t, now, mode) = (&layout.t.money, app.clock.millis(), payments.mode);
    let last = store::find_last_reconciliation(&app.db, !mode.is_test()).await?;
    let last = last.map(|result| LastReconciliation {
        period: period(app, t, &result),
        finished: RelativeTime::new(result.finished_at, now),
        result,
    });
    let mut differences = Vec::new();
    for listed in store::list_differences(&app.db).await? {
        let refused = refused.take_if(|refused| refused.object == listed.difference.object);
        differences.push(DifferenceView {
            kind: kind_text(t, listed.difference.kind),
            url: object_url(&listed.difference.object, listed.difference.livemode),
            found: RelativeTime::new(listed.found_at, now),
            can_be_explained: can_be_explained(&listed),
            error: refused.as_ref().map(|_| t.invalid_note),
            note: refused.map(|refused| refused.note).unwrap_or_default(),
            listed,
        });
    }
    let disputes = store::list_open_disputes(&app.db).await?.into_iter();
    let mut slow = Vec::new();
    for (state, age) in [
        (checkout::State::Processing, LONG_PROCESSING),
        (checkout::State::Pending, LONG_PENDING),
    ] {
        slow.extend(checkout::store::list_waiting(&app.db, state, now - age).await?);
    }
    let page = MoneyPage {
        is_test: mode.is_test(),
        last,
        differences,
        disputes: disputes.map(|row| DisputeView::new(app, t, row, mode)).collect(),
        slow: with_times(slow.into_iter(), now, |donation| donation.started_at),
        declined: DeclinedView::load(app).await?,
        sums: AccountSums::find(&app.db, &app.secret, mode).await?,
        layout: with_menu(app, layout, user).await?,
    };
    Ok(Page(page).into_response())
}

fn can_be_explained(listed: &ListedDifference) -> bool {
    listed.difference.kind != DifferenceKind::Balance
}

/// Returns a day in the time zone of the operator, such as `November 16, 2026`.
pub(super) fn day(app: &App, seconds: i64) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    let time = time.to_zoned(app.config.time_zone.clone());
    time.strftime("%B %-d, %Y").to_string()
}

/// Returns the period of a comparison in words.
fn period(app: &App, t: &MoneyTexts, result: &Reconciliation) -> String {
    let until = day(app, result.until);
    if result.since > 0 {
        fill(
            t.period_range,
            &[("since", &day(app, result.since)), ("until", &until)],
        )
    } else {
        fill(t.from_the_start, &[("until", &until)])
    }
}

fn kind_text(t: &MoneyTexts, kind: DifferenceKind) -> &'static str {
    match kind {
        DifferenceKind::NoDonation => t.no_donation,
        DifferenceKind::Amount => t.other_amount,
        DifferenceKind::SecondCharge => t.second_charge,
        DifferenceKind::Unknown => t.unknown_transaction,
        DifferenceKind::Entry => t.other_entry,
        DifferenceKind::NoTransaction => t.no_transaction,
        DifferenceKind::Balance => t.balance,
    }
}

impl DisputeView {
    pub(super) fn new(app: &App, t: &MoneyTexts, row: DisputeRow, mode: Mode) -> DisputeView {
        let is_inquiry = row.status.starts_with("warning_");
        let needs_response = row.status.ends_with("needs_response");
        DisputeView {
            kind: if is_inquiry { t.inquiry } else { t.dispute },
            is_inquiry,
            reason: row.reason.replace('_', " "),
            needs_response,
            due_by: row
                .due_by
                .filter(|_| needs_response)
                .map(|seconds| day(app, seconds)),
            url: object_url(&row.id, !mode.is_test()),
            opened: RelativeTime::new(row.opened_at, app.clock.millis()),
            row,
        }
    }

    /// Returns what happens next, in words.
    pub(super) fn status(&self, t: &MoneyTexts) -> String {
        match self.row.status.as_str() {
            _ if self.needs_response => t.needs_response.to_owned(),
            "under_review" | "warning_under_review" => t.under_review.to_owned(),
            status => status.replace('_', " "),
        }
    }
}
