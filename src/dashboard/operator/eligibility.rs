//! Pairs of similar names that a person has to compare, and the decisions that are in force.

use crate::app::App;
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::{FormData, Layout, Page};
use access::audit::Actor;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::eligibility::Check;
use directory::eligibility::changes::NewDecision;
use directory::eligibility::store::{self, CurrentDecision, OpenPair, StandingList};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::identifier::Identifier;

const PATH: &str = "/dashboard/operator/eligibility";
/// The longest note, in characters.
const MAX_NOTE_CHARS: usize = 500;

#[derive(Template)]
#[template(path = "dashboard/operator/eligibility.html")]
struct EligibilityPage {
    layout: Layout,
    pager: Pager,
    pairs: Vec<PairRow>,
    decisions: Vec<DecisionRow>,
    /// Whether a form was sent without a note.
    lacks_note: bool,
}

/// A nonprofit next to a row of a list.
struct PairRow {
    ein: String,
    check: &'static str,
    /// Unique on the page, for labels.
    id: usize,
    name: String,
    path: String,
    legal_name: String,
    location: String,
    pair: OpenPair,
    /// Other names and addresses in the list.
    details: Vec<String>,
}

struct DecisionRow {
    ein: String,
    name: String,
    path: String,
    passes: bool,
    decision: CurrentDecision,
    decided: RelativeTime,
}

/// `GET /dashboard/operator/eligibility`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let layout = with_menu(&app, layout, &user).await?;
    Ok(Page(load(&app, layout, query.as_deref(), false).await?).into_response())
}

/// `POST /dashboard/operator/eligibility/decide`
pub async fn decide(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let (ein, check) = subject(&data)?;
    let note = data.trimmed("note").to_owned();
    if note.is_empty() || note.chars().count() > MAX_NOTE_CHARS {
        let layout = with_menu(&app, layout, &user).await?;
        let page = load(&app, layout, None, true).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, Page(page)).into_response());
    }
    let decision = NewDecision {
        ein,
        check,
        passes: data.trimmed("outcome") == "pass",
        note,
        decided_by: Some(user.username.clone()),
    };
    let decided = app
        .decide_eligibility(Actor::Account(user.account), decision)
        .await
        .map_err(failed)?;
    match decided {
        Ok(()) => Ok(Flash::EligibilityDecided.redirect(&app.site.public_url, PATH)),
        Err(_) => Ok(Flash::AlreadyDone.redirect(&app.site.public_url, PATH)),
    }
}

/// `POST /dashboard/operator/eligibility/undo`
pub async fn undo(State(app): State<App>, Operator(user): Operator, data: FormData) -> Result<Response> {
    let (ein, check) = subject(&data)?;
    let actor = Actor::Account(user.account);
    let flash = if app.undo_eligibility(actor, ein, check).await.map_err(failed)? {
        Flash::EligibilityUndone
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, PATH))
}

fn failed(error: anyhow::Error) -> Error {
    match error.downcast::<sqlx::Error>() {
        Ok(error) => error.into(),
        Err(error) => {
            tracing::error!(error = format!("{error:#}"), "could not decide eligibility");
            Error::Internal
        }
    }
}

fn subject(data: &FormData) -> Result<(Ein, Check)> {
    let ein = Ein::parse_lenient(data.trimmed("ein")).ok_or(Error::NotFound)?;
    let check = Check::find(data.trimmed("check")).ok_or(Error::NotFound)?;
    Ok((ein, check))
}

async fn load(app: &App, layout: Layout, query: Option<&str>, lacks_note: bool) -> Result<EligibilityPage> {
    let view = app.directory.view();
    let mut tx = app.db.view().await?;
    let list_page = ListPage::parse(query, store::count_open(&mut tx).await?);
    let open = store::list_open(&mut tx, PAGE_SIZE, list_page.skipped()).await?;
    let current = store::list_current(&mut tx).await?;
    drop(tx);
    let now = app.clock.millis();
    let pairs = open.into_iter().enumerate();
    let pairs = pairs
        .filter_map(|(id, pair)| PairRow::new(&view, id, pair))
        .collect();
    let decisions = current.into_iter().filter_map(|decision| {
        let ein = Ein::new(decision.ein as u32)?;
        let nonprofit = view.find(&Identifier::Ein(ein));
        Some(DecisionRow {
            name: nonprofit.map_or_else(|| ein.to_string(), |nonprofit| nonprofit.name.to_owned()),
            path: format!("/{ein}"),
            ein: ein.to_string(),
            passes: decision.outcome == "pass",
            decided: RelativeTime::new(decision.decided_at, now),
            decision,
        })
    });
    Ok(EligibilityPage {
        pager: list_page.pager(&layout, PATH, &[]),
        decisions: decisions.collect(),
        pairs,
        lacks_note,
        layout,
    })
}

impl PairRow {
    fn new(view: &View, id: usize, pair: OpenPair) -> Option<PairRow> {
        let ein = Ein::new(pair.ein as u32)?;
        let nonprofit = view.find(&Identifier::Ein(ein))?;
        Some(PairRow {
            ein: ein.to_string(),
            check: StandingList::find(&pair.list)?.check().name(),
            id,
            name: nonprofit.name.to_owned(),
            path: format!("/{}/eligibility", nonprofit.slug),
            legal_name: nonprofit.legal_name.to_owned(),
            location: nonprofit.location(),
            details: pair.details.lines().map(str::to_owned).collect(),
            pair,
        })
    }

    /// Returns whether both names are written alike.
    fn has_same_name(&self) -> bool {
        self.name.eq_ignore_ascii_case(&self.pair.name)
    }
}
