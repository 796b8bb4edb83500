//! The consent of a nonprofit to be listed, and its request to receive no donations. Both are decided by an administrator,
//! and take effect at once.

use super::claim::{LIST_PATH, name_text};
use super::found::Found;
use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::dates::format_time;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout};
use access::audit::{self, Action, Actor};
use access::claims::{Role, store as claims};
use access::consents::{self, Consent};
use access::sessions::SignedIn;
use access::takedowns;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::nonprofits::own_fields::{OwnField, store as own_fields};
use platform::db::Tx;

/// The version of the wording. It changes with every change of the wording.
const CONSENT_VERSION: &str = "2026-11-19";

/// `GET /dashboard/nonprofits/{id}/consent`
pub async fn consent_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let given = consents::store::find(&app.db, found.id).await?;
    Ok(consent_form_page(&app, &user, layout, &found, given.as_ref(), None).into_response())
}

/// `POST /dashboard/nonprofits/{id}/consent`: records the consent, or withdraws it.
pub async fn consent(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let now = app.clock.millis();
    let given = consents::store::find(&app.db, found.id).await?;
    if data.text("action") == "withdraw" {
        let mut tx = begin(&app, &user, &found).await?;
        if !consents::store::withdraw(&mut tx, found.id, now).await? {
            return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path_of(&found)));
        }
        return finish(
            &app,
            &user,
            &found,
            tx,
            (OwnField::Consent, None),
            "consent withdraw",
        )
        .await;
    }
    let t = &layout.t.claims;
    let mut form = consent_form(&layout, &found, None).with_values(&data);
    let [officer, position] = ["person", "position"].map(|name| {
        let text = name_text(&data, name);
        if text.is_none() {
            form.add_error(name, t.bad_name);
        }
        text
    });
    if data.find("authorized").is_none() {
        form.add_error("authorized", t.not_authorized);
    }
    let (Some(officer), Some(position), false) = (officer, position, form.has_errors()) else {
        return Ok(consent_form_page(&app, &user, layout, &found, given.as_ref(), Some(form)).invalid());
    };
    let mut tx = begin(&app, &user, &found).await?;
    let new = Consent {
        nonprofit: found.id,
        account: user.account,
        officer: officer.to_owned(),
        position: position.to_owned(),
        version: CONSENT_VERSION.to_owned(),
        wording: wording(&app, &layout, &found),
        given_at: now,
        withdrawn_at: None,
    };
    if !consents::store::insert(&mut tx, &new).await? {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path_of(&found)));
    }
    let change = (OwnField::Consent, Some(CONSENT_VERSION));
    finish(&app, &user, &found, tx, change, "consent give").await
}

/// `GET /dashboard/nonprofits/{id}/close`
pub async fn close_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let is_closed = takedowns::store::find(&app.db, found.id).await?.is_some();
    Ok(close_form_page(&user, layout, &found, is_closed).into_response())
}

/// `POST /dashboard/nonprofits/{id}/close`: closes giving and fundraisers for the nonprofit, or opens them again.
pub async fn close(
    State(app): State<App>,
    user: SignedIn,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let found = find_administered(&app, &user, &id).await?;
    let now = app.clock.millis();
    let mut tx = begin(&app, &user, &found).await?;
    let (is_changed, change, action) = if data.text("action") == "open" {
        let ended = takedowns::store::end(&mut tx, found.id, user.account, now).await?;
        (ended, (OwnField::Closed, None), "takedown end")
    } else {
        let reason: String = data
            .trimmed("reason")
            .chars()
            .filter(|letter| !letter.is_control() || *letter == '\n')
            .take(takedowns::MAX_REASON_CHARS)
            .collect();
        let inserted = takedowns::store::insert(&mut tx, found.id, user.account, &reason, now).await?;
        (inserted, (OwnField::Closed, Some("takedown")), "takedown request")
    };
    if !is_changed {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path_of(&found)));
    }
    finish(&app, &user, &found, tx, change, action).await
}

async fn find_administered(app: &App, user: &SignedIn, id: &str) -> Result<Found> {
    match Found::run_by(app, user, id).await? {
        (found, Role::Administrator) => Ok(found),
        (_, Role::Editor) => Err(Error::NotFound),
    }
}

/// Begins a transaction of a person who administers the nonprofit.
async fn begin(app: &App, user: &SignedIn, found: &Found) -> Result<Tx> {
    let mut tx = app.db.write().await?;
    match claims::find_role_in(&mut tx, found.id, user.account).await? {
        Some(Role::Administrator) => Ok(tx),
        _ => Err(Error::NotFound),
    }
}

/// Records the change in the directory and in the audit log, and shows it on this server at once. The others follow within
/// a second.
async fn finish(
    app: &App,
    user: &SignedIn,
    found: &Found,
    mut tx: Tx,
    change: (OwnField, Option<&str>),
    action: &'static str,
) -> Result<Response> {
    let now = app.clock.millis();
    own_fields::change(&mut tx, found.id, &[change], user.account, now).await?;
    let action = Action::new(Actor::Account(user.account), action, &found.id.to_string(), "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    if let Err(error) = app.refresh_directory().await {
        let error = format!("{error:#}");
        tracing::warn!(
            error,
            "could not refresh the directory after a change by a nonprofit"
        );
    }
    Ok(Flash::PageChanged.redirect(&app.site.public_url, &path_of(found)))
}

fn path_of(found: &Found) -> String {
    format!("{LIST_PATH}/{}", found.id)
}

/// Returns what a nonprofit consents to.
fn wording(app: &App, layout: &Layout, found: &Found) -> String {
    let values = [
        ("name", found.name.as_str()),
        ("site", app.config.site.name.as_str()),
        ("fee", &app.config.fee.to_string()),
        ("days", &app.config.disburse.max_days.to_string()),
    ];
    fill(layout.t.claims.consent_wording, &values)
}

fn consent_form(layout: &Layout, found: &Found, given: Option<&Consent>) -> Form {
    let t = &layout.t.claims;
    let action = format!("{}/consent", path_of(found));
    if given.is_some() {
        let fields = vec![Field::hidden("action", "withdraw")];
        return Form::new(action, t.consent_withdraw, fields).dangerous();
    }
    let authorized = vec![Choice::new("authorized", t.consent_authorized, "")];
    let fields = vec![
        Field::text("person", t.officer).autocomplete("name"),
        Field::text("position", t.position).autocomplete("organization-title"),
        Field::checks("authorized", t.consent_question, authorized),
    ];
    Form::new(action, t.consent_give, fields)
}

fn consent_form_page(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    found: &Found,
    given: Option<&Consent>,
    form: Option<Form>,
) -> FormPage {
    let t = &layout.t.claims;
    let lead = match given {
        Some(given) => fill(
            t.consent_given,
            &[
                ("officer", given.officer.as_str()),
                ("position", &given.position),
                ("day", &format_time(given.given_at)),
                ("version", &given.version),
                ("wording", &given.wording),
            ],
        ),
        None => wording(app, &layout, found),
    };
    let title = fill(t.consent_title, &[("name", &found.name)]);
    let form = form.unwrap_or_else(|| consent_form(&layout, found, given));
    FormPage::new(layout.with_menu(user, Tab::Nonprofits), title, form)
        .lead(lead)
        .link(path_of(found), t.back_to_nonprofit)
}

fn close_form_page(user: &SignedIn, layout: Layout, found: &Found, is_closed: bool) -> FormPage {
    let t = &layout.t.claims;
    let action = format!("{}/close", path_of(found));
    let name = [("name", found.name.as_str())];
    let (title, lead, form) = if is_closed {
        let fields = vec![Field::hidden("action", "open")];
        (t.open_title, t.open_lead, Form::new(action, t.open_again, fields))
    } else {
        let fields = vec![Field::area("reason", t.close_reason).optional()];
        let form = Form::new(action, t.close, fields).dangerous();
        (t.close_title, t.close_lead, form)
    };
    FormPage::new(layout.with_menu(user, Tab::Nonprofits), fill(title, &name), form)
        .lead(fill(lead, &name))
        .link(path_of(found), t.back_to_nonprofit)
}
