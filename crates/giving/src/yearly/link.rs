//! Signed links to the donations of an email address. Nothing is stored for them, so they cannot be revoked before they expire.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use platform::email_address::EmailAddress;
use platform::secret::StoreSecret;

/// The page of a statement.
const PATH: &str = "/donations/statement";
/// The purpose of the signature of a link.
const PURPOSE: &str = "receipts link";

/// Returns a token for an email address that works until a time.
pub fn token(secret: &StoreSecret, email: &EmailAddress, until: i64) -> String {
    let message = format!("{until} {}", email.normalized());
    let signature = secret.sign(PURPOSE, message.as_bytes());
    format!("{}.{signature}", BASE64_URL_SAFE_NO_PAD.encode(message))
}

/// Returns the path of the statement of a year for whoever has the token.
pub fn path(token: &str, year: i16) -> String {
    format!("{PATH}?token={token}&year={year}")
}

/// Returns the email address of a token, unless it has expired or was signed with another secret.
pub fn parse(secret: &StoreSecret, token: &str, now: i64) -> Option<EmailAddress> {
    let (message, signature) = token.split_once('.')?;
    let message = BASE64_URL_SAFE_NO_PAD.decode(message).ok()?;
    if !secret.is_signed(PURPOSE, &message, signature) {
        return None;
    }
    let message = String::from_utf8(message).ok()?;
    let (until, email) = message.split_once(' ')?;
    let until: i64 = until.parse().ok()?;
    EmailAddress::parse(email).ok().filter(|_| now < until)
}
