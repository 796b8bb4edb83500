//! From a paid gift to an entry of the journal: once, however often it is tried.

use super::{GiftRecord, State, receipt, store};
use crate::donations::{Gift, Label, Recorded, Refused, find_recipient};
use crate::recorder::Recorder;
use directory::Directory;
use platform::clock::Clock;
use platform::db::Db;
use platform::mail::Mailer;
use platform::money::Cents;
use platform::public_url::PublicUrl;
use platform::text::hex;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// The source of gifts that were made on our own pages.
pub const SOURCE: &str = "site";

/// The parts that settling payments uses.
#[derive(Clone, Copy, Debug)]
pub struct Settlement<'a> {
    pub db: &'a Db,
    pub directory: &'a Directory,
    pub recorder: &'a Recorder,
    pub clock: &'a Clock,
    pub mailer: &'a Mailer,
    pub public_url: &'a PublicUrl,
}

impl Settlement<'_> {
    /// Records a paid donation in the ledger, or marks a completed one as refunded. Steps that were done before, also
    /// by a server that stopped in between, are not done again.
    pub async fn settle(self, gift: GiftRecord) -> Result<GiftRecord, Refused> {
        let (db, now) = (self.db, self.clock.millis());
        match (gift.state, gift.entry) {
            (State::Pending, _) => {
                let recorded = self.record(&gift).await.inspect_err(log)?;
                if store::complete(db, gift.id, recorded.sequence, now).await? {
                    receipt::send(self.mailer, self.public_url, &gift);
                }
            }
            (State::Completed, Some(entry)) if store::find_left(db, entry).await? == Cents::ZERO => {
                store::mark_refunded(db, gift.id, now).await?;
            }
            _ => return Ok(gift),
        }
        let settled = store::find(db, gift.id).await?;
        settled.ok_or_else(|| sqlx::Error::RowNotFound.into())
    }

    /// Settles the payments that a server left pending when it stopped. One that fails does not hold up the others; the
    /// first error is returned.
    pub async fn settle_pending(self) -> Result<(), Refused> {
        let mut outcome = Ok(());
        for id in store::list_pending(self.db).await? {
            if let Some(gift) = store::find(self.db, id).await? {
                outcome = outcome.and(self.settle(gift).await.map(drop));
            }
        }
        outcome
    }

    async fn record(self, gift: &GiftRecord) -> Result<Recorded, Refused> {
        let fundraiser = gift.fundraiser.map(|id| id.to_string());
        let nonprofit = gift.nonprofit.to_string();
        let to = find_recipient(self.db, self.directory, &nonprofit, fundraiser.as_deref()).await?;
        let donation = Gift {
            source: label(SOURCE),
            external_id: label(&gift.id.to_string()),
            to,
            amount: gift.amount,
            donor: label(&donor(gift.email.as_deref(), gift.id)),
            name: gift.name.as_deref().and_then(|name| Label::parse(name).ok()),
            is_public: gift.is_public,
        };
        self.recorder.record(donation).await
    }
}

fn label(text: &str) -> Label {
    Label::parse(text).expect("names of our own are valid labels")
}

/// Logs a refusal that a donor can do nothing about.
fn log(error: &Refused) {
    match error {
        Refused::Store(_) | Refused::NoSuchNonprofit(_) | Refused::NoSuchFundraiser(_) => {}
        error => tracing::error!(%error, "a donation could not be recorded"),
    }
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
