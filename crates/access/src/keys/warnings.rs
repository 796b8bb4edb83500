//! Emails the owner of a private key, once, after the key was sent in a URL.

use super::store::{self, StoredKey};
use crate::notices::{Notice, NoticeKind, Notices};
use platform::db::Db;
use platform::ids::{AccountId, KeyId};
use platform::mail::EmailText;

/// Emails the owners of exposed keys who have not been warned yet. If several servers try, only one sends the email.
pub async fn warn_owners(db: &Db, notices: Notices<'_>) {
    if let Err(error) = try_warn(db, notices).await {
        tracing::error!(%error, "could not warn the owner of an exposed key");
    }
}

async fn try_warn(db: &Db, notices: Notices<'_>) -> sqlx::Result<()> {
    if !notices.mailer.is_on() {
        return Ok(());
    }
    for key in store::list_exposed_unmailed(db).await? {
        let mut tx = db.write().await?;
        if !store::mark_mailed(&mut tx, KeyId(key.id), notices.clock.millis()).await? {
            continue;
        }
        let link = format!("{}/dashboard/keys/{}", notices.public_url, key.id);
        let (account, notice) = (AccountId(key.account_id), compose(&key, &link));
        let prepared = notices.queue(&mut tx, account, &notice).await?;
        tx.commit().await?;
        if let Some(prepared) = prepared {
            notices.mailer.dispatch(prepared);
        }
    }
    Ok(())
}

fn compose(key: &StoredKey, link: &str) -> Notice {
    let name = key.title();
    Notice {
        kind: NoticeKind::ExposedKey,
        subject: "Your private key was exposed".to_owned(),
        text: EmailText::new(&format!(
            "Your private key \"{name}\" was sent as part of a URL, where proxies and logs can read it. We rejected the call."
        ))
        .paragraph("Create a new key now and revoke the old one.")
        .link("Rotate the key", link)
        .paragraph(
            "Public keys start with cwpk_ and may appear in a URL. Private keys start with cwsk_ and may not.",
        ),
        line: format!("The private key \"{name}\" was sent as part of a URL: {link}"),
    }
}
