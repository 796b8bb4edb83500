//! The fundraisers for a nonprofit: who may create one, and approving or declining them.

use super::claim::LIST_PATH;
use super::found::Found;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Page};
use access::audit::{self, Action, Actor};
use access::claims::{Role, store as claims};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::fundraisers::moderate::Decision;
use giving::fundraisers::nonprofit_rules::{NonprofitRule, store as rules};
use giving::fundraisers::review::Review;
use giving::fundraisers::store::{self, FundraiserSummary};
use platform::ids::FundraiserId;
use uuid::Uuid;

/// The fundraisers that the page lists of each kind.
const MAX_LISTED: i64 = 100;

#[derive(Template)]
#[template(path = "dashboard/nonprofits/fundraisers.html")]
struct FundraisersPage {
    layout: Layout,
    title: String,
    path: String,
    rule: Form,
    waiting: Vec<FundraiserSummary>,
    /// Whether the nonprofit alone approves them.
    can_approve: bool,
    published: Vec<FundraiserSummary>,
    /// The path of the public page of the nonprofit.
    public_path: String,
}

/// `GET /dashboard/nonprofits/{id}/fundraisers`
pub async fn list(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let t = &layout.t.claims;
    let path = format!("{LIST_PATH}/{}/fundraisers", found.id);
    let choices = vec![
        Choice::new("open", t.rule_open, ""),
        Choice::new("approve", t.rule_approve, t.rule_approve_hint),
        Choice::new("decline", t.rule_decline, t.rule_decline_hint),
    ];
    let rule = rules::find(&app.db, found.id).await?;
    let rule = Field::choice("rule", t.rule, choices).value(rule.as_str());
    let mut published = store::list_of_nonprofit(&app.db, found.id, MAX_LISTED).await?;
    // Those for several nonprofits are not for this one to decline.
    published.retain(|fundraiser| fundraiser.nonprofit == found.id);
    let page = FundraisersPage {
        title: fill(t.fundraisers_title, &[("name", &found.name)]),
        rule: Form::new(path.clone(), t.save, vec![rule]),
        waiting: store::list_to_approve(&app.db, found.id, MAX_LISTED).await?,
        can_approve: app.config.fundraisers.review == Review::Off,
        published,
        public_path: found.path,
        layout: layout.with_menu(&user, Tab::Nonprofits),
        path,
    };
    Ok(Page(page).into_response())
}

/// `POST /dashboard/nonprofits/{id}/fundraisers`: sets the rule, or approves or declines a fundraiser.
pub async fn decide(
    State(app): State<App>,
    user: SignedIn,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let path = format!("{LIST_PATH}/{}/fundraisers", found.id);
    let is_changed = match data.find("fundraiser") {
        Some(fundraiser) => decide_one(&app, &user, &found, fundraiser, data.text("action")).await?,
        None => set_rule(&app, &user, &found, data.text("rule")).await?,
    };
    let flash = if is_changed {
        Flash::FundraiserDecided
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &path))
}

async fn decide_one(app: &App, user: &SignedIn, found: &Found, id: &str, action: &str) -> Result<bool> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let fundraiser = store::find(&app.db, FundraiserId(id)).await?;
    let fundraiser = fundraiser.filter(|fundraiser| fundraiser.nonprofit == found.id);
    let fundraiser = fundraiser.ok_or(Error::NotFound)?;
    // If operators review fundraisers too, the approval is theirs.
    let may_approve = app.config.fundraisers.review == Review::Off;
    let decision = match action {
        "approve" if may_approve => Decision::Approve,
        "decline" => Decision::Decline,
        _ => return Err(Error::NotFound),
    };
    let actor = Actor::Account(user.account);
    let decided = app.moderation().decide(fundraiser.id, decision, actor).await?;
    Ok(decided.before != decided.after)
}

async fn set_rule(app: &App, user: &SignedIn, found: &Found, name: &str) -> Result<bool> {
    let rule = NonprofitRule::find(name).ok_or(Error::NotFound)?;
    let now = app.clock.millis();
    let mut tx = app.db.write().await?;
    if claims::find_role_in(&mut tx, found.id, user.account).await? != Some(Role::Administrator) {
        return Err(Error::NotFound);
    }
    if !rules::set(&mut tx, found.id, rule, now).await? {
        return Ok(false);
    }
    let actor = Actor::Account(user.account);
    let action = Action::new(
        actor,
        "nonprofit fundraisers",
        &found.id.to_string(),
        rule.as_str(),
    );
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

async fn find_administered(app: &App, user: &SignedIn, id: &str) -> Result<Found> {
    match Found::run_by(app, user, id).await? {
        (found, Role::Administrator) => Ok(found),
        (_, Role::Editor) => Err(Error::NotFound),
    }
}
