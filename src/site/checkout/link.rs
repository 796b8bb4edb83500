//! Donate links: URLs whose parameters fill in the donation form and identify a partner.

use super::{again, embedding};
use crate::config::AccentColor;
use crate::http::error::Error;
use crate::http::params::{decode, values};
use crate::web::form::amounts::{Amounts, DEFAULT_AMOUNTS, submitted};
use giving::checkout::Donation;
use giving::checkout::amounts::AmountLimits;
use giving::checkout::partner::Partner;
use platform::money::Cents;
use platform::text::cut;

const MAX_SUGGESTED_AMOUNTS: usize = 6;
/// The maximum length of a text parameter in characters.
const MAX_TEXT_CHARS: usize = 255;

/// All parameters of a donate link.
const PARAMETERS: [&str; 21] = [
    "amount",
    "suggestedAmounts",
    "min_value",
    "frequency",
    "email",
    "first_name",
    "last_name",
    "description",
    "success_url",
    "exit_url",
    "partner_donation_id",
    "partner_metadata",
    "designation",
    "share_info",
    "require_share_info",
    "webhook_token",
    "theme_color",
    "no_exit",
    "method",
    embedding::PARAMETER,
    again::PARAMETER,
];
/// The parameters that fill in fields of the form, which the form then sends itself.
const FORM_FIELDS: [&str; 5] = ["amount", "frequency", "email", "first_name", "last_name"];

/// The ways to pay that links may name and no provider here offers, with their names in sentences.
const OTHER_METHODS: [(&str, &str); 6] = [
    ("paypal", "PayPal"),
    ("venmo", "Venmo"),
    ("crypto", "cryptocurrency"),
    ("stocks", "stocks"),
    ("daf", "donor-advised fund"),
    ("gift", "gift card"),
];

/// How often a donate link asks people to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frequency {
    Once,
    Monthly,
    /// Offered as a single donation.
    Yearly,
}

impl Frequency {
    /// Parses the parameter of a link, or the value of the form. Everything else is once.
    pub fn parse(text: &str) -> Frequency {
        match text.trim().to_ascii_lowercase().as_str() {
            "monthly" => Frequency::Monthly,
            "yearly" => Frequency::Yearly,
            _ => Frequency::Once,
        }
    }
}

/// The parameters of a donate link. Invalid values are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DonateLink {
    pub amount: Option<Cents>,
    pub suggested_amounts: Vec<Cents>,
    pub min_amount: Option<Cents>,
    pub frequency: Frequency,
    pub email: String,
    pub name: String,
    pub description: String,
    pub designation: String,
    /// Whether the donor is asked to share the contact, with the answer yes selected.
    pub shares_contact: bool,
    /// Whether the donor must share the contact to give.
    pub requires_contact: bool,
    pub partner: Partner,
    /// The public token of a webhook endpoint, whose account the donation is attributed to.
    pub webhook_token: String,
    /// The file name of the style sheet with the colors that the link asks for.
    pub theme: Option<String>,
    /// Whether the form has no links that leave it.
    pub has_no_exit: bool,
    /// The way to pay that the link asks for, if it is not offered.
    pub missing_method: Option<&'static str>,
    query: String,
}

impl DonateLink {
    /// Parses a query. Fails only if a value that is returned to the partner is too long.
    pub fn parse(query: &str) -> Result<DonateLink, Error> {
        let first = |name: &'static str| values(query, name).next().unwrap_or_default();
        let text = |name: &'static str| {
            let plain: String = first(name).chars().filter(|c| !c.is_control()).collect();
            cut(plain.trim(), MAX_TEXT_CHARS).to_owned()
        };
        let suggested: Vec<Cents> = text("suggestedAmounts")
            .split(',')
            .filter_map(Cents::from_positive_dollars)
            .take(MAX_SUGGESTED_AMOUNTS)
            .collect();
        let name = format!("{} {}", text("first_name"), text("last_name"));
        let partner = Partner::read(first);
        let partner = partner.map_err(|too_long| Error::InvalidParameter(too_long.to_string().into()))?;
        Ok(DonateLink {
            amount: Cents::from_positive_dollars(submitted(&text("amount"), &text("other_amount"))),
            suggested_amounts: if suggested.is_empty() {
                DEFAULT_AMOUNTS.to_vec()
            } else {
                suggested
            },
            min_amount: Cents::from_positive_dollars(&text("min_value")),
            frequency: Frequency::parse(&text("frequency")),
            email: text("email"),
            name: cut(name.trim(), MAX_TEXT_CHARS).to_owned(),
            description: text("description"),
            designation: text("designation"),
            shares_contact: is_true(&text("share_info")),
            requires_contact: is_true(&text("require_share_info")),
            partner,
            webhook_token: text("webhook_token"),
            theme: theme_of(&text("theme_color")),
            has_no_exit: is_true(&text("no_exit")),
            missing_method: missing_method(&text("method")),
            query: query.to_owned(),
        })
    }

    /// Takes over what the link of an earlier donation passed on.
    #[must_use]
    pub fn continuing(mut self, earlier: Option<&Donation>) -> DonateLink {
        if let Some(earlier) = earlier {
            self.partner = earlier.partner.clone();
            self.designation = earlier.designation.clone().unwrap_or_default();
        }
        self
    }

    /// Returns the choice of an amount. The amount of the link is selected, or else one of the suggested ones.
    pub fn amounts(&self, limits: AmountLimits) -> Amounts {
        let min = self.min_amount.unwrap_or(limits.min).max(limits.min);
        let suggested = self.suggested_amounts.iter().copied();
        let suggested: Vec<Cents> = suggested
            .filter(|amount| (min..=limits.max).contains(amount))
            .collect();
        // The smallest one would lead people to give less than most do.
        let selected = self
            .amount
            .or_else(|| suggested.get(1).or(suggested.first()).copied());
        let selected = selected.map(Cents::to_input_value).unwrap_or_default();
        Amounts::new(
            suggested.into_iter().map(Cents::to_input_value).collect(),
            &selected,
        )
    }

    /// Returns the action of the form: its path with the parameters that are not fields of the form.
    pub fn action(&self, form: &str) -> String {
        let rest: Vec<&str> = retain_parameters(&self.query, |name| !FORM_FIELDS.contains(&name)).collect();
        if rest.is_empty() {
            form.to_owned()
        } else {
            format!("{form}?{}", rest.join("&"))
        }
    }
}

/// Returns whether a parameter is switched on.
fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "1" | "true" | "yes")
}

/// Returns the style sheet of a color such as `0a6460`, with or without `#`. A color that could not be read is ignored.
fn theme_of(color: &str) -> Option<String> {
    let digits = color.trim_start_matches('#').to_ascii_lowercase();
    AccentColor::parse(&format!("#{digits}")).ok()?;
    Some(format!("{digits}.css"))
}

/// Returns the first way to pay of a list, unless one of the list is offered.
fn missing_method(list: &str) -> Option<&'static str> {
    let list = list.to_ascii_lowercase();
    let mut names = list.split(',').map(str::trim);
    let known = |name: &str| OTHER_METHODS.iter().find(|(other, _)| *other == name);
    let first = known(names.next()?)?;
    names.all(|name| known(name).is_some()).then_some(first.1)
}

/// Yields the pairs of a query, still encoded, that are parameters of a donate link and that `is_wanted` accepts.
fn retain_parameters(query: &str, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    query.split('&').filter(move |pair| {
        let name = decode(pair.split('=').next().unwrap_or_default());
        PARAMETERS.contains(&name.as_ref()) && is_wanted(&name)
    })
}

/// The box on a profile or fundraiser page with an amount and a button to the donation form. It passes on the parameters
/// of a donate link to the page.
#[derive(Clone, Debug)]
pub struct GiveBox {
    pub amounts: Amounts,
    /// The query of links to the form, with its question mark.
    pub query: String,
    pub hidden_fields: Vec<(String, String)>,
}

impl GiveBox {
    pub fn parse(query: Option<&str>) -> GiveBox {
        let query = query.unwrap_or_default();
        let first = |name: &'static str| values(query, name).next().unwrap_or_default();
        let amount = Cents::from_positive_dollars(&first("amount")).unwrap_or(DEFAULT_AMOUNTS[1]);
        let suggested = DEFAULT_AMOUNTS.map(Cents::to_input_value).to_vec();
        let pairs = retain_parameters(query, |name| name != "amount");
        let all: Vec<&str> = retain_parameters(query, |_| true).collect();
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name).into_owned(), decode(value).into_owned())
        });
        GiveBox {
            amounts: Amounts::new(suggested, &amount.to_input_value()),
            query: if all.is_empty() {
                String::new()
            } else {
                format!("?{}", all.join("&"))
            },
            hidden_fields: decoded.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_parameters_are_filled_in_and_others_ignored() {
        let link = DonateLink::parse(
            "amount=20&suggestedAmounts=5,x,15&min_value=3&first_name=Ada&last_name=L&email=a%40b.org&designation=roof",
        )
        .unwrap();
        assert_eq!(link.amount, Some(Cents::new(2_000)));
        assert_eq!(link.suggested_amounts, [Cents::new(500), Cents::new(1_500)]);
        assert_eq!(link.min_amount, Some(Cents::new(300)));
        assert_eq!((link.name.as_str(), link.designation.as_str()), ("Ada L", "roof"));
        let empty = DonateLink::parse("amount=-5&min_value=x&suggestedAmounts=").unwrap();
        assert_eq!((empty.amount, empty.min_amount), (None, None));
        assert_eq!(empty.suggested_amounts, DEFAULT_AMOUNTS);
    }

    #[test]
    fn one_of_the_suggested_amounts_is_selected() {
        let limits = AmountLimits::new(1, 100_000).unwrap();
        for (query, selected) in [
            ("", "25"),
            ("amount=50", "50"),
            ("amount=other&other_amount=7.50", "other"),
            ("suggestedAmounts=5,15", "15"),
            ("min_value=30", "100"),
        ] {
            let amounts = DonateLink::parse(query).unwrap().amounts(limits).to_string();
            assert!(
                amounts.contains(&format!("value=\"{selected}\" checked")),
                "{query}: {amounts}"
            );
        }
    }

    #[test]
    fn the_frequency_is_read_in_any_case() {
        for (text, expected) in [
            ("monthly", Frequency::Monthly),
            ("MONTHLY", Frequency::Monthly),
            ("Yearly", Frequency::Yearly),
            ("ONCE", Frequency::Once),
            ("weekly", Frequency::Once),
            ("", Frequency::Once),
        ] {
            let link = DonateLink::parse(&format!("frequency={text}")).unwrap();
            assert_eq!(link.frequency, expected, "{text}");
            assert_eq!(link.action("/x/give"), "/x/give");
        }
    }

    #[test]
    fn parameters_of_the_hosted_service_are_understood() {
        let link = DonateLink::parse("theme_color=%230A6460&no_exit=1&method=crypto,stocks").unwrap();
        assert_eq!(link.theme.as_deref(), Some("0a6460.css"));
        assert!(link.has_no_exit);
        assert_eq!(link.missing_method, Some("cryptocurrency"));
        for offered in ["", "card", "crypto,card", "bank"] {
            let link = DonateLink::parse(&format!("method={offered}")).unwrap();
            assert_eq!(link.missing_method, None, "{offered}");
        }
        for unreadable in ["ffee00", "teal", "..%2F0a6460"] {
            let link = DonateLink::parse(&format!("theme_color={unreadable}")).unwrap();
            assert_eq!(link.theme, None, "{unreadable}");
        }
    }

    #[test]
    fn form_fields_are_not_sent_twice() {
        let link =
            DonateLink::parse("amount=20&email=a%40b.org&x=1&designation=the+roof&amou%6et=3").unwrap();
        assert_eq!(link.action("/x/give"), "/x/give?designation=the+roof");
        assert_eq!(DonateLink::parse("").unwrap().action("/x/give"), "/x/give");
    }

    #[test]
    fn a_page_passes_on_the_parameters_of_its_link() {
        let give = GiveBox::parse(Some("amount=5&x=1&designation=a%26b"));
        assert!(give.amounts.to_string().contains("value=\"5\""));
        assert_eq!(give.query, "?amount=5&designation=a%26b");
        assert_eq!(give.hidden_fields, [("designation".to_owned(), "a&b".to_owned())]);
        for none in [None, Some("amount=x")] {
            let amounts = GiveBox::parse(none).amounts.to_string();
            assert!(amounts.contains("value=\"25\" checked"), "{amounts}");
        }
    }
}
