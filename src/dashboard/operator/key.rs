//! The operator page of a key: blocking, unblocking and rate limits. Every action is recorded in the audit log.

use crate::app::App;
use crate::dashboard::key_view::{KeyUsage, KeyView, limits_of};
use crate::dashboard::operator::nav::with_menu;
use crate::dashboard::operator::reason;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::http::session::Operator;
use crate::web::flash::Flash;
use crate::web::{Field, Form, FormData, Layout, Page};
use access::audit::Actor;
use access::keys::Class;
use access::keys::store::{self, StoredKey};
use access::limits::MAX_PER_MINUTE;
use access::sessions::SignedIn;
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use platform::ids::KeyId;
use uuid::Uuid;

#[derive(Template)]
#[template(path = "dashboard/operator/key.html")]
struct KeyPage {
    layout: Layout,
    key: KeyView,
    block: Form,
    limits: Form,
}

/// `GET /dashboard/operator/keys/{id}`
pub async fn key(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let block = block_form(&layout, KeyId(key.id));
    let limits = limits_form(&app, &layout, &key).await?;
    show(&app, &user, layout, key, block, limits).await
}

/// `POST /dashboard/operator/keys/{id}/block`
pub async fn block(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let id = KeyId(key.id);
    let mut form = block_form(&layout, id).with_values(&data);
    let Some(reason) = reason::parse(&data, &mut form, &layout) else {
        let limits = limits_form(&app, &layout, &key).await?;
        let page = show(&app, &user, layout, key, form, limits).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    let now = app.clock.millis();
    let is_found = store::block(&app.db, id, &reason, Actor::Account(user.account), now).await?;
    redirect(&app, is_found, id, Flash::KeyBlocked)
}

/// `POST /dashboard/operator/keys/{id}/unblock`
pub async fn unblock(
    State(app): State<App>,
    Operator(user): Operator,
    PathText(id): PathText,
) -> Result<Response> {
    let id = KeyId(find(&app, &id).await?.id);
    let now = app.clock.millis();
    let is_found = store::unblock(&app.db, id, Actor::Account(user.account), now).await?;
    redirect(&app, is_found, id, Flash::KeyUnblocked)
}

/// `POST /dashboard/operator/keys/{id}/limits`
pub async fn set_limits(
    State(app): State<App>,
    Operator(user): Operator,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let key = find(&app, &id).await?;
    let id = KeyId(key.id);
    let mut form = limits_form(&app, &layout, &key).await?.with_values(&data);
    let mut limits = Vec::new();
    for (class, current) in limits_of(&app.db, &app.limits(), id, key.public_key.is_some()).await? {
        match data.trimmed(class.name()).parse() {
            Ok(per_minute) if per_minute == current => {}
            Ok(per_minute @ ..=MAX_PER_MINUTE) => limits.push((class, per_minute)),
            _ => form.add_error(class.name(), layout.t.operator.invalid_number),
        }
    }
    if form.has_errors() {
        let block = block_form(&layout, id);
        let page = show(&app, &user, layout, key, block, form).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    if limits.is_empty() {
        return redirect(&app, true, id, Flash::AlreadyDone);
    }
    let now = app.clock.millis();
    let is_found = store::set_limits(&app.db, id, &limits, Actor::Account(user.account), now).await?;
    redirect(&app, is_found, id, Flash::LimitsSet)
}

async fn find(app: &App, id: &str) -> Result<StoredKey> {
    let id = Uuid::try_parse(id).map_err(|_| Error::NotFound)?;
    let found = store::find(&app.db, KeyId(id)).await?;
    found.ok_or(Error::NotFound)
}

fn path(id: KeyId) -> String {
    format!("/dashboard/operator/keys/{id}")
}

fn redirect(app: &App, is_found: bool, id: KeyId, flash: Flash) -> Result<Response> {
    if is_found {
        Ok(flash.redirect(&app.site.public_url, &path(id)))
    } else {
        Err(Error::NotFound)
    }
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    key: StoredKey,
    block: Form,
    limits: Form,
) -> Result<Response> {
    let usage = KeyUsage::load(&app.db, None, app.clock.millis()).await?;
    let page = KeyPage {
        key: KeyView::new(key, &usage, app.clock.millis()),
        layout: with_menu(app, layout, user).await?,
        block,
        limits,
    };
    Ok(Page(page).into_response())
}

fn block_form(layout: &Layout, id: KeyId) -> Form {
    let fields = vec![reason::field(layout)];
    Form::new(format!("{}/block", path(id)), layout.t.operator.block, fields).dangerous()
}

async fn limits_form(app: &App, layout: &Layout, key: &StoredKey) -> Result<Form> {
    let id = KeyId(key.id);
    let limits = limits_of(&app.db, &app.limits(), id, key.public_key.is_some()).await?;
    let field = |(class, per_minute): (Class, u32)| {
        Field::number(class.name(), class.name()).value(per_minute.to_string())
    };
    let fields = limits.into_iter().map(field).collect();
    Ok(Form::new(
        format!("{}/limits", path(id)),
        layout.t.operator.set_limits,
        fields,
    ))
}
