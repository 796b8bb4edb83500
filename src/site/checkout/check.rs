//! What is asked of a donor before the payment page opens, while somebody tries out stolen cards: work of the browser, or a link
//! in an email. The page of the donation asks, so nothing that the donor typed is lost.

use super::form::path_of;
use crate::app::App;
use crate::http::client::Client;
use crate::http::error::Result;
use crate::web::texts::fill;
use crate::web::{Field, Form, FormData, Layout, Section};
use axum::http::StatusCode;
use giving::checkout::screening::{EMAIL, PROOF};
use giving::checkout::{Donation, store};
use giving::guard::proof;
use platform::email_address::EmailAddress;
use platform::mail::Email;

/// The parameter of the link in the email, and the field that sends it.
pub(super) const TOKEN: &str = "token";
/// The purpose of the signature of the link.
const PURPOSE: &str = "checkout link";

/// What is asked of the donor.
pub(super) struct Challenge {
    pub action: String,
    /// The text and the number of bits of the proof of work.
    pub text: String,
    pub bits: i64,
    /// The token of the link that the donor has opened.
    pub token: Option<String>,
    /// Asks for an email with a link. None if no emails are sent.
    pub email: Option<Form>,
    pub is_sent: bool,
    pub is_unproven: bool,
}

/// What became of a check.
pub(super) enum Outcome {
    Passed,
    Challenged(Box<Challenge>),
}

impl Challenge {
    pub(super) fn new(app: &App, donation: &Donation, token: Option<&str>) -> Challenge {
        let t = &Layout::new(Section::Other).p.give;
        let action = path_of(donation.receipt_id);
        let known = donation.email.as_ref().map(EmailAddress::as_str);
        let fields = vec![
            Field::email("link_email", t.email).value(known.unwrap_or_default()),
            Field::hidden("action", EMAIL),
        ];
        Challenge {
            email: app
                .mail
                .is_on()
                .then(|| Form::new(&action, t.check_send, fields).id("email-link")),
            text: proof::text(&app.secret, donation),
            bits: donation.screening.proof_bits.unwrap_or_default(),
            token: token
                .filter(|token| is_signed(app, donation, token))
                .map(str::to_owned),
            action,
            is_sent: false,
            is_unproven: false,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        let has_errors = self.email.as_ref().is_some_and(Form::has_errors);
        if self.is_unproven || has_errors {
            StatusCode::UNPROCESSABLE_ENTITY
        } else {
            StatusCode::OK
        }
    }
}

/// Checks what the donor sent: a proof, the token of a link, or an address to which the link is sent.
pub(super) async fn submit(
    app: &App,
    client: Client,
    donation: &Donation,
    data: &FormData,
) -> Result<Outcome> {
    let passed_by = if is_signed(app, donation, data.text(TOKEN)) {
        Some(EMAIL)
    } else if proof::is_proven(&app.secret, donation, data.text(PROOF)) {
        Some(PROOF)
    } else {
        None
    };
    if let Some(passed_by) = passed_by {
        store::pass(&app.db, donation.id, passed_by).await?;
        return Ok(Outcome::Passed);
    }
    let mut asked = Challenge::new(app, donation, None);
    if data.text("action") == EMAIL {
        asked.email = asked.email.map(|form| form.with_values(data));
        send_link(app, client, donation, data, &mut asked).await;
    } else {
        asked.is_unproven = true;
    }
    Ok(Outcome::Challenged(Box::new(asked)))
}

fn is_signed(app: &App, donation: &Donation, token: &str) -> bool {
    app.secret.is_signed(PURPOSE, donation.id.as_bytes(), token)
}

async fn send_link(app: &App, client: Client, donation: &Donation, data: &FormData, asked: &mut Challenge) {
    let Some(form) = &mut asked.email else {
        return;
    };
    let t = &Layout::new(Section::Other).p.give;
    let Ok(to) = EmailAddress::parse(data.trimmed("link_email")) else {
        form.add_error("link_email", t.check_bad_email);
        return;
    };
    let (now, attempts) = (app.clock.instant(), &app.access.attempts);
    if attempts.email(&to.mailbox(), client.network, now).await.is_err() {
        form.add_error("link_email", t.check_too_many);
        return;
    }
    let token = app.secret.sign(PURPOSE, donation.id.as_bytes());
    // The token is in the query, which is never logged.
    let link = format!("{}{}?{TOKEN}={token}", app.site.public_url, asked.action);
    let amount = donation.amount.to_string();
    let text = fill(t.check_text, &[("link", &link), ("amount", &amount)]);
    app.mail.send(&Email::new(to.as_str(), t.check_subject, text));
    asked.is_sent = true;
}
