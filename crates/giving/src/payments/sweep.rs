//! The sweep: asks Stripe about donations whose outcome no event has told.
//!
//! A donation is asked about two minutes after it was started, then less and less often, up to once an hour. It is never given
//! up by our clock alone: its session is ended at Stripe first.

use super::Payments;
use super::error::{PaymentError, Result};
use crate::checkout::{Donation, State, store};
use crate::providers::stripe::pacing::Urgency;
use uuid::Uuid;

const MINUTE_MILLIS: i64 = 60_000;
const HOUR_MILLIS: i64 = 60 * MINUTE_MILLIS;
/// When a donation is first asked about.
pub(crate) const FIRST_CHECK_MILLIS: i64 = 2 * MINUTE_MILLIS;
/// A session that is still open after this time is ended. Stripe itself ends it after 24 hours.
const MAX_OPEN_MILLIS: i64 = 24 * HOUR_MILLIS;
/// Stripe repeats the answer to a lost call for at least 24 hours; afterwards it would create another session.
const MAX_REPEAT_MILLIS: i64 = 23 * HOUR_MILLIS;
/// A donor can try again for this long after the bank refused a payment, which it can do days later.
const MAX_FAILED_MILLIS: i64 = 14 * 24 * HOUR_MILLIS;
/// Donations that one sweep asks about.
const MAX_BATCH: i64 = 100;

impl Payments<'_> {
    /// Asks about the donations that are due. One that fails does not hold up the others; the first error is returned.
    pub async fn sweep(self) -> Result<()> {
        let now = self.settlement.clock.millis();
        let mut outcome = self.repeat_refund_requests().await;
        outcome = outcome.and(self.check_monthly_gifts().await);
        for id in store::list_to_check(self.settlement.db, now, MAX_BATCH).await? {
            outcome = outcome.and(self.check_donation(id).await);
        }
        outcome
    }

    async fn check_donation(self, id: Uuid) -> Result<()> {
        let db = self.settlement.db;
        let Some(donation) = store::find(db, id).await? else {
            return Ok(());
        };
        // First, so that an error does not stop others from being asked about.
        let next = self.settlement.clock.millis() + pause(donation.payment.checks);
        store::set_check(db, id, Some(next), donation.payment.checks + 1).await?;
        if donation.mode != self.mode {
            return Ok(());
        }
        match donation.state {
            State::Started | State::Failed | State::Processing => self.check_session(&donation).await,
            State::Expired => Ok(store::set_check(db, id, None, 0).await?),
            State::Pending | State::Completed | State::Refunded | State::Disputed => {
                match &donation.payment.charge {
                    Some(charge) => {
                        let account = donation.account.as_deref();
                        let charge = self.stripe.find_charge(charge, account, Urgency::Sweep).await?;
                        self.apply_charge(&charge, account, Urgency::Sweep).await
                    }
                    None => Ok(store::set_check(db, id, None, 0).await?),
                }
            }
        }
    }

    async fn check_session(self, donation: &Donation) -> Result<()> {
        let (db, now) = (self.settlement.db, self.settlement.clock.millis());
        let account = donation.account.as_deref();
        let age = now - donation.attempted_at();
        let Some(id) = &donation.payment.session else {
            if donation.screening.is_held() {
                return Ok(());
            }
            // The answer to the call that should create the session was lost.
            if age > MAX_REPEAT_MILLIS {
                store::expire(db, donation.id, now).await?;
                return Ok(());
            }
            let session = self.create_session(donation).await?;
            return self.apply_session(session, account, Urgency::Sweep).await;
        };
        let mut session = self.stripe.find_session(id, account, Urgency::Sweep).await?;
        if session.status.as_deref() == Some("open") && age > MAX_OPEN_MILLIS {
            session = match self.stripe.expire_session(id, account).await {
                Ok(session) => session,
                // It was paid in between.
                Err(error) if error.is_refused() => {
                    self.stripe.find_session(id, account, Urgency::Sweep).await?
                }
                Err(error) => return Err(PaymentError::from(error)),
            };
        }
        let is_too_old = age > MAX_FAILED_MILLIS;
        if let (true, State::Failed, Some(subscription)) = (is_too_old, donation.state, &session.subscription)
        {
            self.give_up_gift(subscription.id(), account).await?;
        }
        let is_given_up = is_too_old && session.was_refused();
        self.apply_session(session, account, Urgency::Sweep).await?;
        if is_given_up {
            store::expire(db, donation.id, now).await?;
        }
        Ok(())
    }
}

/// The pause after a donation was asked about this often.
fn pause(checks: i64) -> i64 {
    (FIRST_CHECK_MILLIS << checks.clamp(0, 10)).min(HOUR_MILLIS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn donations_are_asked_about_less_and_less_often_up_to_once_an_hour() {
        let minutes = |checks| pause(checks) / MINUTE_MILLIS;
        assert_eq!([0, 1, 2, 3, 4, 5, 60].map(minutes), [2, 4, 8, 16, 32, 60, 60]);
    }
}
