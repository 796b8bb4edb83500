//! What a link that leads to giving may ask for: amounts to offer, fields filled in, words of the partner.

use crate::http::error::Error;
use crate::http::params::{decode, values};
use giving::payments::amount;
use giving::payments::partner::Partner;
use platform::money::Cents;
use platform::text::cut;

/// Amounts that are offered unless the link names others.
const OFFERED: [Cents; 4] = [
    Cents::new(1_000),
    Cents::new(2_500),
    Cents::new(5_000),
    Cents::new(10_000),
];
const MOST_OFFERED: usize = 6;
const LONGEST: usize = 255;

/// Every parameter of a link.
const ALL: [&str; 13] = [
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
];
/// Those that fill in fields of the form, which are sent by it from then on.
const TYPED: [&str; 4] = ["amount", "email", "first_name", "last_name"];

/// The parameters of a link. What makes no sense is as if it were not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DonateLink {
    pub amount: Option<Cents>,
    pub offered: Vec<Cents>,
    pub least: Option<Cents>,
    pub is_monthly: bool,
    pub email: String,
    pub name: String,
    pub description: String,
    pub designation: String,
    pub partner: Partner,
    query: String,
}

impl DonateLink {
    /// Refuses only what is too long to be given back to the partner.
    pub fn read(query: &str) -> Result<DonateLink, Error> {
        let first = |name: &'static str| values(query, name).next().unwrap_or_default();
        let text = |name: &'static str| {
            let plain: String = first(name).chars().filter(|c| !c.is_control()).collect();
            cut(plain.trim(), LONGEST).to_owned()
        };
        let offered: Vec<Cents> = text("suggestedAmounts")
            .split(',')
            .filter_map(amount::parse)
            .take(MOST_OFFERED)
            .collect();
        let name = format!("{} {}", text("first_name"), text("last_name"));
        let partner = Partner::read(first);
        let partner = partner.map_err(|too_long| Error::InvalidParameter(too_long.to_string().into()))?;
        Ok(DonateLink {
            amount: amount::parse(&text("amount")),
            offered: match offered.is_empty() {
                true => OFFERED.to_vec(),
                false => offered,
            },
            least: amount::parse(&text("min_value")),
            is_monthly: text("frequency").eq_ignore_ascii_case("monthly"),
            email: text("email"),
            name: cut(name.trim(), LONGEST).to_owned(),
            description: text("description"),
            designation: text("designation"),
            partner,
            query: query.to_owned(),
        })
    }

    /// The address of the form with another amount filled in, and all else that the link asked for.
    pub fn with_amount(&self, form: &str, amount: Cents) -> String {
        let rest: Vec<&str> = kept(&self.query, |name| name != "amount").collect();
        let amount = format!("amount={}", amount::written(amount));
        let pairs: Vec<&str> = [amount.as_str()].into_iter().chain(rest).collect();
        format!("{form}?{}", pairs.join("&"))
    }

    /// Where the form is sent to: what the link asked for goes along, but for what was typed.
    pub fn action(&self, form: &str) -> String {
        let rest: Vec<&str> = kept(&self.query, |name| !TYPED.contains(&name)).collect();
        match rest.is_empty() {
            true => form.to_owned(),
            false => format!("{form}?{}", rest.join("&")),
        }
    }
}

/// The pairs of a query, as they were written, that are ours and are to stay.
fn kept(query: &str, stays: impl Fn(&str) -> bool) -> impl Iterator<Item = &str> {
    query.split('&').filter(move |pair| {
        let name = decode(pair.split('=').next().unwrap_or_default());
        ALL.contains(&name.as_ref()) && stays(&name)
    })
}

/// The small form on a page that leads to giving: a link to that page may ask for all that one to the form may.
#[derive(Clone, Debug)]
pub struct GiveBox {
    pub amount: String,
    pub handed_on: Vec<(String, String)>,
}

impl GiveBox {
    pub fn read(query: Option<&str>) -> GiveBox {
        let query = query.unwrap_or_default();
        let asked = values(query, "amount").next();
        let asked = asked.and_then(|amount| amount::parse(&amount));
        let pairs = kept(query, |name| name != "amount");
        let decoded = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name).into_owned(), decode(value).into_owned())
        });
        GiveBox {
            amount: amount::written(asked.unwrap_or(OFFERED[1])),
            handed_on: decoded.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fills_in_what_makes_sense() {
        let link = DonateLink::read(
            "amount=20&suggestedAmounts=5,x,15&min_value=3&first_name=Ada&last_name=L&email=a%40b.org&designation=roof",
        )
        .unwrap();
        assert_eq!(link.amount, Some(Cents::new(2_000)));
        assert_eq!(link.offered, [Cents::new(500), Cents::new(1_500)]);
        assert_eq!(link.least, Some(Cents::new(300)));
        assert_eq!((link.name.as_str(), link.designation.as_str()), ("Ada L", "roof"));
        let empty = DonateLink::read("amount=-5&min_value=x&suggestedAmounts=").unwrap();
        assert_eq!((empty.amount, empty.least), (None, None));
        assert_eq!(empty.offered, OFFERED);
    }

    #[test]
    fn another_amount_keeps_all_else_and_what_was_typed_is_not_sent_twice() {
        let link = DonateLink::read("amount=20&email=a%40b.org&x=1&designation=the+roof&amou%6et=3").unwrap();
        let there = link.with_amount("/x/give", Cents::new(550));
        assert_eq!(there, "/x/give?amount=5.50&email=a%40b.org&designation=the+roof");
        assert_eq!(link.action("/x/give"), "/x/give?designation=the+roof");
        assert_eq!(DonateLink::read("").unwrap().action("/x/give"), "/x/give");
    }

    #[test]
    fn a_page_hands_on_what_its_link_asked_for() {
        let give = GiveBox::read(Some("amount=5&x=1&designation=a%26b"));
        assert_eq!(give.amount, "5");
        assert_eq!(give.handed_on, [("designation".to_owned(), "a&b".to_owned())]);
        for none in [None, Some("amount=x")] {
            assert_eq!(GiveBox::read(none).amount, "25");
        }
    }
}
