//! The link that stops thank-you emails. It contains no address, is signed, so that nobody can stop the emails of someone else,
//! and never expires, since emails are kept for years.

use platform::email_address::EmailAddress;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use platform::text::hex;

/// The path of the page that stops emails.
pub const STOP_PATH: &str = "/donations/emails/stop";
const HASH_PURPOSE: &str = "stopped thanks";
const LINK_PURPOSE: &str = "stop thanks link";

/// Returns the HMAC that stands for a mailbox.
pub(super) fn hash(secret: &StoreSecret, email: &EmailAddress) -> String {
    hex(&secret.authenticate(HASH_PURPOSE, email.mailbox().as_bytes())[..16])
}

pub(super) fn url(public_url: &PublicUrl, secret: &StoreSecret, hash: &str) -> String {
    let signature = secret.sign(LINK_PURPOSE, hash.as_bytes());
    format!("{public_url}{STOP_PATH}?token={hash}.{signature}")
}

/// Returns the HMAC of the mailbox that a token is for. `None` if we did not sign it.
pub fn verify<'t>(secret: &StoreSecret, token: &'t str) -> Option<&'t str> {
    let (hash, signature) = token.split_once('.')?;
    secret
        .is_signed(LINK_PURPOSE, hash.as_bytes(), signature)
        .then_some(hash)
}
