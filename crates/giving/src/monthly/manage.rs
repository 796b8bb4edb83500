//! What donors do with their monthly gifts.

use super::{MonthlyGift, State, dates};
use crate::checkout::settle::Settlement;
use crate::donations::DonationError;
use crate::payments::Payments;
use crate::payments::error::PaymentError;
use crate::providers::stripe::pacing::Urgency;
use crate::providers::{stripe, test};
use platform::money::Cents;
use thiserror::Error;

/// A change of a gift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// What is charged from the next payment on, and the part of it that covers the fee.
    Amount {
        amount: Cents,
        covered: Cents,
    },
    /// Leaves out this number of payments.
    Pause {
        months: i64,
    },
    Resume,
    /// At once, and for good.
    Cancel,
}

/// Why a gift was not changed.
#[derive(Debug, Error)]
pub enum ChangeError {
    #[error("this gift is canceled, so it cannot be changed")]
    Canceled,
    #[error("pause the gift for 1 to {} months", dates::MAX_PAUSE_MONTHS)]
    Months,
    #[error("the nonprofit of this gift can no longer receive donations here")]
    NoRecipient,
    /// The server no longer uses the provider of the gift.
    #[error("this gift is paid with another provider than this server uses now; ask the operator")]
    OtherProvider,
    #[error(transparent)]
    Payment(#[from] PaymentError),
}

impl From<DonationError> for ChangeError {
    fn from(error: DonationError) -> ChangeError {
        PaymentError::from(error).into()
    }
}

/// Changes a gift. `payments` is there if the provider of this server is Stripe.
pub async fn change(
    settlement: Settlement<'_>,
    payments: Option<Payments<'_>>,
    gift: MonthlyGift,
    change: Change,
) -> Result<(), ChangeError> {
    if gift.status.state == State::Canceled {
        // Canceling twice is what the donor wants.
        return if change == Change::Cancel {
            Ok(())
        } else {
            Err(ChangeError::Canceled)
        };
    }
    match change {
        Change::Pause { months } if !(1..=dates::MAX_PAUSE_MONTHS).contains(&months) => {
            return Err(ChangeError::Months);
        }
        Change::Resume if !settlement.can_receive(&gift).await? => return Err(ChangeError::NoRecipient),
        _ => {}
    }
    match (gift.provider.as_str(), payments) {
        (test::NAME, _) => settlement.change_test_gift(gift, change).await?,
        (stripe::NAME, Some(payments)) if payments.mode == gift.mode => {
            payments.change_subscription(&gift, change).await?;
        }
        _ => return Err(ChangeError::OtherProvider),
    }
    Ok(())
}

/// Returns a gift as its provider reports it now. If the provider cannot be asked, it is what is known.
pub async fn refresh(payments: Option<Payments<'_>>, gift: MonthlyGift) -> Result<MonthlyGift, PaymentError> {
    let (Some(payments), Some(subscription)) = (payments, &gift.status.subscription) else {
        return Ok(gift);
    };
    let account = gift.account.as_deref();
    match payments
        .refresh_subscription(subscription, account, Urgency::Donor)
        .await
    {
        Ok(refreshed) => Ok(refreshed.unwrap_or(gift)),
        Err(PaymentError::Stripe(error)) => {
            tracing::warn!(%error, gift = %gift.id, "could not ask Stripe about a monthly gift");
            Ok(gift)
        }
        Err(error) => Err(error),
    }
}

/// Returns the URL of the page where the donor enters a new card, from which the donor returns to `return_url`. `None` if the
/// gift has no card.
pub async fn card_page(
    payments: Option<Payments<'_>>,
    gift: &MonthlyGift,
    return_url: &str,
) -> Result<Option<String>, ChangeError> {
    match (&gift.status.customer, payments) {
        _ if gift.status.state == State::Canceled => Err(ChangeError::Canceled),
        (Some(customer), Some(payments)) if payments.mode == gift.mode => Ok(Some(
            payments
                .open_portal(customer, gift.account.as_deref(), return_url)
                .await?,
        )),
        (Some(_), _) => Err(ChangeError::OtherProvider),
        (None, _) => Ok(None),
    }
}
