//! Payment providers: how donations are paid. The settings choose one.

pub mod link;
pub mod stripe;
pub mod test;

use crate::ledger::entry::Mode;
use link::Payment;
use platform::public_url::PublicUrl;
use stripe::settings::{InvalidStripe, StripeSettings};
use thiserror::Error;

/// The settings of the provider, before they are checked.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    pub provider: String,
    pub link: String,
    pub stripe: StripeSettings,
}

impl ProviderSettings {
    /// Returns the provider. `auto` depends on the public URL of this server.
    pub fn resolve(&self, public_url: &PublicUrl) -> Result<Provider, InvalidProvider> {
        let link = self.link.trim();
        match self.provider.trim() {
            // Nobody but the person at this machine can reach the checkout, so it can be tried out.
            "auto" if public_url.is_plain_loopback() => Ok(Provider::Test),
            "auto" | "off" => Ok(Provider::Off),
            "test" => Ok(Provider::Test),
            "link" if link.starts_with("https://") || link.starts_with("http://") => {
                Ok(Provider::Link(link.to_owned()))
            }
            "link" => Err(InvalidProvider::Link(link.to_owned())),
            "stripe" => Ok(Provider::Stripe(self.stripe.mode()?)),
            other => Err(InvalidProvider::Unknown(other.to_owned())),
        }
    }
}

/// Why the settings do not determine a provider.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidProvider {
    #[error("giving.provider is {0:?}; set it to auto, off, test, stripe or link")]
    Unknown(String),
    #[error(transparent)]
    Stripe(#[from] InvalidStripe),
    #[error("giving.link is {0:?}; set it to a URL such as https://pay.example.org/?ein={{ein}}")]
    Link(String),
}

/// How donations are paid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provider {
    /// Donations are not accepted.
    Off,
    /// People can try out the checkout with test cards. No money is charged.
    Test,
    /// People pay on a page of Stripe. Its key decides whether real money is charged.
    Stripe(Mode),
    /// Sends people to a URL, in which `{ein}`, `{slug}`, `{amount}` and `{donation}` are filled in.
    Link(String),
}

impl Provider {
    /// The name that is stored with a donation.
    pub const fn name(&self) -> &'static str {
        match self {
            Provider::Off => "off",
            Provider::Test => test::NAME,
            Provider::Stripe(_) => stripe::NAME,
            Provider::Link(_) => "link",
        }
    }

    /// The mode of donations that are started now. It is stored with them.
    pub const fn mode(&self) -> Mode {
        match self {
            Provider::Test => Mode::Test,
            Provider::Stripe(mode) => *mode,
            Provider::Off | Provider::Link(_) => Mode::Live,
        }
    }

    /// Returns whether this server is in test mode: it charges nothing, and its totals count test donations.
    pub const fn is_test(&self) -> bool {
        self.mode().is_test()
    }

    /// Returns whether donors can give every month. A payment link says nothing about later payments.
    pub const fn offers_monthly(&self) -> bool {
        matches!(self, Provider::Test | Provider::Stripe(_))
    }

    /// Returns the URL where the donor pays. The nonprofit's own template takes precedence over that of the operator.
    pub fn payment_url(&self, own_template: Option<&str>, payment: &Payment<'_>) -> Option<String> {
        match self {
            Provider::Link(template) => Some(payment.fill_in(own_template.unwrap_or(template))),
            Provider::Off | Provider::Test | Provider::Stripe(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(provider: &str, link: &str, public_url: &str) -> Result<Provider, InvalidProvider> {
        let settings = ProviderSettings {
            provider: provider.to_owned(),
            link: link.to_owned(),
            stripe: StripeSettings::for_tests("sk_test_1", "whsec_1"),
        };
        settings.resolve(&PublicUrl::new(public_url))
    }

    #[test]
    fn auto_is_test_only_where_nobody_else_can_reach_the_server() {
        for local in [
            "http://localhost",
            "http://LOCALHOST:8080",
            "http://127.0.0.1:8080",
            "http://127.9.8.7",
            "http://[::1]:8080/",
        ] {
            assert_eq!(resolve("auto", "", local), Ok(Provider::Test), "{local}");
        }
        for public in [
            "https://localhost",
            "https://127.0.0.1",
            "http://0.0.0.0:8080",
            "http://10.0.0.1",
            "http://giving.example.org",
            "https://giving.example.org",
            "http://localhost.example.org",
            "http://localhost@example.org",
            "http://127.0.0.1.example.org",
            "http://[::2]:8080",
            "http://[::ffff:10.0.0.1]",
            "http://",
        ] {
            assert_eq!(resolve("auto", "", public), Ok(Provider::Off), "{public}");
        }
    }

    #[test]
    fn every_provider_can_be_chosen_and_others_are_refused_with_the_choices() {
        let public = "https://giving.example.org";
        assert_eq!(resolve(" test ", "", public), Ok(Provider::Test));
        assert_eq!(resolve("off", "", "http://localhost"), Ok(Provider::Off));
        let link = "https://pay.example.org/{ein}";
        assert_eq!(resolve("link", link, public), Ok(Provider::Link(link.to_owned())));
        assert_eq!(resolve("stripe", "", public), Ok(Provider::Stripe(Mode::Test)));
        for (provider, link, expected) in [
            ("link", "", "giving.link"),
            ("link", "javascript:alert(1)", "giving.link"),
            ("sandbox", "", "auto, off, test, stripe or link"),
            ("", "", "auto, off, test, stripe or link"),
        ] {
            let error = resolve(provider, link, public).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn only_donations_that_charge_nothing_are_test_donations() {
        assert_eq!(Provider::Test.mode(), Mode::Test);
        assert_eq!(Provider::Stripe(Mode::Test).mode(), Mode::Test);
        for other in [
            Provider::Off,
            Provider::Stripe(Mode::Live),
            Provider::Link(String::new()),
        ] {
            assert_eq!(other.mode(), Mode::Live);
        }
    }
}
