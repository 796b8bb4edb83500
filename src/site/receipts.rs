//! "Email me my receipts": a person who gave gets a link to all donations of an email address.
//!
//! The answer to the form is always the same, so it does not say who has given. The link is signed and expires, and
//! nothing is stored for it, so it cannot be revoked before it expires.

use crate::app::App;
use crate::http::client::Client;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::site::checkout::form::path_of;
use crate::site::checkout::target::Target;
use crate::web::form_page::FormPage;
use crate::web::texts::{ReceiptsTexts, fill};
use crate::web::{Field, Form, FormData, Layout, Page, Section};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, REFERRER_POLICY};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use giving::checkout::receipt::format_date;
use giving::checkout::{Donation, State as DonationState, store};
use giving::donations::store as recorded;
use giving::ledger::store as ledger;
use giving::yearly::link;
use ipnet::IpNet;
use platform::email_address::EmailAddress;
use platform::mail::Email;

/// The path of the form.
pub const PATH: &str = "/donations/receipts";
/// How long a link works.
const LINK_MILLIS: i64 = 24 * 60 * 60 * 1_000;
const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

#[derive(Template)]
#[template(path = "site/receipts.html")]
struct ReceiptsPage {
    layout: Layout,
    email: String,
    donations: Vec<Row>,
    /// The years in which something was given, and where their statements are.
    statements: Vec<(i16, String)>,
}

/// A donation and where its receipt is.
struct Row {
    date: String,
    amount: String,
    name: String,
    path: String,
    is_test: bool,
    is_refunded: bool,
}

/// `GET /donations/receipts`: the form, or the donations of an address if a link from an email has a `token`.
pub async fn receipts(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.receipts;
    let Some(token) = values(&query, "token").next() else {
        return Ok(if app.mail.is_on() {
            form_page(layout, form(t)).into_response()
        } else {
            FormPage::without_form(layout, t.title)
                .lead(t.without_email)
                .into_response()
        });
    };
    let Some(email) = link::parse(&app.secret, &token, app.clock.millis()) else {
        let page = FormPage::without_form(layout, t.stale_title).lead(t.stale);
        return Ok((StatusCode::NOT_FOUND, page.link(PATH, t.again)).into_response());
    };
    let mut donations = Vec::new();
    // The newest first.
    for donation in store::list_by_email(&app.db, &email).await?.into_iter().rev() {
        if donation.state.is_paid() && donation.entry.is_some() {
            donations.push(Row::load(&app, donation).await?);
        }
    }
    let years = app.yearly_statements().find(&email, i16::MIN).await?.years;
    let page = ReceiptsPage {
        statements: years
            .into_iter()
            .map(|year| (year, link::path(&token, year)))
            .collect(),
        email: email.to_string(),
        donations,
        layout,
    };
    let headers = [
        (CACHE_CONTROL, "private, no-store"),
        (ROBOTS_TAG, "noindex"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, Page(page)).into_response())
}

/// `POST /donations/receipts`: sends the link, if there are donations with this address.
pub async fn send(
    State(app): State<App>,
    Client { network, .. }: Client,
    data: FormData,
) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let t = &layout.f.receipts;
    let Ok(email) = EmailAddress::parse(data.trimmed("email")) else {
        let mut form = form(t).with_values(&data);
        form.add_error("email", t.bad_email);
        return Ok(form_page(layout, form).invalid());
    };
    // In the background, so that the time of the answer does not say whether there are donations.
    tokio::spawn(send_link(app, email, network));
    let page = FormPage::without_form(layout, t.sent_title).lead(t.sent);
    Ok(page.into_response())
}

async fn send_link(app: App, email: EmailAddress, network: IpNet) {
    let (per_hour, now) = (app.config.checkout.receipts_per_hour, app.clock.instant());
    let admitted = app
        .access
        .attempts
        .receipt_link(&email.mailbox(), per_hour as usize, network, now)
        .await;
    if admitted.is_err() || !app.mail.is_on() {
        return;
    }
    let donations = match store::list_by_email(&app.db, &email).await {
        Ok(donations) => donations,
        Err(error) => {
            tracing::error!(%error, "failed to send a link to receipts");
            return;
        }
    };
    if !donations.iter().any(|donation| donation.entry.is_some()) {
        return;
    }
    let t = &Layout::new(Section::Other).f.receipts;
    let token = link::token(&app.secret, &email, app.clock.millis() + LINK_MILLIS);
    // The token is in the query, which is never logged.
    let url = format!("{}{PATH}?token={token}", app.site.public_url);
    let text = fill(t.email_text, &[("link", &url)]);
    app.mail
        .send(&Email::new(email.to_string(), t.email_subject, text));
}

impl Row {
    async fn load(app: &App, donation: Donation) -> Result<Row> {
        let donation = recorded::as_recorded(&app.db, donation).await?;
        let recorded_at = match donation.entry {
            Some(entry) => ledger::find_recorded_at(&app.db, entry).await?,
            None => None,
        };
        Ok(Row {
            date: format_date(recorded_at.unwrap_or(donation.started_at), &app.config.time_zone),
            amount: donation.amount.to_string(),
            path: path_of(donation.receipt_id),
            is_test: donation.mode.is_test(),
            is_refunded: matches!(donation.state, DonationState::Refunded | DonationState::Disputed),
            name: match Target::of(app, &donation).await {
                Ok(target) => target.name,
                Err(Error::NotFound) => donation.nonprofit.to_string(),
                Err(error) => return Err(error),
            },
        })
    }
}

fn form(t: &ReceiptsTexts) -> Form {
    let fields = vec![Field::email("email", t.email).hint(t.email_hint)];
    Form::new(PATH, t.send, fields)
}

fn form_page(layout: Layout, form: Form) -> FormPage {
    let t = &layout.f.receipts;
    FormPage::new(layout, t.title, form).lead(t.lead)
}
