//! The proof of a fundraiser's total: the entries of the ledger that it is the sum of.

use crate::app::App;
use crate::http::error::Result;
use crate::http::params::PathPair;
use crate::site::find::redirect_permanently;
use crate::site::fundraiser_links::{find, path_of};
use crate::web::dates::format_time;
use crate::web::texts::{ProofTexts, fill};
use crate::web::{Layout, Meta, PublicPage, Section};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use giving::fundraisers::Fundraiser;
use giving::ledger::entry::{Entry, Kind, Mode};
use giving::ledger::store as ledger;
use platform::money::Cents;
use platform::text::hex;

/// The number of entries that the page lists.
const MAX_ENTRIES: usize = 200;

#[derive(Template)]
#[template(path = "site/fundraiser_proof.html")]
struct ProofPage {
    layout: Layout,
    meta: Meta,
    title: String,
    path: String,
    is_test_mode: bool,
    total: String,
    sum: String,
    count: i64,
    matches: bool,
    has_offline: bool,
    entries: Vec<Row>,
}

/// An entry of the ledger.
struct Row {
    number: i64,
    date: String,
    kind: &'static str,
    is_test: bool,
    amount: String,
    hash: String,
}

/// `GET /{nonprofit}/f/{fundraiser}/proof`
pub async fn proof(
    State(app): State<App>,
    PathPair(nonprofit, name): PathPair,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let shown = find(&app.directory, &app.giving.fundraisers, &nonprofit, &name).await?;
    let path = path_of(&app.directory, &shown.fundraiser).await?;
    if path != giving::fundraisers::path(&nonprofit, &name) {
        return Ok(redirect_permanently(&format!("{path}/proof"), query.as_deref()));
    }
    let layout = Layout::new(Section::Fundraisers);
    let t = &layout.f.proof;
    let (id, modes) = (shown.fundraiser.id, Mode::counted(app.is_test_mode()));
    let entries = ledger::list_entries_of(&app.db, id, modes, MAX_ENTRIES).await?;
    let mut sums = Sums::read(&app, &shown.fundraiser).await?;
    if !sums.match_total() {
        // A donation in between must not look like a difference.
        let shown = find(&app.directory, &app.giving.fundraisers, &nonprofit, &name).await?;
        sums = Sums::read(&app, &shown.fundraiser).await?;
    }
    let title = fill(t.title, &[("title", &shown.fundraiser.title)]);
    let page = ProofPage {
        meta: Meta::new(
            &layout,
            &title,
            t.lead,
            app.site.urls.page(&format!("{path}/proof")),
        )
        .noindex(),
        title,
        path,
        is_test_mode: app.is_test_mode(),
        total: sums.total.to_string(),
        sum: sums.sum.to_string(),
        count: sums.count,
        matches: sums.match_total(),
        has_offline: entries.iter().any(|entry| entry.draft.kind == Kind::Offline),
        entries: entries.iter().map(|entry| Row::new(entry, t)).collect(),
        layout,
    };
    Ok(PublicPage(page).into_response())
}

/// The verified total of a fundraiser, and what the ledger says about it.
struct Sums {
    total: Cents,
    sum: Cents,
    count: i64,
}

impl Sums {
    async fn read(app: &App, fundraiser: &Fundraiser) -> Result<Sums> {
        let (id, is_test_mode) = (fundraiser.id, app.is_test_mode());
        let (count, sum) = ledger::sum_donations(&app.db, id, Mode::counted(is_test_mode)).await?;
        let totals = ledger::find_totals(&app.db, id).await?;
        Ok(Sums {
            total: fundraiser.verified(totals.counted(is_test_mode)).raised,
            sum,
            count,
        })
    }

    fn match_total(&self) -> bool {
        self.total == self.sum
    }
}

impl Row {
    fn new(entry: &Entry, t: &ProofTexts) -> Row {
        Row {
            number: entry.sequence,
            date: format_time(entry.draft.recorded_at),
            kind: match entry.draft.kind {
                Kind::Donation => t.donation,
                Kind::Refund => t.refund,
                Kind::Offline => t.offline,
                Kind::Dispute => t.dispute,
                Kind::DisputeWon => t.dispute_won,
                Kind::RefundFailed => t.refund_failed,
                // These have no fundraiser, so none is listed here.
                Kind::Settlement
                | Kind::Payout
                | Kind::Disbursement
                | Kind::DisbursementReturned
                | Kind::Reassignment => "",
            },
            is_test: entry.draft.mode.is_test(),
            amount: entry.draft.amount.to_string(),
            hash: hex(&entry.hash),
        }
    }
}
