//! Who takes the money: one seam, chosen by the settings. A card processor comes in here.

use super::Donation;
use crate::ledger::entry::Mode;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::public_url::PublicUrl;
use serde::Deserialize;
use thiserror::Error;

/// The name of [`Provider::Test`].
const TEST: &str = "test";

/// The setting as written.
#[derive(Clone, Debug, Deserialize)]
pub struct ProviderSettings {
    provider: String,
    link: String,
}

impl ProviderSettings {
    /// Chooses the provider. `auto` depends on where people reach this server.
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
            "stripe" => Err(InvalidProvider::Stripe),
            other => Err(InvalidProvider::Unknown(other.to_owned())),
        }
    }
}

/// Why the settings do not determine a provider.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InvalidProvider {
    #[error("giving.provider is {0:?}; set it to auto, off, test or link")]
    Unknown(String),
    #[error("giving.provider is \"stripe\", which is not available yet; set it to auto, off, test or link")]
    Stripe,
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
    /// Sends people to a URL, in which `{ein}`, `{slug}`, `{amount}` and `{donation}` are filled in.
    Link(String),
}

/// The result of charging a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardResult {
    Paid,
    Declined,
    NoFunds,
    /// It cannot be reached; nothing was charged.
    Down,
    /// Not a card number.
    NoCard,
}

impl Provider {
    /// As it is stored with a donation.
    pub const fn name(&self) -> &'static str {
        match self {
            Provider::Off => "off",
            Provider::Test => TEST,
            Provider::Link(_) => "link",
        }
    }

    /// The mode of donations that are paid with it.
    pub fn mode(&self) -> Mode {
        mode_of(self.name())
    }

    /// Returns whether this server is in test mode: it charges nothing, and its totals count test donations.
    pub const fn is_test(&self) -> bool {
        matches!(self, Provider::Test)
    }

    /// Returns the URL where people pay. The nonprofit's own URL takes precedence over that of the operator.
    pub fn payment_url(
        &self,
        own: Option<&str>,
        donation: &Donation,
        ein: &str,
        slug: &str,
    ) -> Option<String> {
        let Provider::Link(template) = self else {
            return None;
        };
        let template = own.unwrap_or(template);
        let amount = super::amount::written(donation.amount);
        let id = donation.id.to_string();
        Some(fill_in(template, ein, slug, &amount, &id))
    }
}

/// Fills in the URL of the nonprofit's own donation page, without an amount.
pub fn own_donate_url(own: &str, ein: &str, slug: &str) -> String {
    fill_in(own, ein, slug, "", "")
}

fn fill_in(template: &str, ein: &str, slug: &str, amount: &str, donation: &str) -> String {
    let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    template
        .replace("{ein}", &encode(ein))
        .replace("{slug}", &encode(slug))
        .replace("{amount}", &encode(amount))
        .replace("{donation}", donation)
}

/// The mode of donations that were paid with the provider of this name.
pub fn mode_of(name: &str) -> Mode {
    match name {
        TEST => Mode::Test,
        _ => Mode::Live,
    }
}

/// Returns the result of charging a test card: one number succeeds, the others show how failures look.
pub fn try_card(number: &str) -> CardResult {
    let digits: String = number
        .chars()
        .filter(|c| !c.is_whitespace() && *c != '-')
        .collect();
    match digits.as_str() {
        "4242424242424242" => CardResult::Paid,
        "4000000000000002" => CardResult::Declined,
        "4000000000009995" => CardResult::NoFunds,
        "4000000000000119" => CardResult::Down,
        _ => CardResult::NoCard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(provider: &str, link: &str, public_url: &str) -> Result<Provider, InvalidProvider> {
        let settings = ProviderSettings {
            provider: provider.to_owned(),
            link: link.to_owned(),
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
        for (provider, link, expected) in [
            ("link", "", "giving.link"),
            ("link", "javascript:alert(1)", "giving.link"),
            ("stripe", "", "not available yet"),
            ("sandbox", "", "auto, off, test or link"),
            ("", "", "auto, off, test or link"),
        ] {
            let error = resolve(provider, link, public).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn only_what_the_test_provider_took_is_a_test_donation() {
        assert_eq!(Provider::Test.mode(), Mode::Test);
        for other in [Provider::Off, Provider::Link(String::new())] {
            assert_eq!(other.mode(), Mode::Live);
        }
    }

    #[test]
    fn the_url_of_a_nonprofit_is_filled_in_without_an_amount() {
        let url = own_donate_url(
            "https://x.example/{slug}?e={ein}&a={amount}&g={donation}",
            "530196605",
            "red-cross",
        );
        assert_eq!(url, "https://x.example/red%2Dcross?e=530196605&a=&g=");
    }

    #[test]
    fn one_test_card_pays_and_the_others_fail_each_in_its_way() {
        assert_eq!(try_card(" 4242 4242 4242-4242 "), CardResult::Paid);
        assert_eq!(try_card("4000 0000 0000 0002"), CardResult::Declined);
        assert_eq!(try_card("4000000000009995"), CardResult::NoFunds);
        assert_eq!(try_card("4000000000000119"), CardResult::Down);
        for nonsense in ["", "4242", "5555555555554444", "x"] {
            assert_eq!(try_card(nonsense), CardResult::NoCard);
        }
    }
}
