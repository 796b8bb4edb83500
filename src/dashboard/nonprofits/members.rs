//! The nonprofits of a person, and who runs the page of one.

use super::claim::{LIST_PATH, state_text};
use super::found::{Found, name_of};
use crate::app::App;
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::web::form::Choice;
use crate::web::layout::Tab;
use crate::web::relative_time::RelativeTime;
use crate::web::texts::ClaimTexts;
use crate::web::{Field, Form, Layout, Page};
use access::claims::store::{self, ClaimLink};
use access::claims::{ClaimState, INVITATION_LIFETIME, Role};
use access::sessions::SignedIn;
use access::takedowns::store as takedowns;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

#[derive(Template)]
#[template(path = "dashboard/nonprofits/list.html")]
struct ListPage {
    layout: Layout,
    rows: Vec<ClaimRow>,
}

/// A claim of the person.
struct ClaimRow {
    name: String,
    path: String,
    state: &'static str,
    is_approved: bool,
    created: RelativeTime,
}

#[derive(Template)]
#[template(path = "dashboard/nonprofits/manage.html")]
struct ManagePage {
    layout: Layout,
    found: Found,
    /// The path of this page.
    path: String,
    members: Vec<MemberRow>,
    /// The claim of the person.
    claim_path: String,
    invitations: Vec<(ClaimLink, &'static str, RelativeTime)>,
    /// Whether it receives no donations, at its own request.
    is_closed: bool,
    /// Only for administrators.
    invite: Option<Form>,
}

/// Someone who runs the page.
struct MemberRow {
    username: String,
    person: String,
    position: String,
    role: &'static str,
    since: RelativeTime,
}

/// `GET /dashboard/nonprofits`
pub async fn list(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let now = app.clock.millis();
    let mut rows = Vec::new();
    for claim in store::list_of_account(&app.db, user.account).await? {
        let is_approved = claim.state == ClaimState::Approved;
        rows.push(ClaimRow {
            name: name_of(&app, claim.nonprofit).await?,
            path: if is_approved {
                format!("{LIST_PATH}/{}", claim.nonprofit)
            } else {
                format!("{LIST_PATH}/claims/{}", claim.id)
            },
            state: state_text(&claim, &layout.t.claims),
            is_approved,
            created: RelativeTime::new(claim.created_at, now),
        });
    }
    let layout = layout.with_menu(&user, Tab::Nonprofits);
    Ok(Page(ListPage { layout, rows }).into_response())
}

/// `GET /dashboard/nonprofits/{id}`
pub async fn manage(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let form = invite_form(&layout.t.claims, &id);
    show(&app, &user, layout, &id, form, StatusCode::OK).await
}

/// Shows the page, with the form for invitations.
pub(super) async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    id: &str,
    form: Form,
    status: StatusCode,
) -> Result<Response> {
    let (found, role) = Found::run_by(app, user, id).await?;
    let (t, now) = (&layout.t.claims, app.clock.millis());
    let claims = store::list_members(&app.db, found.id).await?;
    let own = claims.iter().find(|claim| claim.account == user.account);
    let claim_path = own.map(|claim| format!("{LIST_PATH}/claims/{}", claim.id));
    let is_administrator = role == Role::Administrator;
    let oldest = now - INVITATION_LIFETIME.as_millis() as i64;
    let invitations = if is_administrator {
        store::list_invitations(&app.db, found.id, oldest).await?
    } else {
        Vec::new()
    };
    let page = ManagePage {
        path: format!("{LIST_PATH}/{}", found.id),
        members: claims
            .into_iter()
            .map(|claim| MemberRow {
                role: role_text(claim.role, t),
                since: RelativeTime::new(claim.decided_at.unwrap_or(claim.created_at), now),
                username: claim.username,
                person: claim.person,
                position: claim.position,
            })
            .collect(),
        claim_path: claim_path.unwrap_or_else(|| LIST_PATH.to_owned()),
        invitations: invitations
            .into_iter()
            .map(|link| {
                let role = role_text(link.role.unwrap_or(Role::Editor), t);
                let created = RelativeTime::new(link.created_at, now);
                (link, role, created)
            })
            .collect(),
        is_closed: takedowns::find(&app.db, found.id).await?.is_some(),
        invite: is_administrator.then_some(form),
        layout: layout.with_menu(user, Tab::Nonprofits),
        found,
    };
    Ok((status, Page(page)).into_response())
}

/// Returns the name of a role.
pub(super) fn role_text(role: Role, t: &ClaimTexts) -> &'static str {
    match role {
        Role::Administrator => t.administrator,
        Role::Editor => t.editor,
    }
}

/// Returns the form for an invitation.
pub(super) fn invite_form(t: &ClaimTexts, id: &str) -> Form {
    let choices = vec![
        Choice::new("editor", t.editor, t.editor_hint),
        Choice::new("administrator", t.administrator, t.administrator_hint),
    ];
    let fields = vec![
        Field::email("email", t.invite_email),
        Field::choice("role", t.role, choices),
    ];
    Form::new(format!("{LIST_PATH}/{id}/invite"), t.invite, fields)
}
