//! Monthly gifts in test mode: our own clock takes the place of the provider, and every payment succeeds.

use super::manage::Change;
use super::{Cause, MonthlyGift, State, Status, dates, store};
use crate::checkout::settle::Settlement;
use crate::checkout::{Donation, store as checkout};
use crate::donations::DonationError;
use crate::providers::test::NAME;

/// Gifts that are looked at together.
const MAX_BATCH: i64 = 100;

impl Settlement<'_> {
    /// Starts the gift of a donation that was paid with a test card.
    pub(crate) async fn start_test_gift(self, donation: &Donation) -> Result<(), DonationError> {
        if store::find(self.db, donation.id).await?.is_some() {
            return Ok(());
        }
        let now = self.clock.millis();
        let gift = MonthlyGift {
            id: donation.id,
            provider: NAME.to_owned(),
            mode: donation.mode,
            nonprofit: donation.nonprofit,
            fundraiser: donation.fundraiser,
            account: None,
            started_at: now,
            status: Status {
                state: State::Active,
                cause: None,
                amount: donation.amount,
                covered: donation.covered,
                subscription: None,
                customer: None,
                next_at: Some(dates::add_months(now, 1)),
                resumes_at: None,
                canceled_at: None,
                failure: None,
                card_expires_at: None,
            },
            last_invoice: None,
        };
        self.see_gift(gift, now).await
    }

    /// Makes the donations of the test gifts that are due.
    pub async fn renew_test_gifts(self) -> Result<(), DonationError> {
        let now = self.clock.millis();
        for gift in store::list_to_check(self.db, now, MAX_BATCH).await? {
            if gift.provider == NAME {
                self.renew_test_gift(gift).await?;
            }
        }
        Ok(())
    }

    async fn renew_test_gift(self, mut gift: MonthlyGift) -> Result<(), DonationError> {
        let now = self.clock.millis();
        if gift.status.state == State::Active && !self.can_receive(&gift).await? {
            gift.status = paused(gift.status, None, true);
        }
        if gift.status.resumes_at.is_some_and(|at| at <= now) {
            gift.status = resumed(gift.status);
        }
        if let Some(due) = gift.status.next_at.filter(|due| *due <= now) {
            if gift.status.state == State::Active {
                self.record_renewal(&gift, &format!("{} {due}", gift.id)).await?;
            }
            gift.status.next_at = Some(dates::first_from(gift.started_at, now + 1));
        }
        self.see_gift(gift, now).await
    }

    async fn record_renewal(self, gift: &MonthlyGift, payment: &str) -> Result<(), DonationError> {
        let Some(first) = checkout::find(self.db, gift.id).await? else {
            return Ok(());
        };
        let amount = (gift.status.amount, gift.status.covered);
        let donation = self.insert_renewal(&first, payment, amount).await?;
        checkout::pay(self.db, donation.id, self.clock.millis()).await?;
        if let Some(paid) = checkout::find(self.db, donation.id).await? {
            self.settle(paid).await?;
        }
        Ok(())
    }

    /// Changes a test gift.
    pub(super) async fn change_test_gift(
        self,
        mut gift: MonthlyGift,
        change: Change,
    ) -> Result<(), DonationError> {
        let now = self.clock.millis();
        gift.status = match change {
            Change::Amount { amount, covered } => Status {
                amount,
                covered,
                ..gift.status
            },
            Change::Pause { months } => {
                let next_at = gift.status.next_at.unwrap_or(now);
                paused(gift.status, Some(dates::pause_end(next_at, months)), false)
            }
            Change::Resume => resumed(gift.status),
            Change::Cancel => Status {
                state: State::Canceled,
                canceled_at: Some(now),
                ..gift.status
            },
        };
        self.see_gift(gift, now).await
    }
}

fn paused(status: Status, resumes_at: Option<i64>, has_no_recipient: bool) -> Status {
    Status {
        state: State::Paused,
        cause: has_no_recipient.then_some(Cause::Recipient),
        resumes_at,
        ..status
    }
}

fn resumed(status: Status) -> Status {
    Status {
        state: State::Active,
        cause: None,
        resumes_at: None,
        ..status
    }
}
