//! From a paid gift to an entry of the journal: once, however often it is tried.

use super::{GiftRecord, State, store};
use crate::app::App;
use crate::giving::donations::{self, Gift, Label, Refused, find_recipient, record};
use crate::http::error::{Error, Result};
use crate::platform::mail::Mail;
use crate::platform::money::Cents;
use crate::platform::text::hex;
use crate::web::texts::{PUBLIC_EN, fill};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The source of gifts that were made on our own pages.
pub const SOURCE: &str = "site";

/// Puts a pending gift into the journal, and notes on a completed one that it went back. What was done before, also
/// by a server that stopped in between, is not done again.
pub async fn settle(app: &App, gift: GiftRecord) -> Result<GiftRecord> {
    let now = app.clock.millis();
    match (gift.state, gift.entry) {
        (State::Pending, _) => {
            let recorded = record(app, told(app, &gift).await?).await.map_err(refused)?;
            if store::complete(&app.db, gift.id, recorded.sequence, now).await? {
                send_receipt(app, &gift);
            }
        }
        (State::Completed, Some(entry)) if store::find_left(&app.db, entry).await? == Cents::ZERO => {
            store::mark_refunded(&app.db, gift.id, now).await?;
        }
        _ => return Ok(gift),
    }
    store::find(&app.db, gift.id).await?.ok_or(Error::Internal)
}

/// Finishes what a server that stopped has left. One that cannot be finished holds up no other; the first fault is told.
pub async fn settle_pending(app: &App) -> Result<()> {
    let mut told = Ok(());
    for id in store::list_pending(&app.db).await? {
        if let Some(gift) = store::find(&app.db, id).await? {
            told = told.and(settle(app, gift).await.map(drop));
        }
    }
    told
}

/// The gift as the journal is told of it.
async fn told(app: &App, gift: &GiftRecord) -> Result<Gift> {
    let fundraiser = gift.fundraiser.map(|id| id.to_string());
    let to = find_recipient(app, &gift.nonprofit.to_string(), fundraiser.as_deref()).await;
    let label = |text: &str| Label::parse(text).map_err(|_| Error::Internal);
    Ok(Gift {
        source: label(SOURCE)?,
        external_id: label(&gift.id.to_string())?,
        to: to.map_err(refused)?,
        amount: gift.amount,
        donor: label(&donor(gift.email.as_deref(), gift.id))?,
        name: gift.name.as_deref().and_then(|name| Label::parse(name).ok()),
        is_public: gift.is_public,
    })
}

/// The same address of mail is the same donor, and says nothing about the person.
fn donor(email: Option<&str>, gift: Uuid) -> String {
    match email {
        None => format!("site-{gift}"),
        Some(email) => {
            let digest = Sha256::digest(email.to_lowercase().as_bytes());
            format!("site-{}", hex(&digest[..16]))
        }
    }
}

fn refused(fault: Refused) -> Error {
    match fault {
        Refused::Store(fault) => fault.into(),
        donations::Refused::NoSuchNonprofit(_) | Refused::NoSuchFundraiser(_) => Error::NotFound,
        fault => {
            tracing::error!(%fault, "a gift could not be recorded");
            Error::Internal
        }
    }
}

fn send_receipt(app: &App, gift: &GiftRecord) {
    let Some(to) = gift.email.clone().filter(|_| app.mail.is_on()) else {
        return;
    };
    let texts = &PUBLIC_EN.give;
    let address = app.urls.page(&format!("/gifts/{}", gift.id));
    let amount = gift.amount.to_string();
    app.mail.send(&Mail {
        to,
        subject: fill(texts.mail_subject, &[("amount", &amount)]),
        text: fill(texts.mail_text, &[("amount", &amount), ("address", &address)]),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_of_mail_is_one_donor_and_no_address_is_somebody_new() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(
            donor(Some("Ada@example.org"), one),
            donor(Some("ada@example.org"), other)
        );
        assert_ne!(donor(None, one), donor(None, other));
        assert!(!donor(Some("ada@example.org"), one).contains("ada"));
    }
}
