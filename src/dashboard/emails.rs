//! The emails that pages of the dashboard send.

use crate::app::App;
use crate::web::texts::{EN, fill};
use access::accounts::Account;
use access::accounts::links::{Purpose, store};
use access::accounts::token::Token;
use platform::mail::Email;

/// Sends a link to the owner of an account; an account without an email address gets none.
pub async fn send_link(app: &App, account: &Account, purpose: Purpose) -> sqlx::Result<()> {
    let Some(email) = &account.email else {
        return Ok(());
    };
    let token = Token::generate();
    store::insert(&app.db, &token, account.id, purpose, app.clock.millis()).await?;
    let (path, subject, text) = match purpose {
        Purpose::Reset => ("/dashboard/reset/set", EN.emails.reset_subject, EN.emails.reset),
        Purpose::Confirm => ("/dashboard/confirm", EN.emails.confirm_subject, EN.emails.confirm),
    };
    // The token is in the query, which is never logged.
    let link = format!("{}{path}?token={}", app.public_url, token.expose());
    app.mail.send(&Email {
        to: email.clone(),
        subject: fill(subject, &[("site", &app.config.site.name)]),
        text: fill(text, &[("username", &account.username), ("link", &link)]),
    });
    Ok(())
}
