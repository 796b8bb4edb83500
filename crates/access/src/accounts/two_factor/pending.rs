//! A sign-in whose password was right and whose second factor is missing.
//!
//! It is a text for a cookie with an HMAC over the hash of the password, so it needs no table, works on every server,
//! and ends when the password changes.

use crate::accounts::Account;
use crate::accounts::verified_password::VerifiedPassword;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use platform::ids::AccountId;
use platform::secret::StoreSecret;
use secrecy::ExposeSecret;
use std::time::Duration;
use uuid::Uuid;

/// How long the second step may take.
pub const LIFETIME: Duration = Duration::from_mins(10);

/// A started sign-in, as a cookie claims it. Only [`PendingSignIn::verify`] proves it.
#[derive(Clone, Debug)]
pub struct PendingSignIn {
    pub account: AccountId,
    started_at: i64,
    mac: Vec<u8>,
}

impl PendingSignIn {
    /// Starts a sign-in with a password that was verified.
    pub fn start(secret: &StoreSecret, verified: &VerifiedPassword, now: i64) -> PendingSignIn {
        PendingSignIn {
            account: verified.account,
            started_at: now,
            mac: authenticate(secret, verified, now).to_vec(),
        }
    }

    /// Returns the text for a cookie.
    pub fn to_text(&self) -> String {
        let mac = URL_SAFE_NO_PAD.encode(&self.mac);
        format!("{}.{}.{mac}", self.account.0.simple(), self.started_at)
    }

    /// Parses the text of a cookie.
    pub fn parse(text: &str) -> Option<PendingSignIn> {
        let (account, rest) = text.split_once('.')?;
        let (started_at, mac) = rest.split_once('.')?;
        Some(PendingSignIn {
            account: AccountId(Uuid::try_parse(account).ok()?),
            started_at: started_at.parse().ok()?,
            mac: URL_SAFE_NO_PAD.decode(mac).ok()?,
        })
    }

    /// Returns the password that was verified in the first step, unless it has changed since or too much time has passed.
    pub fn verify(&self, secret: &StoreSecret, account: &Account, now: i64) -> Option<VerifiedPassword> {
        let verified = VerifiedPassword::new(account.id, account.password.clone()?);
        let age = now.checked_sub(self.started_at)?;
        let is_valid = account.id == self.account
            && (0..LIFETIME.as_millis() as i64).contains(&age)
            && is_equal(&self.mac, &authenticate(secret, &verified, self.started_at));
        is_valid.then_some(verified)
    }
}

fn authenticate(secret: &StoreSecret, verified: &VerifiedPassword, started_at: i64) -> [u8; 32] {
    let message = [
        verified.account.0.as_bytes().as_slice(),
        &started_at.to_be_bytes(),
        verified.stored.expose_secret().as_bytes(),
    ];
    secret.authenticate("sign-in", &message.concat())
}

/// Compares without revealing how many bytes are equal.
fn is_equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}
