//! Tells the owner of a private key, once and by mail, that it was seen where anybody can read it.

use crate::access::accounts::store;
use crate::access::keys::store as keys;
use crate::app::App;
use crate::platform::ids::KeyId;
use crate::platform::mail::Mail;
use crate::web::texts::{EN, fill};

/// Mails the owners who have not been told. Of several servers the one that notes it first sends the mail.
pub async fn warn_owners(app: &App) {
    if let Err(fault) = try_warn(app).await {
        tracing::error!(%fault, "the owner of an exposed key could not be warned");
    }
}

async fn try_warn(app: &App) -> sqlx::Result<()> {
    if !app.mail.is_on() {
        return Ok(());
    }
    for key in keys::list_exposed_unmailed(&app.db).await? {
        if !keys::mark_mailed(&app.db, KeyId(key.id), app.clock.millis()).await? {
            continue;
        }
        let account = store::find_whole(&app.db, &key.username).await?;
        let Some(email) = account.and_then(|account| account.email) else {
            continue;
        };
        let link = format!("{}/dashboard/keys/{}", app.config.public_url, key.id);
        let values = [
            ("username", key.username.as_str()),
            ("name", &key.name),
            ("link", &link),
        ];
        app.mail.send(&Mail {
            to: email,
            subject: EN.mails.exposed_subject.to_owned(),
            text: fill(EN.mails.exposed, &values),
        });
    }
    Ok(())
}
