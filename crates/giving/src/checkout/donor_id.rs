//! The ID of a donor in the ledger and its exports, which reveals nothing about the person.

use platform::email_address::EmailAddress;
use platform::secret::StoreSecret;
use platform::text::hex;
use uuid::Uuid;

const PURPOSE: &str = "donor ID";

/// Derives the ID of the donor with an email address: an HMAC with the secret of the store. A plain hash could be
/// reversed with a list of email addresses.
pub fn of_email(secret: &StoreSecret, email: &EmailAddress) -> String {
    let mac = secret.authenticate(PURPOSE, email.normalized().as_bytes());
    format!("site-{}", hex(&mac))
}

/// Derives the ID of the donor of a donation. Without an email address, every donation has a donor of its own.
pub(crate) fn of_donation(secret: &StoreSecret, donation: Uuid, email: Option<&EmailAddress>) -> String {
    match email {
        Some(email) => of_email(secret, email),
        None => format!("site-{donation}"),
    }
}
