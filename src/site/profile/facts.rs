//! What a profile shows from IRS records: sentences about the tax status, a chart of amounts, and structured data.

use crate::app::urls::Urls;
use crate::web::numbers::thousands;
use crate::web::texts::{ProfileTexts, fill};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::irs::IrsFacts;
use serde::Serialize;

// In units of the SVG.
const MAX_BAR_WIDTH: u32 = 300;
const MIN_BAR_WIDTH: u32 = 2;
const ROW_HEIGHT: u32 = 44;

/// An amount of the latest tax return, as a bar of the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub label: &'static str,
    pub amount: String,
    pub width: u32,
    pub y: u32,
}

/// Describes the tax status in sentences.
pub fn sentences(facts: &IrsFacts, t: &ProfileTexts) -> Vec<String> {
    let mut sentences = Vec::new();
    if facts.subsection > 0 {
        let paragraph = format!("501(c)({})", facts.subsection);
        sentences.push(fill(
            t.paragraph,
            &[("paragraph", &paragraph), ("kind", facts.kind())],
        ));
    }
    sentences.extend(match facts.deductibility {
        1 => Some(t.deductible.to_owned()),
        2 => Some(t.not_deductible.to_owned()),
        4 => Some(t.by_treaty.to_owned()),
        _ => None,
    });
    if let Some(year) = facts.ruling_year() {
        sentences.push(fill(t.ruling, &[("year", &year.to_string())]));
    }
    if facts.is_subordinate() {
        sentences.push(t.subordinate.to_owned());
    }
    sentences
}

/// Returns the year of the latest tax return.
pub fn return_year(facts: &IrsFacts) -> Option<u32> {
    let year = facts.tax_period / 100;
    (1900..=2100).contains(&year).then_some(year)
}

/// Returns the amounts of the latest tax return as bars of one scale. Returns none if no amount is greater than zero.
pub fn bars(facts: &IrsFacts, t: &ProfileTexts) -> Vec<Bar> {
    let amounts = [
        (t.revenue, facts.revenue),
        (t.income, facts.income),
        (t.assets, facts.assets),
    ];
    let largest = amounts.iter().filter_map(|(_, amount)| *amount).max();
    let Some(largest) = largest.filter(|largest| *largest > 0) else {
        return Vec::new();
    };
    let known = amounts
        .into_iter()
        .filter_map(|(label, amount)| Some((label, amount?)));
    let bar = |(index, (label, amount)): (usize, (&'static str, i64))| Bar {
        label,
        amount: format_dollars(amount, t),
        width: ((amount.max(0) as f64 / largest as f64 * f64::from(MAX_BAR_WIDTH)) as u32).max(MIN_BAR_WIDTH),
        y: index as u32 * ROW_HEIGHT,
    };
    known.enumerate().map(bar).collect()
}

/// Formats an amount as `$3.2 million`; amounts below a million in full.
pub fn format_dollars(dollars: i64, t: &ProfileTexts) -> String {
    let sign = if dollars < 0 { "−" } else { "" };
    let size = dollars.unsigned_abs();
    let (unit, name) = match size {
        0..1_000_000 => return format!("{sign}${}", thousands(size)),
        1_000_000..999_950_000 => (1_000_000, t.million),
        _ => (1_000_000_000, t.billion),
    };
    let tenths = (u128::from(size) * 10 + unit / 2) / unit;
    match tenths % 10 {
        0 => format!("{sign}${} {name}", tenths / 10),
        rest => format!("{sign}${}.{rest} {name}", tenths / 10),
    }
}

/// Structured data (JSON-LD) with the vocabulary of schema.org.
#[derive(Debug, Serialize)]
pub struct JsonLd<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    url: &'a str,
    logo: String,
    address: Address<'a>,
    #[serde(rename = "taxID", skip_serializing_if = "Option::is_none")]
    tax_id: Option<String>,
    #[serde(rename = "sameAs", skip_serializing_if = "Option::is_none")]
    same_as: Option<&'a str>,
    #[serde(rename = "nonprofitStatus", skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(rename = "potentialAction", skip_serializing_if = "Option::is_none")]
    action: Option<Action<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "@type", rename = "PostalAddress")]
struct Address<'a> {
    #[serde(rename = "addressLocality")]
    city: &'a str,
    #[serde(rename = "addressRegion")]
    state: &'a str,
    #[serde(rename = "postalCode")]
    zip: &'a str,
    #[serde(rename = "addressCountry")]
    country: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "@type", rename = "DonateAction")]
struct Action<'a> {
    target: &'a str,
}

/// Returns the structured data of a nonprofit whose profile is at `url`.
pub fn json_ld<'a>(nonprofit: &Nonprofit<'a>, description: &'a str, url: &'a str, urls: &Urls) -> JsonLd<'a> {
    let can_receive_donations = nonprofit.is_disbursable();
    JsonLd {
        context: "https://schema.org",
        kind: "NGO",
        name: nonprofit.name,
        description,
        url,
        logo: urls.logo(nonprofit),
        address: Address {
            city: nonprofit.city,
            state: nonprofit.state,
            zip: nonprofit.zip,
            country: if nonprofit.country.is_empty() {
                "US"
            } else {
                nonprofit.country
            },
        },
        tax_id: nonprofit.ein.map(directory::nonprofits::ein::Ein::dashed),
        same_as: nonprofit.website_url,
        status: can_receive_donations.then_some("https://schema.org/Nonprofit501c3"),
        action: can_receive_donations.then_some(Action { target: url }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;
    use proptest::prelude::*;

    #[test]
    fn large_amounts_are_rounded_to_millions_and_billions() {
        for (dollars, expected) in [
            (0, "$0"),
            (64_000, "$64,000"),
            (999_999, "$999,999"),
            (1_000_000, "$1 million"),
            (3_249_999, "$3.2 million"),
            (999_949_999, "$999.9 million"),
            (999_960_000, "$1 billion"),
            (3_217_077_000, "$3.2 billion"),
            (-1_500_000, "−$1.5 million"),
        ] {
            assert_eq!(format_dollars(dollars, &PUBLIC_EN.profile), expected);
        }
    }

    #[test]
    fn a_return_without_positive_amounts_has_no_chart() {
        let facts = IrsFacts {
            revenue: Some(0),
            assets: Some(-5),
            ..IrsFacts::default()
        };
        assert_eq!(bars(&facts, &PUBLIC_EN.profile), []);
    }

    proptest! {
        #[test]
        fn every_bar_fits(amounts in any::<[Option<i64>; 3]>()) {
            let [assets, income, revenue] = amounts;
            let facts = IrsFacts { assets, income, revenue, ..IrsFacts::default() };
            for bar in bars(&facts, &PUBLIC_EN.profile) {
                prop_assert!((MIN_BAR_WIDTH..=MAX_BAR_WIDTH).contains(&bar.width));
            }
        }
    }
}
