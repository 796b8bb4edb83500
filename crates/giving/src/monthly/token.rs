//! The links with which donors manage a monthly gift. They are signed and expire, and nothing is stored for them.

use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;
use uuid::Uuid;

/// The path of the page.
pub const PATH: &str = "/donations/monthly";
/// The purpose of the signature.
const PURPOSE: &str = "monthly gift link";
/// How long a link works.
pub const LINK_MILLIS: i64 = 60 * 24 * 3_600_000;

/// Returns the token for a gift that works until a certain time.
pub fn create(secret: &StoreSecret, gift: Uuid, until: i64) -> String {
    let message = format!("{until}.{}", gift.simple());
    let signature = secret.sign(PURPOSE, message.as_bytes());
    format!("{message}.{signature}")
}

/// Returns the gift of a token, unless it has expired or is not one of ours.
pub fn parse(secret: &StoreSecret, token: &str, now: i64) -> Option<Uuid> {
    let (message, signature) = token.rsplit_once('.')?;
    if !secret.is_signed(PURPOSE, message.as_bytes(), signature) {
        return None;
    }
    let (until, gift) = message.split_once('.')?;
    let until: i64 = until.parse().ok()?;
    Uuid::try_parse(gift).ok().filter(|_| now < until)
}

/// Returns the link to the page of a gift, which works for 60 days from `from` on.
pub fn link(public_url: &PublicUrl, secret: &StoreSecret, gift: Uuid, from: i64) -> String {
    let token = create(secret, gift, from.saturating_add(LINK_MILLIS));
    format!("{public_url}{PATH}?token={token}")
}
