//! The email with the link to a receipt.

use super::GiftRecord;
use platform::mail::{Email, Mailer};
use platform::public_url::PublicUrl;

/// Sends the receipt of a completed donation, if the donor left an email address.
pub fn send(mailer: &Mailer, public_url: &PublicUrl, gift: &GiftRecord) {
    let Some(to) = gift.email.clone().filter(|_| mailer.is_on()) else {
        return;
    };
    let (amount, id) = (gift.amount, gift.id);
    mailer.send(&Email {
        to,
        subject: format!("Your gift of {amount}"),
        text: format!("Thank you for your gift of {amount}.\n\nYour receipt: {public_url}/gifts/{id}\n"),
    });
}
