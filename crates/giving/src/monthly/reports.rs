//! Takes the reports of providers about gifts.

use super::emails::Letter;
use super::seen::Seen;
use super::{MonthlyGift, token};
use crate::checkout::settle::Settlement;
use crate::checkout::{Donation, store as checkout};
use crate::donations::DonationError;

impl Settlement<'_> {
    /// Returns what emails about a gift need, if its donor has an email address and emails are sent.
    pub(crate) async fn letter(self, gift: &MonthlyGift) -> sqlx::Result<Option<Letter>> {
        if !self.mailer.is_on() {
            return Ok(None);
        }
        let first = checkout::find(self.db, gift.id).await?;
        let Some(Donation { email: Some(to), .. }) = first else {
            return Ok(None);
        };
        Ok(Some(Letter {
            to,
            recipient: self.recipient_name(gift.nonprofit, gift.fundraiser).await?,
            link: token::link(self.public_url, self.secret, gift.id, self.clock.millis()),
            page: format!("{}{}", self.public_url, token::PATH),
            time_zone: self.time_zone.clone(),
            attempts: self.payment_attempts,
        }))
    }

    /// Stores what a provider reported about a gift when it was asked at a time.
    pub(crate) async fn see_gift(self, gift: MonthlyGift, at: i64) -> Result<(), DonationError> {
        let letter = self.letter(&gift).await?;
        let report = Seen {
            gift,
            at,
            letter,
            mailer: self.mailer.clone(),
        };
        Ok(self.recorder.see_monthly_gift(report).await?)
    }
}
