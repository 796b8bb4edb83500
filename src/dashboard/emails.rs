//! The emails that pages of the dashboard send.

use crate::app::App;
use crate::http::destination::Destination;
use crate::web::texts::{EN, fill};
use access::accounts::Account;
use access::accounts::links::{Purpose, store};
use access::accounts::token::Token;
use platform::mail::Email;

/// Sends a link to the owner of an account; an account without an email address gets none. The link carries where the owner
/// wanted to go.
pub async fn send_link(
    app: &App,
    account: &Account,
    purpose: Purpose,
    destination: &Destination,
) -> sqlx::Result<()> {
    match &account.email {
        Some(email) => send_link_to(app, account, email, purpose, destination).await,
        None => Ok(()),
    }
}

/// Sends a link to an email address, which is a new one if the purpose is to change it.
pub async fn send_link_to(
    app: &App,
    account: &Account,
    email: &str,
    purpose: Purpose,
    destination: &Destination,
) -> sqlx::Result<()> {
    let token = Token::generate();
    let new_email = (purpose == Purpose::ChangeEmail).then_some(email);
    let now = app.clock.millis();
    store::insert(&app.db, &token, account.id, purpose, new_email, now).await?;
    let (path, subject, text) = match purpose {
        Purpose::ChangeEmail => (
            "/dashboard/settings/email/confirm",
            EN.emails.change_subject,
            EN.emails.change,
        ),
        Purpose::Reset => ("/dashboard/reset/set", EN.emails.reset_subject, EN.emails.reset),
        Purpose::Confirm => ("/dashboard/confirm", EN.emails.confirm_subject, EN.emails.confirm),
    };
    // The token is in the query, which is never logged.
    let link = format!("{}{path}?token={}", app.site.public_url, token.expose());
    let link = destination.add_to(&link);
    app.mail.send(&Email::new(
        email,
        fill(subject, &[("site", &app.config.site.name)]),
        fill(text, &[("username", &account.username), ("link", &link)]),
    ));
    Ok(())
}

/// Tells the owner of an account what has happened to it, in case it was someone else. Does nothing without an email
/// address.
pub fn send_notice(app: &App, username: &str, email: Option<&str>, (subject, text): (&str, &str)) {
    let Some(email) = email else {
        return;
    };
    app.mail.send(&Email::new(
        email,
        fill(subject, &[("site", &app.config.site.name)]),
        fill(
            text,
            &[("username", username), ("url", app.site.public_url.as_str())],
        ),
    ));
}
