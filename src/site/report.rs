//! "Report this": a form in which visitors tell the operators about a fundraiser or a nonprofit.

use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{PathPair, PathText};
use crate::site::find::find as find_nonprofit;
use crate::site::fundraiser_links;
use crate::web::form::Choice;
use crate::web::form_page::FormPage;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Section};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use giving::reports::{MAX_DETAILS_CHARS, Reason, Report, Subject, store};
use ipnet::IpNet;
use platform::email_address::EmailAddress;
use uuid::Uuid;

/// What is reported: its name, and the path of its page.
pub(super) struct Target {
    subject: Subject,
    name: String,
    pub path: String,
}

/// The texts of a page with a form for reports.
pub(super) struct PageTexts {
    pub title: &'static str,
    pub lead: &'static str,
    pub back: &'static str,
    pub too_often: &'static str,
    pub sent_title: &'static str,
    pub sent: &'static str,
}

/// `GET /{nonprofit}/report`
pub async fn of_nonprofit(State(app): State<App>, PathText(slug): PathText) -> Result<Response> {
    Ok(show(Target::nonprofit(&app, &slug).await?))
}

/// `POST /{nonprofit}/report`
pub async fn send_of_nonprofit(
    State(app): State<App>,
    Client { network, .. }: Client,
    PathText(slug): PathText,
    data: FormData,
) -> Result<Response> {
    send(&app, Target::nonprofit(&app, &slug).await?, network, &data).await
}

/// `GET /{nonprofit}/f/{fundraiser}/report`
pub async fn of_fundraiser(State(app): State<App>, PathPair(nonprofit, name): PathPair) -> Result<Response> {
    Ok(show(Target::fundraiser(&app, &nonprofit, &name).await?))
}

/// `POST /{nonprofit}/f/{fundraiser}/report`
pub async fn send_of_fundraiser(
    State(app): State<App>,
    Client { network, .. }: Client,
    PathPair(nonprofit, name): PathPair,
    data: FormData,
) -> Result<Response> {
    let target = Target::fundraiser(&app, &nonprofit, &name).await?;
    send(&app, target, network, &data).await
}

impl Target {
    pub(super) async fn nonprofit(app: &App, slug: &str) -> Result<Target> {
        let found = find_nonprofit(&app.directory, slug).await?;
        let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
        Ok(Target {
            subject: Subject::Nonprofit(nonprofit.id),
            name: nonprofit.name.to_owned(),
            path: format!("/{}", nonprofit.slug),
        })
    }

    async fn fundraiser(app: &App, nonprofit: &str, name: &str) -> Result<Target> {
        let found = fundraiser_links::find(&app.directory, &app.giving.fundraisers, nonprofit, name).await?;
        Ok(Target {
            subject: Subject::Fundraiser(found.fundraiser.id),
            name: found.fundraiser.title.clone(),
            path: fundraiser_links::path_of(&app.directory, &found.fundraiser).await?,
        })
    }

    /// Returns the page with a form.
    pub(super) fn page(self, t: &PageTexts, form: Form) -> FormPage {
        let title = fill(t.title, &[("name", &self.name)]);
        FormPage::new(Layout::new(Section::Other), title, form)
            .lead(t.lead)
            .link(self.path, t.back)
    }

    /// Stores a report, unless the network has sent too many, and returns the page that confirms it.
    pub(super) async fn send(
        self,
        app: &App,
        network: IpNet,
        t: &PageTexts,
        mut form: Form,
        content: Content,
    ) -> Result<Response> {
        if let Err(wait) = app.access.attempts.report(network, app.clock.instant()).await {
            form.add_form_error(t.too_often);
            return Ok(self.page(t, form).too_many_requests(wait.0));
        }
        let report = Report {
            id: content.id,
            subject: self.subject,
            reason: content.reason,
            details: content.details,
            email: content.email,
            created_at: app.clock.millis(),
            closed_at: None,
        };
        store::insert(&app.db, &report).await?;
        let page = FormPage::without_form(Layout::new(Section::Other), t.sent_title).lead(t.sent);
        Ok(page.link(self.path, t.back).into_response())
    }
}

/// What a visitor submitted.
pub(super) struct Content {
    pub id: Uuid,
    pub reason: Reason,
    pub details: String,
    pub email: Option<String>,
}

/// Returns the field with the ID of the report, so that a form that is sent twice is one report.
pub(super) fn once_field() -> Field {
    Field::hidden("once", Uuid::now_v7().to_string())
}

/// Reads the ID of the report.
pub(super) fn once(data: &FormData) -> Result<Uuid> {
    Uuid::try_parse(data.text("once")).map_err(|_| Error::NotAForm)
}

/// Reads a text of several lines. Returns `None` if it is empty, too long or has control characters.
pub(super) fn text(data: &FormData, name: &str, max_chars: usize) -> Option<String> {
    // Some browsers send line breaks as CR LF.
    let text = data.trimmed(name).replace("\r\n", "\n");
    let is_control = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    let is_valid = !text.is_empty() && text.chars().count() <= max_chars && !text.contains(is_control);
    is_valid.then_some(text)
}

fn show(target: Target) -> Response {
    let form = form(&target);
    target.page(&texts(), form).into_response()
}

async fn send(app: &App, target: Target, network: IpNet, data: &FormData) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.p.report;
    let mut form = form(&target).with_values(data);
    let id = once(data)?;
    let reason = Reason::find(data.text("reason")).filter(|reason| Reason::CHOICES.contains(reason));
    if reason.is_none() {
        form.add_error("reason", t.no_reason);
    }
    let details = text(data, "details", MAX_DETAILS_CHARS);
    if details.is_none() {
        form.add_error("details", t.invalid_details);
    }
    let email = data.trimmed("email").to_lowercase();
    if !email.is_empty() && EmailAddress::parse(&email).is_err() {
        form.add_error("email", layout.p.give.bad_email);
    }
    let (Some(reason), Some(details), false) = (reason, details, form.has_errors()) else {
        return Ok(target.page(&texts(), form).invalid());
    };
    let content = Content {
        id,
        reason,
        details,
        email: Some(email).filter(|email| !email.is_empty()),
    };
    target.send(app, network, &texts(), form, content).await
}

fn form(target: &Target) -> Form {
    let t = &Layout::new(Section::Other).p.report;
    let choices = Reason::CHOICES
        .map(|reason| Choice::new(reason.as_str(), t.reason(reason), ""))
        .to_vec();
    let fields = vec![
        Field::choice("reason", t.why, choices).value(""),
        Field::area("details", t.details).hint(t.details_hint),
        Field::email("email", t.email).hint(t.email_hint).optional(),
        once_field(),
    ];
    Form::new(format!("{}/report", target.path), t.send, fields)
}

fn texts() -> PageTexts {
    let t = &Layout::new(Section::Other).p.report;
    PageTexts {
        title: t.title,
        lead: t.lead,
        back: t.back,
        too_often: t.too_often,
        sent_title: t.sent_title,
        sent: t.sent,
    }
}
