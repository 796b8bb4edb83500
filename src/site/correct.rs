//! "Request a correction": a form in which a nonprofit tells the operators what is wrong on its page. A correction is a
//! report of its own kind, so operators find it in the same list.

use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::find::find as find_nonprofit;
use crate::web::form_page::FormPage;
use crate::web::texts::{CorrectTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Section};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::reports::{MAX_DETAILS_CHARS, Reason, Report, Subject, store};
use platform::email_address::EmailAddress;
use platform::ids::NonprofitId;
use uuid::Uuid;

/// The maximum length of each of the two texts in characters. Both and their headings fit into the details of a report.
const MAX_TEXT_CHARS: usize = 900;

/// The nonprofit, and the path of its page.
struct Target {
    id: NonprofitId,
    name: String,
    path: String,
}

/// `GET /{nonprofit}/correct`
pub async fn form_page(State(app): State<App>, PathText(slug): PathText) -> Result<Response> {
    let target = Target::find(&app, &slug).await?;
    let form = form(&target);
    Ok(page(target, form).into_response())
}

/// `POST /{nonprofit}/correct`
pub async fn send(
    State(app): State<App>,
    Client { network, .. }: Client,
    PathText(slug): PathText,
    data: FormData,
) -> Result<Response> {
    let target = Target::find(&app, &slug).await?;
    let layout = Layout::new(Section::Other);
    let t = &layout.f.correct;
    let mut form = form(&target).with_values(&data);
    let id = Uuid::try_parse(data.text("once")).map_err(|_| Error::NotAForm)?;
    let texts = ["wrong", "right"].map(|name| {
        // Some browsers send line breaks as CR LF.
        let text = data.trimmed(name).replace("\r\n", "\n");
        let is_control = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
        if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS || text.contains(is_control) {
            form.add_error(name, t.invalid_text);
        }
        text
    });
    let email = EmailAddress::parse(data.trimmed("email"));
    if email.is_err() {
        form.add_error("email", t.bad_email);
    }
    let (Ok(email), false) = (email, form.has_errors()) else {
        return Ok(page(target, form).invalid());
    };
    if let Err(wait) = app.attempts.report(network, app.clock.instant()).await {
        form.add_form_error(t.too_often);
        return Ok(page(target, form).too_many_requests(wait.0));
    }
    let report = Report {
        id,
        subject: Subject::Nonprofit(target.id),
        reason: Reason::Correction,
        details: details(t, &texts),
        email: Some(email.normalized()),
        created_at: app.clock.millis(),
        closed_at: None,
    };
    store::insert(&app.db, &report).await?;
    let page = FormPage::without_form(layout, t.sent_title).lead(t.sent);
    Ok(page.link(target.path, t.back).into_response())
}

fn details(t: &CorrectTexts, [wrong, right]: &[String; 2]) -> String {
    let details = format!("{}\n{wrong}\n\n{}\n{right}", t.wrong, t.right);
    debug_assert!(details.chars().count() <= MAX_DETAILS_CHARS);
    details
}

impl Target {
    async fn find(app: &App, slug: &str) -> Result<Target> {
        let found = find_nonprofit(&app.directory, slug).await?;
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        Ok(Target {
            id: nonprofit.id,
            name: nonprofit.name.to_owned(),
            path: format!("/{}", nonprofit.slug),
        })
    }
}

fn form(target: &Target) -> Form {
    let t = &Layout::new(Section::Other).f.correct;
    let fields = vec![
        Field::area("wrong", t.wrong).hint(t.wrong_hint),
        Field::area("right", t.right).hint(t.right_hint),
        Field::email("email", t.email).hint(t.email_hint),
        // The ID of the report, so that a form that is sent twice is one report.
        Field::hidden("once", Uuid::now_v7().to_string()),
    ];
    Form::new(format!("{}/correct", target.path), t.send, fields)
}

fn page(target: Target, form: Form) -> FormPage {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.correct;
    let title = fill(t.title, &[("name", &target.name)]);
    FormPage::new(layout, title, form)
        .lead(t.lead)
        .link(target.path, t.back)
}
