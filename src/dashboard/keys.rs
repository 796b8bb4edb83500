//! Keys on the dashboard: listing, creating, limiting, rotating and revoking them.

use crate::app::App;
use crate::dashboard::key_view::{KeyUsage, KeyView, find_own, limits_of};
use crate::dashboard::standing::{refusal, refuse_to_create};
use crate::dashboard::usage::{UsageView, span_of};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Page};
use access::keys::store::{self, InsertOutcome, RotateOutcome, StoredKey};
use access::keys::{Class, KeyText, Kind, Overlap};
use access::limits::MAX_PER_MINUTE;
use access::sessions::SignedIn;
use access::usage::store as usage;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use platform::ids::KeyId;
use uuid::Uuid;

/// The maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 60;

#[derive(Template)]
#[template(path = "dashboard/keys/list.html")]
struct KeysPage {
    layout: Layout,
    keys: Vec<KeyView>,
}

#[derive(Template)]
#[template(path = "dashboard/keys/key.html")]
struct KeyPage {
    layout: Layout,
    key: KeyView,
    usage: UsageView,
    limits: Vec<(Class, u32)>,
    /// The form for the limit per address, for a public key that works.
    address_limit: Option<Form>,
}

#[derive(Template)]
#[template(path = "dashboard/keys/created.html")]
struct CreatedKey {
    layout: Layout,
    id: KeyId,
    name: String,
    kind: Kind,
    text: KeyText,
}

/// `GET /dashboard`
pub async fn keys(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    let keys = list(&app, &user).await?;
    let page = KeysPage {
        layout: layout.with_menu(&user, Tab::Keys),
        keys,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/keys/new`
pub async fn new_page(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<Response> {
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Keys).await? {
        return Ok(refusal);
    }
    let form = new_form(&layout);
    Ok(new_with(&user, layout, form).into_response())
}

/// `POST /dashboard/keys/new`. Only this response and that of [`rotate`] ever contain a private key.
pub async fn create(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    data: FormData,
) -> Result<Response> {
    let mut form = new_form(&layout).with_values(&data);
    let name = match parse_name(data.text("name")) {
        Ok(name) => name,
        Err(error) => {
            form.add_error("name", error);
            String::new()
        }
    };
    let kind: Option<Kind> = data.text("kind").parse().ok();
    let id = Uuid::try_parse(data.text("once")).ok().map(KeyId);
    let (Some(kind), Some(id), false) = (kind, id, form.has_errors()) else {
        return Ok(new_with(&user, layout, form).invalid());
    };
    let text = KeyText::generate(kind);
    let now = app.clock.millis();
    match store::insert_as(&app.db, id, user.account, &name, &text, now).await? {
        InsertOutcome::Inserted => Ok(show_created(layout.with_menu(&user, Tab::Keys), id, name, text)),
        InsertOutcome::Duplicate => Ok((
            Flash::AlreadyDone.cookie(&app.site.public_url),
            Redirect::to("/dashboard"),
        )
            .into_response()),
        InsertOutcome::NotAllowed => Ok(refusal(&user, &layout, Tab::Keys)),
        InsertOutcome::TooMany => {
            form.add_form_error(too_many(&layout));
            Ok(new_with(&user, layout, form).invalid())
        }
    }
}

fn too_many(layout: &Layout) -> String {
    fill(layout.t.keys.too_many, &[("max", &store::MAX_KEYS.to_string())])
}

fn show_created(layout: Layout, id: KeyId, name: String, text: KeyText) -> Response {
    let kind = text.kind();
    Page(CreatedKey {
        layout,
        id,
        name,
        kind,
        text,
    })
    .into_response()
}

/// `GET /dashboard/keys/{id}`
pub async fn key(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let key = find_own(&app.db, &user, &id).await?;
    let form = address_limit_form(&layout, &key);
    show(&app, &user, layout, key, form, query.as_deref()).await
}

/// `POST /dashboard/keys/{id}/limits`: sets or removes the limit per address.
pub async fn set_address_limit(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let key = find_own(&app.db, &user, &id).await?;
    let id = KeyId(key.id);
    let per_minute = match data.trimmed("address_limit") {
        "" => Ok(None),
        text => text.parse().map(Some),
    };
    let Ok(per_minute @ (None | Some(1..=MAX_PER_MINUTE))) = per_minute else {
        let mut form = address_limit_form(&layout, &key).with_values(&data);
        form.add_error("address_limit", layout.t.keys.invalid_address_limit);
        let page = show(&app, &user, layout, key, form, None).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    };
    if !store::set_address_limit(&app.db, id, per_minute, app.clock.millis()).await? {
        return Err(Error::NotFound);
    }
    let target = Redirect::to(&format!("/dashboard/keys/{id}"));
    Ok((Flash::LimitsSet.cookie(&app.site.public_url), target).into_response())
}

fn address_limit_form(layout: &Layout, key: &StoredKey) -> Form {
    let t = &layout.t.keys;
    let current = key.address_limit.map(|limit| limit.to_string());
    let field = Field::number("address_limit", t.address_limit)
        .hint(t.address_limit_hint)
        .value(current.unwrap_or_default())
        .optional();
    Form::new(
        format!("/dashboard/keys/{}/limits", key.id),
        t.save_limit,
        vec![field],
    )
}

async fn show(
    app: &App,
    user: &SignedIn,
    layout: Layout,
    key: StoredKey,
    form: Form,
    query: Option<&str>,
) -> Result<Response> {
    let (id, now) = (KeyId(key.id), app.clock.millis());
    let span = span_of(query);
    let periods = usage::list_of_key(&app.db, id, span.unit(), span.since(now)).await?;
    let path = format!("/dashboard/keys/{id}");
    let csv = format!("/dashboard/usage.csv?key={id}");
    let key_usage = KeyUsage::load(&app.db, Some(user.account), now).await?;
    let is_public = key.public_key.is_some();
    let key = KeyView::new(key, &key_usage, now);
    let page = KeyPage {
        address_limit: (is_public && !key.is_revoked()).then_some(form),
        key,
        usage: UsageView::new(&periods, span, now, &layout.t.usage, path, csv),
        limits: limits_of(&app.db, &app.limits(), id, is_public).await?,
        layout: layout.with_menu(user, Tab::Keys),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/keys/{id}/rotate`
pub async fn rotate_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let key = find_own(&app.db, &user, &id).await?;
    let form = rotate_form(&layout, &key);
    Ok(rotate_with(&user, layout, &key, form))
}

fn rotate_form(layout: &Layout, key: &StoredKey) -> Form {
    let t = &layout.t.keys;
    let choices = vec![
        Choice::new(Overlap::None.as_str(), t.rotate_now, t.rotate_now_hint),
        Choice::new(Overlap::Hour.as_str(), t.rotate_hour, ""),
        Choice::new(Overlap::Day.as_str(), t.rotate_day, ""),
        Choice::new(Overlap::Week.as_str(), t.rotate_week, ""),
    ];
    let overlap = Field::choice("overlap", t.rotate_overlap, choices).value(Overlap::Day.as_str());
    Form::new(
        format!("/dashboard/keys/{}/rotate", key.id),
        t.rotate,
        vec![overlap],
    )
}

fn rotate_with(user: &SignedIn, layout: Layout, key: &StoredKey, form: Form) -> FormPage {
    let t = &layout.t.keys;
    let lead = fill(t.rotate_lead, &[("name", &key.title())]);
    FormPage::new(layout.with_menu(user, Tab::Keys), t.rotate_title, form)
        .lead(lead)
        .link(format!("/dashboard/keys/{}", key.id), t.cancel)
}

/// `POST /dashboard/keys/{id}/rotate`: rotates a key. Only this response contains the new key.
pub async fn rotate(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let key = find_own(&app.db, &user, &id).await?;
    let (id, now) = (KeyId(key.id), app.clock.millis());
    let overlap = data.text("overlap").parse().unwrap_or(Overlap::Day);
    let text = KeyText::generate(key.kind.parse().unwrap_or(Kind::Private));
    match store::rotate(&app.db, id, &text, overlap, None, now).await? {
        RotateOutcome::Rotated(new) => Ok(show_created(
            layout.with_menu(&user, Tab::Keys),
            new,
            key.title(),
            text,
        )),
        // If the form is sent twice, the key already expires.
        RotateOutcome::NoSuchKey | RotateOutcome::NotActive(_) => {
            let target = Redirect::to(&format!("/dashboard/keys/{id}"));
            Ok((Flash::AlreadyDone.cookie(&app.site.public_url), target).into_response())
        }
        RotateOutcome::TooMany => {
            let mut form = rotate_form(&layout, &key).with_values(&data);
            form.add_form_error(too_many(&layout));
            Ok(rotate_with(&user, layout, &key, form).invalid())
        }
    }
}

/// `GET /dashboard/keys/{id}/revoke`
pub async fn revoke_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<FormPage> {
    let key = find_own(&app.db, &user, &id).await?;
    let t = &layout.t.keys;
    let form = Form::new(format!("/dashboard/keys/{}/revoke", key.id), t.revoke, Vec::new()).dangerous();
    let lead = fill(t.revoke_lead, &[("name", &key.title())]);
    Ok(
        FormPage::new(layout.with_menu(&user, Tab::Keys), t.revoke_title, form)
            .lead(lead)
            .link(format!("/dashboard/keys/{}", key.id), t.cancel),
    )
}

/// `POST /dashboard/keys/{id}/revoke`
pub async fn revoke(State(app): State<App>, user: SignedIn, PathText(id): PathText) -> Result<Response> {
    let key = find_own(&app.db, &user, &id).await?;
    store::revoke(&app.db, KeyId(key.id), app.clock.millis()).await?;
    Ok((
        Flash::KeyRevoked.cookie(&app.site.public_url),
        Redirect::to("/dashboard"),
    )
        .into_response())
}

async fn list(app: &App, user: &SignedIn) -> Result<Vec<KeyView>> {
    let now = app.clock.millis();
    let keys = store::list(&app.db, Some(&user.username)).await?;
    let key_usage = KeyUsage::load(&app.db, Some(user.account), now).await?;
    let mut keys: Vec<KeyView> = keys
        .into_iter()
        .map(|key| KeyView::new(key, &key_usage, now))
        .collect();
    // Working keys first, then the newest.
    keys.reverse();
    keys.sort_by_key(KeyView::is_revoked);
    Ok(keys)
}

/// Parses the name of a key, which can be in any script.
fn parse_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    match name.chars().count() {
        0 => Err("Enter a name, such as website."),
        1..=MAX_NAME_CHARS if !name.contains(char::is_control) => Ok(name.to_owned()),
        1..=MAX_NAME_CHARS => Err("Remove line breaks and other control characters."),
        _ => Err("Use at most 60 characters."),
    }
}

fn new_form(layout: &Layout) -> Form {
    let t = &layout.t.keys;
    let kinds = vec![
        Choice::new("public", t.public, t.public_hint),
        Choice::new("private", t.private, t.private_hint),
    ];
    let fields = vec![
        Field::text("name", t.name).hint(t.name_hint),
        Field::choice("kind", t.kind, kinds),
        // The ID of the new key, so that a form that is sent twice creates only one.
        Field::hidden("once", KeyId::new().to_string()),
    ];
    Form::new("/dashboard/keys/new", t.create, fields)
}

fn new_with(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = &layout.t.keys;
    FormPage::new(layout.with_menu(user, Tab::Keys), t.create_title, form).link("/dashboard", t.back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_in_any_script_but_has_a_maximum_length() {
        assert_eq!(parse_name(" Сайт <b> ").unwrap(), "Сайт <b>");
        for bad in ["", "  ", "a\nb", &"x".repeat(61)] {
            assert!(parse_name(bad).is_err(), "{bad:?}");
        }
    }
}
