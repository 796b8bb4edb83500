//! Links that are mailed: to set a new password, and to confirm an address. Each works once, for an hour or a day.

pub mod store;

use super::Account;
use super::token::Token;
use crate::app::App;
use crate::platform::mail::Mail;
use crate::web::texts::{EN, fill};
use std::time::Duration;

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Reset,
    Confirm,
}

impl Purpose {
    const fn name(self) -> &'static str {
        match self {
            Purpose::Reset => "reset",
            Purpose::Confirm => "confirm",
        }
    }

    const fn lasts(self) -> Duration {
        match self {
            Purpose::Reset => Duration::from_hours(1),
            Purpose::Confirm => Duration::from_hours(24),
        }
    }

    const fn path(self) -> &'static str {
        match self {
            Purpose::Reset => "/dashboard/reset/set",
            Purpose::Confirm => "/dashboard/confirm",
        }
    }
}

/// Mails a link to the owner of an account; an account without an address gets none.
pub async fn send(app: &App, account: &Account, purpose: Purpose) -> sqlx::Result<()> {
    let Some(email) = &account.email else {
        return Ok(());
    };
    let token = Token::generate();
    store::insert(&app.db, &token, account.id, purpose, app.clock.millis()).await?;
    // In the query, which no log has.
    let link = format!(
        "{}{}?token={}",
        app.config.public_url,
        purpose.path(),
        token.expose()
    );
    let (subject, text) = match purpose {
        Purpose::Reset => (EN.mails.reset_subject, EN.mails.reset),
        Purpose::Confirm => (EN.mails.confirm_subject, EN.mails.confirm),
    };
    app.mail.send(&Mail {
        to: email.clone(),
        subject: subject.to_owned(),
        text: fill(text, &[("username", &account.username), ("link", &link)]),
    });
    Ok(())
}
