//! The settings of Stripe.

use crate::ledger::entry::Mode;
use secrecy::{ExposeSecret, SecretString};
use thiserror::Error;

/// Where Stripe's API is.
pub const API_BASE: &str = "https://api.stripe.com";
/// The origin of Stripe's payment page.
const PAYMENT_PAGE: &str = "https://checkout.stripe.com";
/// The origin of the page where donors replace their card.
const PORTAL: &str = "https://billing.stripe.com";

/// Why the settings of Stripe cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidStripe {
    #[error(
        "stripe.secret_key is not a secret key of Stripe; set it to one that begins with sk_test_, sk_live_, rk_test_ or rk_live_"
    )]
    SecretKey,
    #[error(
        "stripe.webhook_secret is not the signing secret of an endpoint; set it to the one that begins with whsec_, from the page of the webhook in Stripe's dashboard"
    )]
    WebhookSecret,
    #[error("stripe.account is {0:?}; set it to platform or connect")]
    Account(String),
    #[error(
        "stripe.account is connect, but stripe.connect_webhook_secret is not the signing secret of an endpoint for events on connected accounts; set it to the one that begins with whsec_"
    )]
    ConnectSecret,
}

/// The keys of the operator's account, and where to use them.
#[derive(Clone, Debug)]
pub struct StripeSettings {
    pub secret_key: SecretString,
    /// Signs the events that Stripe sends.
    pub webhook_secret: SecretString,
    /// How often Stripe tries to collect a payment of a monthly gift.
    pub payment_attempts: i64,
    /// Signs the events of connected accounts. Empty if there are none.
    pub connect_webhook_secret: SecretString,
    /// `platform`: donations are made to the operator, who passes them on. `connect`: a nonprofit with an account of its own is
    /// charged there.
    pub account: String,
    pub api_base: String,
}

impl StripeSettings {
    /// Checks the settings, and returns the mode of the key.
    pub fn mode(&self) -> Result<Mode, InvalidStripe> {
        let key = self.secret_key.expose_secret();
        let mode = if key.starts_with("sk_test_") || key.starts_with("rk_test_") {
            Mode::Test
        } else if key.starts_with("sk_live_") || key.starts_with("rk_live_") {
            Mode::Live
        } else {
            return Err(InvalidStripe::SecretKey);
        };
        if !self.webhook_secret.expose_secret().starts_with("whsec_") {
            return Err(InvalidStripe::WebhookSecret);
        }
        match self.account.as_str() {
            "platform" => {}
            "connect" if self.connect_webhook_secret.expose_secret().starts_with("whsec_") => {}
            "connect" => return Err(InvalidStripe::ConnectSecret),
            other => return Err(InvalidStripe::Account(other.to_owned())),
        }
        Ok(mode)
    }

    /// Returns whether nonprofits are charged on their own accounts.
    pub fn is_connect(&self) -> bool {
        self.account == "connect"
    }

    /// Returns the origin of the payment page. A simulator of Stripe has its page where its API is.
    pub fn payment_page_origin(&self) -> &str {
        self.page_origin(PAYMENT_PAGE)
    }

    /// Returns the origin of the page where donors replace their card.
    pub fn portal_origin(&self) -> &str {
        self.page_origin(PORTAL)
    }

    fn page_origin<'a>(&'a self, origin: &'a str) -> &'a str {
        match self.api_base.trim_end_matches('/') {
            API_BASE => origin,
            simulator => simulator,
        }
    }

    /// Returns settings for Stripe itself with these keys.
    #[cfg(test)]
    pub(crate) fn for_tests(secret_key: &str, webhook_secret: &str) -> StripeSettings {
        StripeSettings {
            secret_key: secret_key.into(),
            webhook_secret: webhook_secret.into(),
            connect_webhook_secret: "".into(),
            payment_attempts: 4,
            account: "platform".to_owned(),
            api_base: API_BASE.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_decides_the_mode_and_mistakes_are_named() {
        let mode = |key: &str, secret: &str| StripeSettings::for_tests(key, secret).mode();
        for key in ["sk_test_1", "rk_test_1"] {
            assert_eq!(mode(key, "whsec_1"), Ok(Mode::Test));
        }
        for key in ["sk_live_1", "rk_live_1"] {
            assert_eq!(mode(key, "whsec_1"), Ok(Mode::Live));
        }
        for key in ["", "pk_test_1", "whsec_1", "test"] {
            assert_eq!(mode(key, "whsec_1"), Err(InvalidStripe::SecretKey));
        }
        assert_eq!(mode("sk_test_1", "sk_test_1"), Err(InvalidStripe::WebhookSecret));
        let connect = StripeSettings {
            account: "connect".to_owned(),
            ..StripeSettings::for_tests("sk_test_1", "whsec_1")
        };
        assert_eq!(connect.mode(), Err(InvalidStripe::ConnectSecret));
        let connect = StripeSettings {
            connect_webhook_secret: "whsec_2".into(),
            ..connect
        };
        assert_eq!(connect.mode(), Ok(Mode::Test));
        let other = StripeSettings {
            account: "custom".to_owned(),
            ..connect
        };
        assert!(matches!(other.mode(), Err(InvalidStripe::Account(_))));
    }
}
