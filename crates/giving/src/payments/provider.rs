//! Who takes the money: one seam, chosen by the settings. A card processor comes in here.

use super::Donation;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// The setting as written.
#[derive(Deserialize)]
struct ProviderSettings {
    provider: String,
    link: String,
}

impl TryFrom<ProviderSettings> for Provider {
    type Error = String;

    fn try_from(settings: ProviderSettings) -> Result<Provider, String> {
        let link = settings.link.trim();
        match settings.provider.trim() {
            "sandbox" => Ok(Provider::Sandbox),
            "link" if link.starts_with("https://") || link.starts_with("http://") => {
                Ok(Provider::Link(link.to_owned()))
            }
            "link" => Err(format!(
                "giving.link is {link:?}; write an address such as https://pay.example.org/?ein={{ein}}"
            )),
            other => Err(format!("giving.provider is {other:?}; write sandbox or link")),
        }
    }
}

/// How gifts are paid.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ProviderSettings")]
pub enum Provider {
    /// Tries everything out; no money moves.
    Sandbox,
    /// Sends people to an address, in which `{ein}`, `{slug}`, `{amount}` and `{gift}` are filled in.
    Link(String),
}

/// What the provider says to a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardResult {
    Paid,
    Declined,
    NoFunds,
    /// It cannot be reached; nothing was charged.
    Down,
    /// This is no card number.
    NoCard,
}

impl Provider {
    /// As it is stored with a gift.
    pub const fn name(&self) -> &'static str {
        match self {
            Provider::Sandbox => "sandbox",
            Provider::Link(_) => "link",
        }
    }

    /// Where people are sent to pay; the nonprofit's own address wins over that of the operator.
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
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let amount = super::amount::written(donation.amount);
        Some(
            template
                .replace("{ein}", &encode(ein))
                .replace("{slug}", &encode(slug))
                .replace("{amount}", &encode(&amount))
                .replace("{gift}", &donation.id.to_string()),
        )
    }
}

/// What the sandbox says to a card number: one works, the others show how failures look.
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
