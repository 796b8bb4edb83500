//! Emails that time causes: before a card expires, and once a year.

use super::store;
use crate::checkout::settle::Settlement;
use platform::mail::Email;
use uuid::Uuid;

const DAY_MILLIS: i64 = 24 * 3_600_000;
/// How long before a card expires its donor is warned.
const WARNING_MILLIS: i64 = 30 * DAY_MILLIS;
const YEAR_MILLIS: i64 = 365 * DAY_MILLIS;
/// Emails that are written at once.
const MAX_BATCH: i64 = 100;

/// What an email is about.
#[derive(Clone, Copy)]
enum Notice {
    CardExpiry(i64),
    Yearly,
}

impl Settlement<'_> {
    /// Warns donors whose card expires within 30 days, and reminds those who have given for another year.
    pub async fn send_monthly_notices(self) -> sqlx::Result<()> {
        let (db, now) = (self.db, self.clock.millis());
        if !self.mailer.is_on() {
            return Ok(());
        }
        for gift in store::list_expiring(db, now, now + WARNING_MILLIS, MAX_BATCH).await? {
            if let Some(expires_at) = gift.status.card_expires_at {
                let letter = self.letter(&gift).await?;
                let email = letter.map(|letter| letter.card_expiry(&gift, expires_at));
                self.send_once(gift.id, Notice::CardExpiry(expires_at), email)
                    .await?;
            }
        }
        for gift in store::list_to_remind(db, now - YEAR_MILLIS, MAX_BATCH).await? {
            let letter = self.letter(&gift).await?;
            let email = letter.map(|letter| letter.reminder(&gift));
            self.send_once(gift.id, Notice::Yearly, email).await?;
        }
        Ok(())
    }

    /// Notes that a donor was told, and sends the email, unless another server has. A donor who was erased has none.
    async fn send_once(self, gift: Uuid, notice: Notice, email: Option<Email>) -> sqlx::Result<()> {
        let now = self.clock.millis();
        let mut tx = self.db.write().await?;
        let is_first = match notice {
            Notice::CardExpiry(at) => store::set_warned(&mut tx, gift, at).await?,
            Notice::Yearly => store::set_reminded(&mut tx, gift, now - YEAR_MILLIS, now).await?,
        };
        if !is_first {
            return Ok(());
        }
        let prepared = match email {
            Some(email) => Some(self.mailer.prepare(&mut tx, email).await?),
            None => None,
        };
        tx.commit().await?;
        if let Some(email) = prepared {
            self.mailer.dispatch(email);
        }
        Ok(())
    }
}
