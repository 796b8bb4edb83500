//! One key in the hands of an operator: blocked, unblocked, given other limits. Every act is written down.

use crate::app::App;
use crate::dashboard::key_view::{KeyView, Used, limits_of};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::frame::Tab;
use crate::web::{Field, Form, Frame, Page, Sent};
use access::audit::Actor;
use access::keys::Class;
use access::keys::store::{self, StoredKey};
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use platform::ids::KeyId;
use uuid::Uuid;

/// Characters of a reason.
const LONGEST_REASON: usize = 500;
const HIGHEST_LIMIT: u32 = 1_000_000;

#[derive(Template)]
#[template(path = "dashboard/operator/key.html")]
struct OneKey {
    frame: Frame,
    key: KeyView,
    block: Form,
    limits: Form,
}

/// `GET /dashboard/operator/keys/{id}`
pub async fn key(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    PathText(id): PathText,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let block = block_form(&frame, KeyId(key.id));
    let limits = limits_form(&app, &frame, &key).await?;
    show(&app, &who, frame, key, block, limits).await
}

/// `POST /dashboard/operator/keys/{id}/block`
pub async fn block(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    PathText(id): PathText,
    sent: Sent,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let id = KeyId(key.id);
    let reason = sent.trimmed("reason");
    if !(1..=LONGEST_REASON).contains(&reason.chars().count()) || reason.contains('\0') {
        let mut form = block_form(&frame, id).filled(&sent);
        form.refuse("reason", frame.t.operator.invalid_reason);
        let limits = limits_form(&app, &frame, &key).await?;
        let page = show(&app, &who, frame, key, form, limits).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let now = app.clock.millis();
    let known = store::block(&app.db, id, reason, Actor::Account(who.account), now).await?;
    done(&app, known, id, Flash::KeyBlocked)
}

/// `POST /dashboard/operator/keys/{id}/unblock`
pub async fn unblock(
    State(app): State<App>,
    Operator(who): Operator,
    PathText(id): PathText,
) -> Result<Response> {
    let id = KeyId(find(&app, &id).await?.id);
    let now = app.clock.millis();
    let known = store::unblock(&app.db, id, Actor::Account(who.account), now).await?;
    done(&app, known, id, Flash::KeyUnblocked)
}

/// `POST /dashboard/operator/keys/{id}/limits`
pub async fn set_limits(
    State(app): State<App>,
    Operator(who): Operator,
    frame: Frame,
    PathText(id): PathText,
    sent: Sent,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let id = KeyId(key.id);
    let mut form = limits_form(&app, &frame, &key).await?.filled(&sent);
    let mut limits = Vec::new();
    for (class, before) in limits_of(&app.db, &app.config.limits, id, key.public_key.is_some()).await? {
        match sent.trimmed(class.name()).parse() {
            Ok(per_minute) if per_minute == before => {}
            Ok(per_minute @ ..=HIGHEST_LIMIT) => limits.push((class, per_minute)),
            _ => form.refuse(class.name(), frame.t.operator.invalid_number),
        }
    }
    if form.is_refused() {
        let block = block_form(&frame, id);
        let page = show(&app, &who, frame, key, block, form).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    if limits.is_empty() {
        return done(&app, true, id, Flash::AlreadyDone);
    }
    let now = app.clock.millis();
    let known = store::set_limits(&app.db, id, &limits, Actor::Account(who.account), now).await?;
    done(&app, known, id, Flash::LimitsSet)
}

async fn find(app: &App, id: &str) -> Result<StoredKey> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let found = store::find(&app.db, KeyId(id)).await?;
    found.ok_or(Error::NotFound)
}

fn address(id: KeyId) -> String {
    format!("/dashboard/operator/keys/{id}")
}

fn done(app: &App, known: bool, id: KeyId, flash: Flash) -> Result<Response> {
    match known {
        true => Ok((flash.keep(&app.public_url), Redirect::to(&address(id))).into_response()),
        false => Err(Error::NotFound),
    }
}

async fn show(
    app: &App,
    who: &SignedIn,
    frame: Frame,
    key: StoredKey,
    block: Form,
    limits: Form,
) -> Result<Response> {
    let used = Used::load(&app.db, None, app.clock.millis()).await?;
    let page = OneKey {
        key: KeyView::new(key, &used, app.clock.millis()),
        frame: frame.at(who, Tab::Operator),
        block,
        limits,
    };
    Ok(Page(page).into_response())
}

fn block_form(frame: &Frame, id: KeyId) -> Form {
    let t = &frame.t.operator;
    let fields = vec![Field::text("reason", t.reason).hint(t.reason_hint)];
    Form::new(format!("{}/block", address(id)), t.block, fields).dangerous()
}

async fn limits_form(app: &App, frame: &Frame, key: &StoredKey) -> Result<Form> {
    let id = KeyId(key.id);
    let limits = limits_of(&app.db, &app.config.limits, id, key.public_key.is_some()).await?;
    let field = |(class, per_minute): (Class, u32)| {
        Field::number(class.name(), class.name()).value(per_minute.to_string())
    };
    let fields = limits.into_iter().map(field).collect();
    Ok(Form::new(
        format!("{}/limits", address(id)),
        frame.t.operator.set_limits,
        fields,
    ))
}
