//! The claims that wait for an operator.

use crate::app::App;
use crate::dashboard::csv::cell;
use crate::dashboard::nonprofits::{document_type, filed_domain, is_shared, name_of};
use crate::dashboard::operator::list::{ListPage, PAGE_SIZE};
use crate::dashboard::operator::nav::with_menu;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::{ClaimTexts, fill};
use crate::web::{FormData, Layout, Page};
use access::accounts::store as accounts;
use access::audit::{self, Action, Actor};
use access::claims::actions::DecideOutcome;
use access::claims::domain::FiledDomain;
use access::claims::store::{self, Claim};
use access::claims::{MAX_NOTE_CHARS, Proof};
use access::consents::store as consents;
use access::takedowns::{Takedown, store as takedown_store};
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use directory::nonprofits::own_fields::{OwnField, store as own_fields};
use platform::clock::rfc3339;
use platform::ids::NonprofitId;
use std::fmt::Write;
use uuid::Uuid;

const LIST_PATH: &str = "/dashboard/operator/claims";
const CONSENTS_HEADER: &str =
    "nonprofit_id,nonprofit,officer,position,account,version,given_at,withdrawn_at,wording\r\n";

#[derive(Template)]
#[template(path = "dashboard/operator/claims.html")]
struct ClaimsPage {
    layout: Layout,
    pager: Pager,
    error: Option<&'static str>,
    rows: Vec<Row>,
    /// The nonprofits that receive no donations at their own request, with their names.
    takedowns: Vec<(Takedown, String, RelativeTime)>,
}

/// A claim with what an operator has to know.
struct Row {
    claim: Claim,
    name: String,
    created: RelativeTime,
    proven: Option<RelativeTime>,
    proof: String,
    /// What leaves doubt.
    doubts: Vec<String>,
    can_approve: bool,
}

/// `GET /dashboard/operator/claims`
pub async fn list(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let list_page = ListPage::parse(query.as_deref(), store::count_waiting(&app.db).await?);
    let claims = store::list_waiting(&app.db, PAGE_SIZE, list_page.skipped()).await?;
    let pager = list_page.pager(&layout, LIST_PATH, &[]);
    let page = ClaimsPage {
        pager,
        error: None,
        rows: rows(&app, &layout.t.claims, claims).await?,
        takedowns: takedowns(&app).await?,
        layout: with_menu(&app, layout, &user).await?,
    };
    Ok(Page(page).into_response())
}

/// `POST /dashboard/operator/claims/{id}/approve`
pub async fn approve(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let claim = find(&app, &id).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    let filed = filed_domain(&app, claim.nonprofit).await?;
    let actor = Actor::Account(user.account);
    let t = &layout.t.claims;
    let error = match app
        .claims()
        .approve(claim.id, &name, filed.as_ref(), actor)
        .await?
    {
        DecideOutcome::Done => return Ok(Flash::ClaimDecided.redirect(&app.site.public_url, LIST_PATH)),
        DecideOutcome::AlreadyDone => {
            return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, LIST_PATH));
        }
        DecideOutcome::NeedsTwoFactor => t.outcome_two_factor,
        DecideOutcome::ProofExpired => t.outcome_expired,
        DecideOutcome::NotAllowed => t.outcome_not_allowed,
    };
    let list_page = ListPage::parse(None, 1);
    let page = ClaimsPage {
        pager: list_page.pager(&layout, LIST_PATH, &[]),
        error: Some(error),
        rows: rows(&app, t, vec![claim]).await?,
        takedowns: takedowns(&app).await?,
        layout: with_menu(&app, layout, &user).await?,
    };
    Ok((StatusCode::UNPROCESSABLE_ENTITY, Page(page)).into_response())
}

/// `POST /dashboard/operator/claims/{id}/end`: rejects a claim, or revokes one that was approved.
pub async fn end(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let claim = find(&app, &id).await?;
    let name = name_of(&app, claim.nonprofit).await?;
    let reason: String = data
        .trimmed("reason")
        .chars()
        .filter(|letter| !letter.is_control() || *letter == '\n')
        .take(MAX_NOTE_CHARS)
        .collect();
    let actor = Actor::Account(user.account);
    let flash = match app.claims().end(claim.id, &name, actor, &reason).await? {
        DecideOutcome::Done => Flash::ClaimDecided,
        _ => Flash::AlreadyDone,
    };
    Ok(flash.redirect(&app.site.public_url, LIST_PATH))
}

/// `GET /dashboard/operator/claims/{id}/document`: downloads the document, which is never shown as a page of this site.
pub async fn document(
    State(app): State<App>,
    Operator(_): Operator,
    PathText(id): PathText,
) -> Result<Response> {
    let claim = find(&app, &id).await?;
    let content = app.claims().read_document(claim.id).await?;
    let content = content.ok_or(Error::NotFound)?;
    let (media_type, ending) = document_type(&content).unwrap_or(("application/octet-stream", "bin"));
    let name = format!("attachment; filename=\"claim-{}.{ending}\"", claim.username);
    let headers = [
        (CONTENT_TYPE, media_type.to_owned()),
        (CONTENT_DISPOSITION, name),
        (CACHE_CONTROL, "private, no-store".to_owned()),
    ];
    Ok((headers, content).into_response())
}

/// `GET /dashboard/operator/claims/consents.csv`: all consents, as a record for authorities.
pub async fn consents(State(app): State<App>, Operator(_): Operator) -> Result<Response> {
    let mut text = String::from(CONSENTS_HEADER);
    for consent in consents::list(&app.db).await? {
        let username = accounts::find_username(&app.db, consent.account).await?;
        let withdrawn = consent.withdrawn_at.map(rfc3339).unwrap_or_default();
        let _ = write!(
            text,
            "{},{},{},{},{},{},{},{withdrawn},{}\r\n",
            consent.nonprofit,
            cell(&name_of(&app, consent.nonprofit).await?),
            cell(&consent.officer),
            cell(&consent.position),
            cell(&username.unwrap_or_default()),
            cell(&consent.version),
            rfc3339(consent.given_at),
            cell(&consent.wording),
        );
    }
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8"),
        (CONTENT_DISPOSITION, "attachment; filename=\"consents.csv\""),
    ];
    Ok((headers, text).into_response())
}

/// `POST /dashboard/operator/claims/open-again`: lets a nonprofit receive donations again.
pub async fn open_again(
    State(app): State<App>,
    Operator(user): Operator,
    data: FormData,
) -> Result<Response> {
    let id = Uuid::try_parse(data.text("nonprofit")).map_err(|_| Error::NotFound)?;
    let (id, now) = (NonprofitId(id), app.clock.millis());
    let mut tx = app.db.write().await?;
    if !takedown_store::end(&mut tx, id, user.account, now).await? {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, LIST_PATH));
    }
    own_fields::change(&mut tx, id, &[(OwnField::Closed, None)], user.account, now).await?;
    let action = Action::new(Actor::Account(user.account), "takedown end", &id.to_string(), "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(Flash::ClaimDecided.redirect(&app.site.public_url, LIST_PATH))
}

async fn takedowns(app: &App) -> Result<Vec<(Takedown, String, RelativeTime)>> {
    let mut named = Vec::new();
    for takedown in takedown_store::list(&app.db).await? {
        let name = name_of(app, takedown.nonprofit).await?;
        let created = RelativeTime::new(takedown.created_at, app.clock.millis());
        named.push((takedown, name, created));
    }
    Ok(named)
}

async fn find(app: &App, id: &str) -> Result<Claim> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    store::find(&app.db, id).await?.ok_or(Error::NotFound)
}

async fn rows(app: &App, t: &ClaimTexts, claims: Vec<Claim>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for claim in claims {
        rows.push(row(app, t, claim).await?);
    }
    Ok(rows)
}

async fn row(app: &App, t: &ClaimTexts, claim: Claim) -> Result<Row> {
    let now = app.clock.millis();
    let mut doubts = Vec::new();
    if claim.proof != Proof::Document {
        let filed = filed_domain(app, claim.nonprofit).await?;
        if is_shared(app, claim.nonprofit, filed.as_ref()).await? {
            doubts.push(t.shared_domain.to_owned());
        }
        if filed.as_ref().is_some_and(FiledDomain::is_page) {
            doubts.push(t.page_of_domain.to_owned());
        }
        if filed.as_ref().map(FiledDomain::as_str) != claim.domain.as_deref() {
            doubts.push(t.outcome_expired.to_owned());
        }
    }
    let members = store::list_members(&app.db, claim.nonprofit).await?;
    if !members.is_empty() {
        let names: Vec<&str> = members.iter().map(|member| member.username.as_str()).collect();
        doubts.push(fill(t.other_members, &[("names", &names.join(", "))]));
    }
    let (domain, evidence) = (
        claim.domain.as_deref().unwrap_or_default(),
        claim.evidence.as_deref().unwrap_or_default(),
    );
    Ok(Row {
        name: name_of(app, claim.nonprofit).await?,
        created: RelativeTime::new(claim.created_at, now),
        proven: claim.proven_at.map(|at| RelativeTime::new(at, now)),
        proof: match claim.proof {
            Proof::Domain => fill(t.proof_domain, &[("domain", domain)]),
            Proof::Email => fill(t.proof_email_at, &[("email", evidence)]),
            Proof::Document => t.proof_document.to_owned(),
            Proof::Invitation => t.proof_invitation.to_owned(),
        },
        doubts,
        can_approve: claim.proven_at.is_some() || claim.proof == Proof::Document,
        claim,
    })
}
