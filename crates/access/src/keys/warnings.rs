//! Emails the owner of a private key, once, after the key was sent in a URL.

use super::store;
use crate::accounts;
use platform::clock::Clock;
use platform::db::Db;
use platform::ids::KeyId;
use platform::mail::{Email, Mailer};
use platform::public_url::PublicUrl;
use platform::text::fill;

const SUBJECT: &str = "Your private key was exposed";
const TEXT: &str = "Hello {username},\n\nYour private key \"{name}\" was sent as part of a URL, where proxies and logs can \
     read it. We rejected the call.\n\nCreate a new key now and revoke the old one:\n\n{link}\n\nPublic keys start with cwpk_ \
     and may appear in a URL. Private keys start with cwsk_ and may not.\n";

/// Emails the owners of exposed keys who have not been warned yet. If several servers try, only one sends the email.
pub async fn warn_owners(db: &Db, clock: &Clock, mailer: &Mailer, public_url: &PublicUrl) {
    if let Err(error) = try_warn(db, clock, mailer, public_url).await {
        tracing::error!(%error, "could not warn the owner of an exposed key");
    }
}

async fn try_warn(db: &Db, clock: &Clock, mailer: &Mailer, public_url: &PublicUrl) -> sqlx::Result<()> {
    if !mailer.is_on() {
        return Ok(());
    }
    for key in store::list_exposed_unmailed(db).await? {
        if !store::mark_mailed(db, KeyId(key.id), clock.millis()).await? {
            continue;
        }
        let account = accounts::store::find(db, &key.username).await?;
        let Some(email) = account.and_then(|account| account.email) else {
            continue;
        };
        let link = format!("{public_url}/dashboard/keys/{}", key.id);
        let values = [
            ("username", key.username.as_str()),
            ("name", &key.name),
            ("link", &link),
        ];
        mailer.send(&Email {
            to: email,
            subject: SUBJECT.to_owned(),
            text: fill(TEXT, &values),
        });
    }
    Ok(())
}
