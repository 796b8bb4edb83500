//! The email about a sign-in from a browser that has not signed in to the account before.
//!
//! A browser is recognized by a signed cookie that outlives its sessions. It reveals nothing and is of no use elsewhere: it
//! only says that the email is not needed.

use crate::notices::{Notice, NoticeKind};
use jiff::Timestamp;
use platform::ids::AccountId;
use platform::mail::EmailText;
use platform::public_url::PublicUrl;
use platform::secret::StoreSecret;

const PURPOSE: &str = "known browser";
/// The accounts that one browser is known to.
const MAX_ACCOUNTS: usize = 8;

/// The value of the cookie: a signature for each account that was signed in to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownBrowser(Vec<String>);

impl KnownBrowser {
    pub fn parse(text: &str) -> KnownBrowser {
        let signatures = text.split('.').filter(|signature| !signature.is_empty());
        KnownBrowser(signatures.take(MAX_ACCOUNTS).map(str::to_owned).collect())
    }

    pub fn to_text(&self) -> String {
        self.0.join(".")
    }

    /// Returns whether the browser has signed in to an account before.
    pub fn knows(&self, secret: &StoreSecret, account: AccountId) -> bool {
        let is_of_account = |signature: &String| secret.is_signed(PURPOSE, account.0.as_bytes(), signature);
        self.0.iter().any(is_of_account)
    }

    /// Adds an account, in front of the others.
    #[must_use]
    pub fn with(mut self, secret: &StoreSecret, account: AccountId) -> KnownBrowser {
        let signature = secret.sign(PURPOSE, account.0.as_bytes());
        self.0.retain(|known| *known != signature);
        self.0.insert(0, signature);
        self.0.truncate(MAX_ACCOUNTS);
        self
    }
}

/// Returns the email about a sign-in.
pub(super) fn compose(public_url: &PublicUrl, (browser, address): (&str, &str), now: i64) -> Notice {
    let time = Timestamp::from_millisecond(now).unwrap_or_default();
    let time = time.strftime("%B %-d, %Y, %H:%M UTC").to_string();
    let line = format!("{time}: {browser}, {address}");
    Notice {
        kind: NoticeKind::SignIn,
        subject: "New sign-in to your account".to_owned(),
        text: EmailText::new(
            "Someone signed in to your account from a browser that has not been used for it before.",
        )
        .facts(&[
            ("Time", time),
            ("Browser", browser.to_owned()),
            ("IP address", address.to_owned()),
        ])
        .paragraph(
            "If this was you, there is nothing to do. If not, change your password and end the session now.",
        )
        .link(
            "Review your sessions",
            &format!("{public_url}/dashboard/settings#sessions"),
        ),
        line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_email_says_when_where_and_what_to_do() {
        let notice = compose(
            &PublicUrl::new("https://give.example.org"),
            ("Firefox on Linux", "192.0.2.7"),
            1_795_000_000_000,
        );
        assert_eq!(
            notice.text.into_string(),
            "Someone signed in to your account from a browser that has not been used for it before.\n\n\
             Time: November 18, 2026, 11:06 UTC\nBrowser: Firefox on Linux\nIP address: 192.0.2.7\n\n\
             If this was you, there is nothing to do. If not, change your password and end the session now.\n\n\
             Review your sessions: https://give.example.org/dashboard/settings#sessions\n"
        );
    }
}
