//! Editing what the page of a nonprofit says, by those who run it.

use super::claim::LIST_PATH;
use super::found::Found;
use crate::app::App;
use crate::dashboard::uploads;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::flash::Flash;
use crate::web::form::Choice;
use crate::web::form::picture::{PictureInput, REMOVE};
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::{ClaimTexts, fill};
use crate::web::{Field, Form, FormData, Layout, UploadForm};
use access::audit::{self, Action, Actor};
use access::claims::store;
use access::sessions::SignedIn;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use directory::nonprofits::own_fields::OwnField;
use directory::nonprofits::own_fields::editable::{self, EditableField};
use directory::nonprofits::own_fields::store as own_fields;
use directory::nonprofits::web_url::is_web_url;

/// The characters of a filed value that a hint shows.
const MAX_HINT_CHARS: usize = 300;

/// The fields of the form in their order. Pictures have forms of their own.
const FIELDS: [OwnField; 5] = [
    OwnField::Description,
    OwnField::Mission,
    OwnField::Website,
    OwnField::Thanks,
    OwnField::Causes,
];

/// `GET /dashboard/nonprofits/{id}/edit`
pub async fn page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let fields = list(&app, &found).await?;
    let form = form(&app, &layout.t.claims, &found, &fields);
    Ok(form_page(&user, layout, &found, form).into_response())
}

/// `POST /dashboard/nonprofits/{id}/edit`
pub async fn save(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let fields = list(&app, &found).await?;
    let mut form = form(&app, &layout.t.claims, &found, &fields).with_values(&data);
    let mut changes = Vec::new();
    for field in FIELDS {
        match value_of(&app, &layout.t.claims, field, &data) {
            Ok(value) => changes.push((field, value)),
            Err(error) => form.add_error(field.as_str(), error),
        }
    }
    if form.has_errors() {
        return Ok(form_page(&user, layout, &found, form).invalid());
    }
    // What is the same as the filed value is not the nonprofit's own: the next return may change it.
    let filed = |field| {
        fields
            .iter()
            .find(|other| other.field == field)
            .and_then(|other| other.filed.as_deref())
    };
    let changes: Vec<(OwnField, Option<&str>)> = changes
        .iter()
        .map(|(field, value)| {
            let is_own = !value.is_empty() && filed(*field) != Some(value.as_str());
            (*field, is_own.then_some(value.as_str()))
        })
        .collect();
    let flash = if change(&app, &user, &found, &changes).await? {
        Flash::PageChanged
    } else {
        Flash::AlreadyDone
    };
    Ok(flash.redirect(&app.site.public_url, &format!("{LIST_PATH}/{}", found.id)))
}

/// `GET /dashboard/nonprofits/{id}/logo`
pub async fn logo_page(app: State<App>, user: SignedIn, layout: Layout, id: PathText) -> Result<Response> {
    picture_page(app, user, layout, id, OwnField::Logo).await
}

/// `POST /dashboard/nonprofits/{id}/logo`
pub async fn save_logo(
    app: State<App>,
    user: SignedIn,
    layout: Layout,
    id: PathText,
    upload: UploadForm,
) -> Result<Response> {
    save_picture(app, user, layout, id, upload, OwnField::Logo).await
}

/// `GET /dashboard/nonprofits/{id}/cover`
pub async fn cover_page(app: State<App>, user: SignedIn, layout: Layout, id: PathText) -> Result<Response> {
    picture_page(app, user, layout, id, OwnField::Cover).await
}

/// `POST /dashboard/nonprofits/{id}/cover`
pub async fn save_cover(
    app: State<App>,
    user: SignedIn,
    layout: Layout,
    id: PathText,
    upload: UploadForm,
) -> Result<Response> {
    save_picture(app, user, layout, id, upload, OwnField::Cover).await
}

async fn picture_page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    field: OwnField,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let form = picture_form(&layout, &found, field, &list(&app, &found).await?);
    Ok(picture_form_page(&user, layout, &found, field, form).into_response())
}

async fn save_picture(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    UploadForm { mut data, file, .. }: UploadForm,
    field: OwnField,
) -> Result<Response> {
    let (found, _) = Found::run_by(&app, &user, &id).await?;
    let fields = list(&app, &found).await?;
    let mut form = picture_form(&layout, &found, field, &fields).with_values(&data);
    let picture = uploads::take(&app, &user, &mut form, &mut data, file, &layout.f.picture).await?;
    if form.has_errors() {
        return Ok(picture_form_page(&user, layout, &found, field, form).invalid());
    }
    let is_removed = data.find(REMOVE).is_some();
    let flash = match picture.as_deref().filter(|_| !is_removed) {
        None if !is_removed => Flash::AlreadyDone,
        picture if change(&app, &user, &found, &[(field, picture)]).await? => Flash::PageChanged,
        _ => Flash::AlreadyDone,
    };
    Ok(flash.redirect(&app.site.public_url, &format!("{LIST_PATH}/{}", found.id)))
}

fn picture_form(layout: &Layout, found: &Found, field: OwnField, fields: &[EditableField]) -> Form {
    let t = &layout.t.claims;
    let own = fields
        .iter()
        .find(|other| other.field == field)
        .and_then(|other| other.own.as_ref());
    let label = if field == OwnField::Logo { t.logo } else { t.cover };
    let picture = PictureInput::new(label, layout.f.organizer.picture_hint, uploads::PATH)
        .current(own.map(|own| own.value.as_str()));
    let action = format!("{LIST_PATH}/{}/{}", found.id, field.as_str());
    Form::new(action, t.save, vec![Field::picture(label, picture)])
}

fn picture_form_page(
    user: &SignedIn,
    layout: Layout,
    found: &Found,
    field: OwnField,
    form: Form,
) -> FormPage {
    let t = &layout.t.claims;
    let title = if field == OwnField::Logo {
        t.logo_title
    } else {
        t.cover_title
    };
    let title = fill(title, &[("name", &found.name)]);
    FormPage::new(layout.with_menu(user, Tab::Nonprofits), title, form)
        .script("fundraiser-form.js")
        .lead(t.picture_lead)
        .link(format!("{LIST_PATH}/{}", found.id), t.back_to_nonprofit)
}

/// Changes fields in one transaction, if the person still runs the page, with an audit entry.
async fn change(
    app: &App,
    user: &SignedIn,
    found: &Found,
    changes: &[(OwnField, Option<&str>)],
) -> Result<bool> {
    let now = app.clock.millis();
    let mut tx = app.db.write().await?;
    if store::find_role_in(&mut tx, found.id, user.account)
        .await?
        .is_none()
    {
        return Err(Error::NotFound);
    }
    let changed = own_fields::change(&mut tx, found.id, changes, user.account, now).await?;
    if changed.is_empty() {
        return Ok(false);
    }
    let names: Vec<&str> = changed.into_iter().map(OwnField::as_str).collect();
    let actor = Actor::Account(user.account);
    let action = Action::new(actor, "nonprofit edit", &found.id.to_string(), names.join(", "));
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

async fn list(app: &App, found: &Found) -> Result<Vec<EditableField>> {
    let fields = editable::list(&app.db, found.id).await?;
    fields.ok_or(Error::NotFound)
}

/// Reads a field of the form, or returns its error.
fn value_of(
    app: &App,
    t: &ClaimTexts,
    field: OwnField,
    data: &FormData,
) -> std::result::Result<String, String> {
    if field == OwnField::Causes {
        let causes = app.directory.causes().list().iter();
        let checked = causes.filter(|cause| data.find(&cause.name).is_some());
        let names: Vec<&str> = checked.map(|cause| cause.name.as_str()).collect();
        return Ok(names.join(" "));
    }
    // Some browsers send line breaks as CR LF.
    let text = data.trimmed(field.as_str()).replace("\r\n", "\n");
    let has_control = text.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t');
    if text.chars().count() > field.max_chars() || has_control {
        return Err(fill(t.too_long, &[("max", &field.max_chars().to_string())]));
    }
    if field == OwnField::Website && !text.is_empty() && !is_web_url(&text) {
        return Err(t.bad_website.to_owned());
    }
    Ok(text)
}

fn form(app: &App, t: &ClaimTexts, found: &Found, fields: &[EditableField]) -> Form {
    let state = |field| fields.iter().find(|other| other.field == field);
    let fields = FIELDS.map(|field| {
        let own = state(field).and_then(|state| state.own.as_ref());
        let filed = state(field).and_then(|state| state.filed.as_deref());
        let value = own.map(|own| own.value.as_str()).or(filed).unwrap_or_default();
        let name = field.as_str();
        let input = match field {
            OwnField::Description => Field::area(name, t.description),
            OwnField::Mission => Field::area(name, t.mission),
            OwnField::Thanks => Field::area(name, t.thanks).hint(t.thanks_hint),
            OwnField::Causes => {
                let causes = app.directory.causes().list().iter();
                let choices = causes.map(|cause| Choice::new(cause.name.as_str(), cause.title.as_str(), ""));
                Field::checks(name, t.causes, choices.collect())
            }
            _ => Field::text(name, t.website),
        };
        let input = input.value(value).optional();
        match filed.filter(|_| own.is_some()) {
            Some(filed) => {
                let value: String = filed.chars().take(MAX_HINT_CHARS).collect();
                input.hint(fill(t.in_files, &[("value", &value)]))
            }
            None => input,
        }
    });
    let action = format!("{LIST_PATH}/{}/edit", found.id);
    Form::new(action, t.save, fields.into())
}

fn form_page(user: &SignedIn, layout: Layout, found: &Found, form: Form) -> FormPage {
    let t = &layout.t.claims;
    let title = fill(t.edit_title, &[("name", &found.name)]);
    FormPage::new(layout.with_menu(user, Tab::Nonprofits), title, form)
        .lead(t.edit_lead)
        .link(format!("{LIST_PATH}/{}", found.id), t.back_to_nonprofit)
}
