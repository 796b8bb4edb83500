//! The keys of an account on its dashboard: the list, one key, making, rolling and revoking one.

use crate::app::App;
use crate::dashboard::key_view::{KeyView, Used, limits_of, own};
use crate::dashboard::usage::{UsageView, span_of};
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::frame::Tab;
use crate::web::texts::fill;
use crate::web::{Field, Form, Frame, Page, Sent};
use access::keys::store::{self, InsertOutcome, RotateOutcome, StoredKey};
use access::keys::{Class, KeyText, Kind, Overlap};
use access::sessions::SignedIn;
use access::usage::store as usage;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use platform::ids::KeyId;
use uuid::Uuid;

/// Characters of a name.
const LONGEST_NAME: usize = 60;

#[derive(Template)]
#[template(path = "dashboard/keys/list.html")]
struct Keys {
    frame: Frame,
    keys: Vec<KeyView>,
}

#[derive(Template)]
#[template(path = "dashboard/keys/key.html")]
struct OneKey {
    frame: Frame,
    key: KeyView,
    usage: UsageView,
    limits: Vec<(Class, u32)>,
}

#[derive(Template)]
#[template(path = "dashboard/keys/created.html")]
struct Made {
    frame: Frame,
    id: KeyId,
    name: String,
    kind: Kind,
    text: KeyText,
}

/// `GET /dashboard`
pub async fn keys(State(app): State<App>, who: SignedIn, frame: Frame) -> Result<Response> {
    let keys = list(&app, &who).await?;
    let page = Keys {
        frame: frame.at(&who, Tab::Keys),
        keys,
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/keys/new`
pub async fn new_page(who: SignedIn, frame: Frame) -> FormPage {
    let form = new_form(&frame);
    new_with(&who, frame, form)
}

/// `POST /dashboard/keys/new`: the one answer that ever holds a private key.
pub async fn create(State(app): State<App>, who: SignedIn, frame: Frame, sent: Sent) -> Result<Response> {
    let mut form = new_form(&frame).filled(&sent);
    let name = match read_name(sent.text("name")) {
        Ok(name) => name,
        Err(fault) => {
            form.refuse("name", fault);
            String::new()
        }
    };
    let kind: Option<Kind> = sent.text("kind").parse().ok();
    let id = Uuid::try_parse(sent.text("once")).ok().map(KeyId);
    let (Some(kind), Some(id), false) = (kind, id, form.is_refused()) else {
        return Ok(new_with(&who, frame, form).refused());
    };
    let text = KeyText::generate(kind);
    let now = app.clock.millis();
    match store::insert_as(&app.db, id, who.account, &name, &text, now).await? {
        InsertOutcome::Inserted => Ok(show_made(frame.at(&who, Tab::Keys), id, name, text)),
        InsertOutcome::Duplicate => Ok((
            Flash::AlreadyDone.keep(&app.public_url),
            Redirect::to("/dashboard"),
        )
            .into_response()),
        InsertOutcome::TooMany => {
            form.refuse_all(too_many(&frame));
            Ok(new_with(&who, frame, form).refused())
        }
    }
}

fn too_many(frame: &Frame) -> String {
    fill(frame.t.keys.too_many, &[("max", &store::MAX_KEYS.to_string())])
}

fn show_made(frame: Frame, id: KeyId, name: String, text: KeyText) -> Response {
    let kind = text.kind();
    Page(Made {
        frame,
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
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let key = own(&app.db, &who, &id).await?;
    let (id, now) = (KeyId(key.id), app.clock.millis());
    let span = span_of(query.as_deref());
    let hours = usage::list_of_key(&app.db, id, span.since(now)).await?;
    let address = format!("/dashboard/keys/{id}");
    let csv = format!("/dashboard/usage.csv?key={id}");
    let used = Used::load(&app.db, Some(who.account), now).await?;
    let is_public = key.public_key.is_some();
    let page = OneKey {
        key: KeyView::new(key, &used, now),
        usage: UsageView::new(&hours, span, now, &frame.t.usage, address, csv),
        limits: limits_of(&app.db, &app.config.limits, id, is_public).await?,
        frame: frame.at(&who, Tab::Keys),
    };
    Ok(Page(page).into_response())
}

/// `GET /dashboard/keys/{id}/roll`
pub async fn roll_page(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<FormPage> {
    let key = own(&app.db, &who, &id).await?;
    let form = roll_form(&frame, &key);
    Ok(roll_with(&who, frame, &key, form))
}

fn roll_form(frame: &Frame, key: &StoredKey) -> Form {
    let t = &frame.t.keys;
    let choices = vec![
        Choice::new(Overlap::None.as_str(), t.rotate_now, t.rotate_now_hint),
        Choice::new(Overlap::Hour.as_str(), t.rotate_hour, ""),
        Choice::new(Overlap::Day.as_str(), t.rotate_day, ""),
        Choice::new(Overlap::Week.as_str(), t.rotate_week, ""),
    ];
    let overlap = Field::choice("overlap", t.rotate_overlap, choices).value(Overlap::Day.as_str());
    Form::new(
        format!("/dashboard/keys/{}/roll", key.id),
        t.rotate,
        vec![overlap],
    )
}

fn roll_with(who: &SignedIn, frame: Frame, key: &StoredKey, form: Form) -> FormPage {
    let t = &frame.t.keys;
    let lead = fill(t.rotate_lead, &[("name", &key.title())]);
    FormPage::new(frame.at(who, Tab::Keys), t.rotate_title, form)
        .lead(lead)
        .link(format!("/dashboard/keys/{}", key.id), t.cancel)
}

/// `POST /dashboard/keys/{id}/roll`: as with a new key, this answer alone holds the key.
pub async fn roll(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
    sent: Sent,
) -> Result<Response> {
    let key = own(&app.db, &who, &id).await?;
    let (id, now) = (KeyId(key.id), app.clock.millis());
    let overlap = sent.text("overlap").parse().unwrap_or(Overlap::Day);
    let text = KeyText::generate(key.kind.parse().unwrap_or(Kind::Private));
    match store::rotate(&app.db, id, &text, overlap, None, now).await? {
        RotateOutcome::Rotated(new) => Ok(show_made(frame.at(&who, Tab::Keys), new, key.title(), text)),
        // A form that is sent twice finds a key that ends already.
        RotateOutcome::NoSuchKey | RotateOutcome::NotActive(_) => {
            let way_on = Redirect::to(&format!("/dashboard/keys/{id}"));
            Ok((Flash::AlreadyDone.keep(&app.public_url), way_on).into_response())
        }
        RotateOutcome::TooMany => {
            let mut form = roll_form(&frame, &key).filled(&sent);
            form.refuse_all(too_many(&frame));
            Ok(roll_with(&who, frame, &key, form).refused())
        }
    }
}

/// `GET /dashboard/keys/{id}/revoke`
pub async fn revoke_page(
    State(app): State<App>,
    who: SignedIn,
    frame: Frame,
    PathText(id): PathText,
) -> Result<FormPage> {
    let key = own(&app.db, &who, &id).await?;
    let t = &frame.t.keys;
    let form = Form::new(format!("/dashboard/keys/{}/revoke", key.id), t.revoke, Vec::new()).dangerous();
    let lead = fill(t.revoke_lead, &[("name", &key.title())]);
    Ok(FormPage::new(frame.at(&who, Tab::Keys), t.revoke_title, form)
        .lead(lead)
        .link(format!("/dashboard/keys/{}", key.id), t.cancel))
}

/// `POST /dashboard/keys/{id}/revoke`
pub async fn revoke(State(app): State<App>, who: SignedIn, PathText(id): PathText) -> Result<Response> {
    let key = own(&app.db, &who, &id).await?;
    store::revoke(&app.db, KeyId(key.id), app.clock.millis()).await?;
    Ok((
        Flash::KeyRevoked.keep(&app.public_url),
        Redirect::to("/dashboard"),
    )
        .into_response())
}

async fn list(app: &App, who: &SignedIn) -> Result<Vec<KeyView>> {
    let now = app.clock.millis();
    let keys = store::list(&app.db, Some(&who.username)).await?;
    let used = Used::load(&app.db, Some(who.account), now).await?;
    let mut keys: Vec<KeyView> = keys
        .into_iter()
        .map(|key| KeyView::new(key, &used, now))
        .collect();
    // What works stands first; the newest first among equals.
    keys.reverse();
    keys.sort_by_key(KeyView::is_over);
    Ok(keys)
}

/// What its owner calls a key, in any script.
fn read_name(text: &str) -> Result<String, &'static str> {
    let name = text.trim();
    match name.chars().count() {
        0 => Err("Enter a name, such as website."),
        1..=LONGEST_NAME if !name.contains(char::is_control) => Ok(name.to_owned()),
        1..=LONGEST_NAME => Err("Remove line breaks and other control characters."),
        _ => Err("Use at most 60 characters."),
    }
}

fn new_form(frame: &Frame) -> Form {
    let t = &frame.t.keys;
    let kinds = vec![
        Choice::new("public", t.public, t.public_hint),
        Choice::new("private", t.private, t.private_hint),
    ];
    let fields = vec![
        Field::text("name", t.name).hint(t.name_hint),
        Field::choice("kind", t.kind, kinds),
        // The id of the key to be: a form that is sent twice makes one key.
        Field::hidden("once", KeyId::new().to_string()),
    ];
    Form::new("/dashboard/keys/new", t.create, fields)
}

fn new_with(who: &SignedIn, frame: Frame, form: Form) -> FormPage {
    let t = &frame.t.keys;
    FormPage::new(frame.at(who, Tab::Keys), t.create_title, form).link("/dashboard", t.back)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_of_any_script_but_not_endless() {
        assert_eq!(read_name(" Сайт <b> ").unwrap(), "Сайт <b>");
        for bad in ["", "  ", "a\nb", &"x".repeat(61)] {
            assert!(read_name(bad).is_err(), "{bad:?}");
        }
    }
}
