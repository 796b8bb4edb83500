//! What a link that leads to giving may ask for: amounts to offer, fields filled in, words of the partner.

use super::amount;
use crate::http::params::values;
use crate::money::Cents;
use crate::text::cut;

/// Amounts that are offered unless the link names others.
const OFFERED: [Cents; 4] = [Cents(1_000), Cents(2_500), Cents(5_000), Cents(10_000)];
const MOST_OFFERED: usize = 6;
const LONGEST: usize = 255;

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
    pub partner_id: String,
}

impl DonateLink {
    pub fn read(query: &str) -> DonateLink {
        let text = |name: &'static str| {
            let value = values(query, name).next().unwrap_or_default();
            let plain: String = value.chars().filter(|c| !c.is_control()).collect();
            cut(plain.trim(), LONGEST).to_owned()
        };
        let offered: Vec<Cents> = text("suggestedAmounts")
            .split(',')
            .filter_map(amount::parse)
            .take(MOST_OFFERED)
            .collect();
        let name = format!("{} {}", text("first_name"), text("last_name"));
        DonateLink {
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
            partner_id: text("partner_donation_id"),
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
        );
        assert_eq!(link.amount, Some(Cents(2_000)));
        assert_eq!(link.offered, [Cents(500), Cents(1_500)]);
        assert_eq!(link.least, Some(Cents(300)));
        assert_eq!((link.name.as_str(), link.designation.as_str()), ("Ada L", "roof"));
        let empty = DonateLink::read("amount=-5&min_value=x&suggestedAmounts=");
        assert_eq!((empty.amount, empty.least), (None, None));
        assert_eq!(empty.offered, OFFERED);
    }
}
