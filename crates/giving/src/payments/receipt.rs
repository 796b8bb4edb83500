//! The email with the link to a receipt.

use super::Donation;
use crate::ledger::entry::Mode;
use platform::mail::Email;
use platform::public_url::PublicUrl;

/// Returns the receipt of a completed donation, if the donor left an email address.
pub fn email(public_url: &PublicUrl, donation: &Donation) -> Option<Email> {
    let to = donation.email.as_ref()?;
    let (amount, id) = (donation.amount, donation.receipt_id);
    let (prefix, notice) = match donation.mode {
        Mode::Live => ("", ""),
        Mode::Test => ("Test mode: ", "Test mode: no money was charged.\n\n"),
    };
    Some(Email {
        to: to.to_string(),
        subject: format!("{prefix}Your donation of {amount}"),
        text: format!(
            "{notice}Thank you for your donation of {amount}.\n\nYour receipt: {public_url}/donations/{id}\n"
        ),
    })
}
