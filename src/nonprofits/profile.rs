//! What a profile says of a nonprofit in words: what the IRS says, its amounts, and the facts for machines.

use super::Nonprofit;
use super::irs::IrsFacts;
use crate::search::pages::thousands;
use crate::urls::Urls;
use crate::web::texts::{ProfileTexts, fill};
use serde_json::{Value, json};

/// Units of the drawn picture.
const WIDEST: f64 = 300.0;
const NARROWEST: f64 = 2.0;

/// One amount of the last return, as a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub label: &'static str,
    pub words: String,
    pub width: f64,
    pub y: f64,
}

/// What the IRS says, in sentences.
pub fn sentences(facts: &IrsFacts, t: &ProfileTexts) -> Vec<String> {
    let mut told = Vec::new();
    if facts.subsection > 0 {
        let paragraph = format!("501(c)({})", facts.subsection);
        told.push(fill(
            t.paragraph,
            &[("paragraph", &paragraph), ("kind", facts.kind())],
        ));
    }
    told.extend(match facts.deductibility {
        1 => Some(t.deductible.to_owned()),
        2 => Some(t.not_deductible.to_owned()),
        4 => Some(t.by_treaty.to_owned()),
        _ => None,
    });
    if let Some(year) = facts.ruling_year() {
        told.push(fill(t.ruling, &[("year", &year.to_string())]));
    }
    if facts.is_subordinate() {
        told.push(t.subordinate.to_owned());
    }
    told
}

/// The year of the last return on file.
pub fn return_year(facts: &IrsFacts) -> Option<u32> {
    let year = facts.tax_period / 100;
    (1900..=2100).contains(&year).then_some(year)
}

/// The amounts of the last return, drawn to one scale. Nothing where no amount is known or all are zero.
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
    let bar = |(place, (label, amount)): (usize, (&'static str, i64))| Bar {
        label,
        words: in_words(amount, t),
        width: (amount.max(0) as f64 / largest as f64 * WIDEST).max(NARROWEST),
        y: place as f64 * 44.0,
    };
    known.enumerate().map(bar).collect()
}

/// `$3.2 million`; below a million to the dollar.
pub fn in_words(dollars: i64, t: &ProfileTexts) -> String {
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

/// The facts as JSON-LD.
pub fn for_machines(nonprofit: &Nonprofit<'_>, urls: &Urls) -> Value {
    let profile = urls.profile(nonprofit.slug);
    let mut facts = json!({
        "@context": "https://schema.org",
        "@type": "NGO",
        "name": nonprofit.name,
        "description": nonprofit.description(&nonprofit.location()),
        "url": profile,
        "logo": urls.logo(nonprofit),
        "address": {
            "@type": "PostalAddress",
            "addressLocality": nonprofit.city,
            "addressRegion": nonprofit.state,
            "postalCode": nonprofit.zip,
            "addressCountry": if nonprofit.country.is_empty() { "US" } else { nonprofit.country },
        },
    });
    if let Some(ein) = nonprofit.ein {
        facts["taxID"] = ein.dashed().into();
    }
    if let Some(website) = nonprofit.website_url {
        facts["sameAs"] = website.into();
    }
    if nonprofit.is_disbursable() {
        facts["nonprofitStatus"] = "https://schema.org/Nonprofit501c3".into();
        facts["potentialAction"] = json!({ "@type": "DonateAction", "target": profile });
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::texts::PUBLIC_EN;
    use proptest::prelude::*;

    #[test]
    fn amounts_are_told_as_people_tell_them() {
        for (dollars, words) in [
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
            assert_eq!(in_words(dollars, &PUBLIC_EN.profile), words);
        }
    }

    #[test]
    fn a_return_of_nothing_but_zeros_draws_nothing() {
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
                prop_assert!((NARROWEST..=WIDEST).contains(&bar.width));
            }
        }
    }
}
