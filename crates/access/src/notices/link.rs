//! Links that stop emails of one kind without signing in. They are signed, so nobody can stop the emails of someone else,
//! and never expire, since emails are kept for years.

use super::kind::NoticeKind;
use platform::ids::AccountId;
use platform::secret::StoreSecret;
use uuid::Uuid;

/// The path of the page that stops emails.
pub const STOP_PATH: &str = "/dashboard/emails/stop";
const PURPOSE: &str = "stop emails";

/// Returns the token of a link.
pub(super) fn token(secret: &StoreSecret, account: AccountId, kind: NoticeKind) -> String {
    let claim = claim(account, kind);
    let signature = secret.sign(PURPOSE, claim.as_bytes());
    format!("{claim}.{signature}")
}

/// Returns the account and the kind of a token. `None` if we did not sign it.
pub fn verify(secret: &StoreSecret, token: &str) -> Option<(AccountId, NoticeKind)> {
    let (claim, signature) = token.rsplit_once('.')?;
    let (account, kind) = claim.split_once('.')?;
    let kind = NoticeKind::find(kind).filter(|kind| kind.is_optional())?;
    let account = AccountId(Uuid::try_parse(account).ok()?);
    secret
        .is_signed(PURPOSE, claim.as_bytes(), signature)
        .then_some((account, kind))
}

fn claim(account: AccountId, kind: NoticeKind) -> String {
    format!("{}.{}", account.0.simple(), kind.as_str())
}
