//! Inviting others to run the page of a nonprofit. A link works once, for a week, and only while its sender runs the page.

use super::claim::{
    LIST_PATH, name_fields, name_text, needs_two_factor, refuse_without_second_factor, stale,
};
use super::found::{Found, name_of};
use super::members::{invite_form, role_text, show};
use crate::app::App;
use crate::dashboard::sign_in::retry_message;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::params::{self, PathText};
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::{ClaimTexts, EN, fill};
use crate::web::{Field, Form, FormData, Layout};
use access::claims::Role;
use access::claims::actions::AcceptOutcome;
use access::claims::store::ClaimLink;
use access::sessions::SignedIn;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use platform::email_address::EmailAddress;
use platform::mail::Email;

const JOIN_PATH: &str = "/dashboard/nonprofits/join";

/// `POST /dashboard/nonprofits/{id}/invite`
pub async fn send(
    State(app): State<App>,
    Client { network, .. }: Client,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let t = &layout.t.claims;
    let mut form = invite_form(t, &id).with_values(&data);
    let role = Role::find(data.text("role")).unwrap_or(Role::Editor);
    let email = EmailAddress::parse(data.text("email")).map(|email| email.normalized());
    if !app.mail.is_on() {
        form.add_form_error(t.no_emails);
    } else if let Ok(email) = &email {
        let admitted = app.access.attempts.email(email, network, app.clock.instant());
        if let Err(wait) = admitted.await {
            form.add_error("email", retry_message(&layout, wait));
        }
    } else {
        form.add_error("email", t.bad_email);
    }
    let (Ok(email), false) = (email, form.has_errors()) else {
        return show(&app, &user, layout, &id, form, StatusCode::UNPROCESSABLE_ENTITY).await;
    };
    let path = format!("{LIST_PATH}/{}", found.id);
    let invited = app.claims().invite(found.id, user.account, role, &email).await?;
    let Some(token) = invited else {
        return Ok(Flash::AlreadyDone.redirect(&app.site.public_url, &path));
    };
    let link = format!("{}{JOIN_PATH}?token={}", app.site.public_url, token.expose());
    let values = [
        ("name", found.name.as_str()),
        ("username", &user.username),
        ("site", &app.config.site.name),
        ("link", &link),
    ];
    app.mail.send(&Email::new(
        email,
        fill(EN.claims.invitation_subject, &values),
        fill(EN.claims.invitation_email, &values),
    ));
    Ok(Flash::InvitationSent.redirect(&app.site.public_url, &path))
}

/// `POST /dashboard/nonprofits/{id}/withdraw-invitation`
pub async fn withdraw(
    State(app): State<App>,
    user: SignedIn,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let created_at = data.text("created").parse().unwrap_or_default();
    let withdrawn = app
        .claims()
        .withdraw_invitation(found.id, user.account, created_at);
    let flash = if withdrawn.await? {
        Flash::InvitationWithdrawn
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &format!("{LIST_PATH}/{}", found.id)))
}

/// `GET /dashboard/nonprofits/join?token=`
pub async fn page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let query = query.unwrap_or_default();
    let token = params::values(&query, "token").next().unwrap_or_default();
    let Some(link) = app.claims().find_invitation(&token).await? else {
        return Ok(stale(&user, layout));
    };
    if let Some(refusal) = refuse_without_second_factor(&app, &user, &layout).await? {
        return Ok(refusal);
    }
    let form = join_form(&layout.t.claims, &token);
    Ok(join_page(&app, &user, layout, &link, form).await?.into_response())
}

/// `POST /dashboard/nonprofits/join`
pub async fn accept(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let token = data.text("token");
    let Some(link) = app.claims().find_invitation(token).await? else {
        return Ok(stale(&user, layout));
    };
    let t = &layout.t.claims;
    let mut form = join_form(t, token).with_values(&data);
    let [person, position] = ["person", "position"].map(|name| {
        let text = name_text(&data, name);
        if text.is_none() {
            form.add_error(name, t.bad_name);
        }
        text
    });
    let Some(names) = person.zip(position) else {
        return Ok(join_page(&app, &user, layout, &link, form).await?.invalid());
    };
    let name = name_of(&app, link.nonprofit).await?;
    match app.claims().accept(token, user.account, &name, names).await? {
        AcceptOutcome::Accepted => {
            let path = format!("{LIST_PATH}/{}", link.nonprofit);
            Ok(Flash::ClaimApproved.redirect(&app.site.public_url, &path))
        }
        AcceptOutcome::Stale => Ok(stale(&user, layout)),
        AcceptOutcome::NeedsTwoFactor => Ok(needs_two_factor(&user, layout)),
        AcceptOutcome::AlreadyMember => {
            form.add_form_error(t.already_member);
            Ok(join_page(&app, &user, layout, &link, form).await?.invalid())
        }
        AcceptOutcome::NotAllowed => {
            form.add_form_error(t.not_allowed);
            Ok(join_page(&app, &user, layout, &link, form).await?.invalid())
        }
    }
}

fn join_form(t: &ClaimTexts, token: &str) -> Form {
    let [person, position] = name_fields(t);
    Form::new(
        JOIN_PATH,
        t.join,
        vec![person, position, Field::hidden("token", token)],
    )
}

async fn join_page(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    link: &ClaimLink,
    form: Form,
) -> Result<FormPage> {
    let t = &layout.t.claims;
    let name = name_of(app, link.nonprofit).await?;
    let role = role_text(link.role.unwrap_or(Role::Editor), t);
    let values = [("name", name.as_str()), ("role", role)];
    let (title, lead) = (fill(t.join_title, &values), fill(t.join_lead, &values));
    Ok(FormPage::new(layout.with_menu(user, Tab::Nonprofits), title, form).lead(lead))
}
