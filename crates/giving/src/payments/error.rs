//! Why a payment could not be handled.

use crate::books::BooksError;
use crate::donations::DonationError;
use crate::providers::stripe::client::StripeError;
use platform::money::Cents;
use thiserror::Error;

/// Why a payment could not be handled.
#[derive(Debug, Error)]
pub enum PaymentError {
    #[error(transparent)]
    Stripe(#[from] StripeError),
    #[error(transparent)]
    Donation(#[from] DonationError),
    #[error(transparent)]
    Books(#[from] BooksError),
    /// The payment page of the donation is closed: it was paid, or it has expired.
    #[error("the payment page of this donation is closed; open its page to see what became of it")]
    Closed,
    /// The donor has to pass a check first.
    #[error("the payment page of this donation opens after a check; open the page of the donation")]
    Held,
    #[error(
        "this donation was not paid with Stripe; refund it where it was paid, and record that with --refund-id"
    )]
    NotPaidHere,
    #[error("this donation is disputed; wait until the bank has decided, because a refund would pay twice")]
    Disputed,
    #[error(
        "a refund of {amount} was asked for before, and Stripe has not answered yet; ask for that amount again first"
    )]
    RefundInProgress { amount: Cents },
    #[error(
        "the balances differ because of transactions; explain those, and the next comparison finds no difference"
    )]
    BalanceHasReasons,
    #[error("only {left} of this donation is left; refund at most that much")]
    MoreThanLeft { left: Cents },
    #[error("Stripe sent an object that cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

impl From<sqlx::Error> for PaymentError {
    fn from(error: sqlx::Error) -> PaymentError {
        PaymentError::Donation(error.into())
    }
}

/// The result of handling a payment.
pub type Result<T> = std::result::Result<T, PaymentError>;
