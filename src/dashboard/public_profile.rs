//! The name and the picture with which an account appears on its fundraisers.

use crate::app::App;
use crate::dashboard::settings_page;
use crate::dashboard::uploads;
use crate::http::error::{Error, Result};
use crate::web::flash::Flash;
use crate::web::form::picture::{PictureInput, REMOVE};
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::{Field, Form, Layout, UploadForm};
use access::accounts::public_profile::{PublicProfile, parse_name};
use access::accounts::store::profile as store;
use access::sessions::SignedIn;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};

/// The path of the page. `dashboard/public_profile.html`, a section of the settings page, links to it.
pub const PATH: &str = "/dashboard/settings/profile";

/// `GET /dashboard/settings/profile`
pub async fn profile_page(State(app): State<App>, user: SignedIn, layout: Layout) -> Result<FormPage> {
    let profile = find(&app, &user).await?;
    let form = form(&layout, &profile);
    Ok(page(&user, layout, form))
}

/// `POST /dashboard/settings/profile`
pub async fn change(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    UploadForm { mut data, file, .. }: UploadForm,
) -> Result<Response> {
    let profile = find(&app, &user).await?;
    let mut form = form(&layout, &profile).with_values(&data);
    let name = parse_name(data.text("name"));
    if let Err(error) = name {
        form.add_error("name", error.to_string());
    }
    let picture = uploads::take(&app, &user, &mut form, &mut data, file, &layout.f.picture).await?;
    let (Ok(name), false) = (name, form.has_errors()) else {
        return Ok(page(&user, layout, form).invalid());
    };
    let picture = if data.find(REMOVE).is_some() {
        None
    } else {
        picture.or(profile.picture)
    };
    store::update(&app.db, user.account, name.as_deref(), picture.as_deref()).await?;
    let flash = Flash::ProfileChanged.cookie(&app.site.public_url);
    Ok((flash, Redirect::to(settings_page::PATH)).into_response())
}

async fn find(app: &App, user: &SignedIn) -> Result<PublicProfile> {
    store::find(&app.db, user.account).await?.ok_or(Error::NotFound)
}

fn form(layout: &Layout, profile: &PublicProfile) -> Form {
    let t = &layout.f.organizer;
    let picture =
        PictureInput::new(t.picture, t.picture_hint, uploads::PATH).current(profile.picture.as_deref());
    let fields = vec![
        Field::text("name", t.name)
            .hint(t.name_hint)
            .autocomplete("name")
            .optional()
            .value(profile.display_name.clone().unwrap_or_default()),
        Field::picture(t.picture, picture),
    ];
    Form::new(PATH, t.save, fields)
}

fn page(user: &SignedIn, layout: Layout, form: Form) -> FormPage {
    let t = &layout.f.organizer;
    FormPage::new(layout.with_menu(user, Tab::Settings), t.title, form)
        .script("fundraiser-form.js")
        .lead(t.lead)
        .link(settings_page::PATH, t.back)
}
