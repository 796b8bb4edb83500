//! The page on which an organizer thanks the donors of a fundraiser by email.

use super::{find_own, path};
use crate::app::App;
use crate::dashboard::standing::refuse_to_create;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::dates::format_time;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::layout::Tab;
use crate::web::texts::{ThanksTexts, fill};
use crate::web::{Field, Form, FormData, Layout};
use access::sessions::SignedIn;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::fundraisers::Fundraiser;
use giving::thanks::{self, InvalidMessage, MIN_PAUSE_MILLIS, Message, Outcome, ThanksStatus};
use uuid::Uuid;

/// `GET /dashboard/fundraisers/{id}/thank`
pub async fn page(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
) -> Result<Response> {
    let fundraiser = find(&app, &user, &id).await?;
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Fundraisers).await? {
        return Ok(refusal);
    }
    let status = thanks::status(app.giving_notices(), fundraiser.id).await?;
    let form = new_form(&fundraiser, &layout.f.thanks);
    Ok(show(&user, layout, &fundraiser, status, form).into_response())
}

/// `POST /dashboard/fundraisers/{id}/thank`
pub async fn send(
    State(app): State<App>,
    user: SignedIn,
    layout: Layout,
    PathText(id): PathText,
    data: FormData,
) -> Result<Response> {
    let fundraiser = find(&app, &user, &id).await?;
    if let Some(refusal) = refuse_to_create(&app, &user, &layout, Tab::Fundraisers).await? {
        return Ok(refusal);
    }
    let t = &layout.f.thanks;
    let once = Uuid::try_parse(data.text("once")).map_err(|_| Error::NotAForm)?;
    let mut form = new_form(&fundraiser, t).with_values(&data);
    let outcome = match Message::parse(data.text("message")) {
        Ok(message) => Some(thanks::write(app.giving_notices(), &fundraiser, &message, once).await?),
        Err(error) => {
            form.add_error(
                "message",
                match error {
                    InvalidMessage::Empty => t.empty,
                    InvalidMessage::TooLong => t.too_long,
                    InvalidMessage::Link => t.link_refused,
                },
            );
            None
        }
    };
    let flash = match outcome {
        Some(Outcome::Accepted) => Flash::ThanksAccepted,
        Some(Outcome::Repeated) => Flash::AlreadyDone,
        Some(Outcome::NoDonors | Outcome::TooEarly) | None => {
            let status = thanks::status(app.giving_notices(), fundraiser.id).await?;
            return Ok(show(&user, layout, &fundraiser, status, form).invalid());
        }
    };
    Ok(flash.redirect(&app.site.public_url, &path(fundraiser.id)))
}

/// Finds a fundraiser of the user whose donors can be thanked.
async fn find(app: &App, user: &SignedIn, id: &str) -> Result<Fundraiser> {
    let fundraiser = find_own(app, user, id).await?;
    if app.mail.is_on() && fundraiser.is_public() {
        Ok(fundraiser)
    } else {
        Err(Error::NotFound)
    }
}

fn new_form(fundraiser: &Fundraiser, t: &ThanksTexts) -> Form {
    let fields = vec![
        Field::area("message", t.message).hint(t.message_hint),
        Field::hidden("once", Uuid::now_v7().to_string()),
    ];
    Form::new(format!("{}/thank", path(fundraiser.id)), t.send, fields)
}

/// Shows the form, or why nobody can be thanked now.
fn show(
    user: &SignedIn,
    layout: Layout,
    fundraiser: &Fundraiser,
    status: ThanksStatus,
    form: Form,
) -> FormPage {
    let (t, back) = (&layout.f.thanks, layout.t.fundraisers.back_to_fundraiser);
    let (title, count) = (t.title, status.donors.to_string());
    let lead = match (status.next_at, status.donors) {
        (Some(next), _) => fill(t.too_early, &[("day", &format_time(next - MIN_PAUSE_MILLIS))]),
        (None, 0) if status.last.is_some() => t.nobody.to_owned(),
        (None, 0) => t.nobody_yet.to_owned(),
        (None, 1) => t.lead_one.to_owned(),
        (None, _) => fill(t.lead, &[("count", &count)]),
    };
    let layout = layout.with_menu(user, Tab::Fundraisers);
    let page = if status.next_at.is_none() && status.donors > 0 {
        FormPage::new(layout, title, form)
    } else {
        FormPage::without_form(layout, title)
    };
    page.lead(lead).link(path(fundraiser.id), back)
}
