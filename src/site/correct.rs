//! "Request a correction": a form in which a nonprofit tells the operators what is wrong on its page. A correction is a
//! report of its own kind, so operators find it in the same list.

use super::report::{Content, PageTexts, Target, once, once_field, text};
use crate::app::App;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::http::params::PathText;
use crate::web::texts::CorrectTexts;
use crate::web::{Field, Form, FormData, Layout, Section};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::reports::{MAX_DETAILS_CHARS, Reason};
use platform::email_address::EmailAddress;

/// The maximum length of each of the two texts in characters. Both and their headings fit into the details of a report.
const MAX_TEXT_CHARS: usize = 900;

/// `GET /{nonprofit}/correct`
pub async fn form_page(State(app): State<App>, PathText(slug): PathText) -> Result<Response> {
    let target = Target::nonprofit(&app, &slug).await?;
    let form = form(&target);
    Ok(target.page(&texts(), form).into_response())
}

/// `POST /{nonprofit}/correct`
pub async fn send(
    State(app): State<App>,
    Client { network, .. }: Client,
    PathText(slug): PathText,
    data: FormData,
) -> Result<Response> {
    let target = Target::nonprofit(&app, &slug).await?;
    let layout = Layout::new(Section::Other);
    let t = &layout.f.correct;
    let mut form = form(&target).with_values(&data);
    let id = once(&data)?;
    let [wrong, right] = ["wrong", "right"].map(|name| {
        let text = text(&data, name, MAX_TEXT_CHARS);
        if text.is_none() {
            form.add_error(name, t.invalid_text);
        }
        text
    });
    let email = EmailAddress::parse(data.trimmed("email"));
    if email.is_err() {
        form.add_error("email", t.bad_email);
    }
    let (Some(wrong), Some(right), Ok(email)) = (wrong, right, email) else {
        return Ok(target.page(&texts(), form).invalid());
    };
    let content = Content {
        id,
        reason: Reason::Correction,
        details: details(t, &wrong, &right),
        email: Some(email.normalized()),
    };
    target.send(&app, network, &texts(), form, content).await
}

fn details(t: &CorrectTexts, wrong: &str, right: &str) -> String {
    let details = format!("{}\n{wrong}\n\n{}\n{right}", t.wrong, t.right);
    debug_assert!(details.chars().count() <= MAX_DETAILS_CHARS);
    details
}

fn form(target: &Target) -> Form {
    let t = &Layout::new(Section::Other).f.correct;
    let fields = vec![
        Field::area("wrong", t.wrong).hint(t.wrong_hint),
        Field::area("right", t.right).hint(t.right_hint),
        Field::email("email", t.email).hint(t.email_hint),
        once_field(),
    ];
    Form::new(format!("{}/correct", target.path), t.send, fields)
}

fn texts() -> PageTexts {
    let t = &Layout::new(Section::Other).f.correct;
    PageTexts {
        title: t.title,
        lead: t.lead,
        back: t.back,
        too_often: t.too_often,
        sent_title: t.sent_title,
        sent: t.sent,
    }
}
