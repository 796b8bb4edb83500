//! Which emails an account gets: a section of the settings page, and the page of the link in every optional email, which
//! works without signing in.

use crate::app::App;
use crate::http::error::Result;
use crate::http::params;
use crate::web::flash::Flash;
use crate::web::form_page::FormPage;
use crate::web::texts::{EmailChoices, fill};
use crate::web::{Form, FormData, Layout};
use access::notices::link::{STOP_PATH, verify};
use access::notices::{NoticeKind, store};
use access::sessions::SignedIn;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use platform::ids::AccountId;

/// The page on which the choices are made.
pub(super) const SETTINGS_PATH: &str = "/dashboard/settings";

/// An optional kind of emails, as the settings page shows it.
pub struct ChoiceRow {
    pub name: &'static str,
    pub label: &'static str,
    pub is_wanted: bool,
}

/// Lists the optional kinds of emails.
pub async fn list(app: &App, layout: &Layout, account: AccountId) -> Result<Vec<ChoiceRow>> {
    let stopped = store::list_stopped(&app.db, account).await?;
    let row = |kind: NoticeKind| ChoiceRow {
        name: kind.as_str(),
        label: label(&layout.t.email_choices, kind),
        is_wanted: !stopped.contains(&kind),
    };
    Ok(optional_kinds().map(row).collect())
}

fn optional_kinds() -> impl Iterator<Item = NoticeKind> {
    NoticeKind::ALL.into_iter().filter(|kind| kind.is_optional())
}

fn label(t: &EmailChoices, kind: NoticeKind) -> &'static str {
    match kind {
        NoticeKind::Donation => t.donation,
        NoticeKind::Return => t.returned,
        NoticeKind::GoalReached => t.goal_reached,
        NoticeKind::Ending => t.ending,
        NoticeKind::WebhookFailing => t.webhook_failing,
        NoticeKind::Decision
        | NoticeKind::SignIn
        | NoticeKind::ExposedKey
        | NoticeKind::WebhookDisabled
        | NoticeKind::Claim => t.always,
    }
}

/// `POST /dashboard/settings/emails`: a box that is not checked is not sent.
pub async fn change(State(app): State<App>, user: SignedIn, data: FormData) -> Result<Response> {
    let wanted: Vec<_> = optional_kinds()
        .map(|kind| (kind, data.find(kind.as_str()).is_some()))
        .collect();
    store::set_wanted(&app.db, user.account, &wanted, app.clock.millis()).await?;
    Ok(Flash::EmailsChanged.redirect(&app.site.public_url, SETTINGS_PATH))
}

/// `GET /dashboard/emails/stop?token=`: shows a button, because programs that scan emails also open links.
pub async fn stop_page(State(app): State<App>, layout: Layout, RawQuery(query): RawQuery) -> Response {
    let Some((token, (_, kind))) = verified(&app, query.as_deref()) else {
        return invalid(layout);
    };
    let t = &layout.t.email_choices;
    let form = Form::new(format!("{STOP_PATH}?token={token}"), t.stop, Vec::new());
    let lead = fill(t.stop_lead, &[("kind", label(t, kind))]);
    let page = FormPage::new(layout, t.stop_title, form).lead(lead);
    page.link(SETTINGS, t.choose).into_response()
}

/// `POST /dashboard/emails/stop?token=`: from the button, or from a mail program as in RFC 8058, whatever its body says.
pub async fn stop(State(app): State<App>, layout: Layout, RawQuery(query): RawQuery) -> Result<Response> {
    let Some((_, (account, kind))) = verified(&app, query.as_deref()) else {
        return Ok(invalid(layout));
    };
    store::set_wanted(&app.db, account, &[(kind, false)], app.clock.millis()).await?;
    let t = &layout.t.email_choices;
    let lead = fill(t.stopped, &[("kind", label(t, kind))]);
    let page = FormPage::without_form(layout, t.stopped_title).lead(lead);
    Ok(page.link(SETTINGS, t.choose).into_response())
}

/// The section of the settings page.
const SETTINGS: &str = "/dashboard/settings#emails";

/// Returns the token of a link, and what we signed.
fn verified(app: &App, query: Option<&str>) -> Option<(String, (AccountId, NoticeKind))> {
    let token = params::values(query?, "token").next()?.into_owned();
    let claim = verify(&app.secret, &token)?;
    Some((token, claim))
}

fn invalid(layout: Layout) -> Response {
    let t = &layout.t.email_choices;
    let page = FormPage::without_form(layout, t.invalid_title).lead(t.invalid);
    (StatusCode::NOT_FOUND, page.link(SETTINGS, t.choose)).into_response()
}
