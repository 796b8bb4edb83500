//! What a profile shows from IRS records: sentences about the tax status, a chart of amounts, and structured data.

use crate::app::urls::Urls;
use crate::site::profile::sources::format_month;
use crate::web::dates::format_day;
use crate::web::numbers::thousands;
use crate::web::texts::{ProfileTexts, fill};
use directory::nonprofits::Nonprofit;
use directory::nonprofits::irs::IrsFacts;
use directory::nonprofits::tax_facts::{Revocation, TaxFacts};
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
pub fn sentences(nonprofit: &Nonprofit<'_>, t: &ProfileTexts) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(facts) = &nonprofit.facts {
        add_status(&mut sentences, facts, nonprofit.tax.is_revoked(), t);
    }
    add_filings(&mut sentences, &nonprofit.tax, t);
    sentences
}

/// Adds what the master file says. It may still list a nonprofit whose exemption was revoked.
fn add_status(sentences: &mut Vec<String>, facts: &IrsFacts, is_revoked: bool, t: &ProfileTexts) {
    if facts.subsection > 0 && !is_revoked {
        let paragraph = format!("501(c)({})", facts.subsection);
        sentences.push(fill(
            t.paragraph,
            &[("paragraph", &paragraph), ("kind", facts.kind())],
        ));
    }
    sentences.extend(match facts.deductibility {
        _ if is_revoked => Some(t.not_deductible.to_owned()),
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
}

/// Adds what the other files of the IRS say.
fn add_filings(sentences: &mut Vec<String>, tax: &TaxFacts, t: &ProfileTexts) {
    let kinds: Vec<&str> = tax.publication_78.iter().map(|(_, kind)| kind).collect();
    if !kinds.is_empty() {
        sentences.push(fill(t.publication_78, &[("kinds", &kinds.join(", and as "))]));
    }
    if let Some(Revocation {
        revoked_on,
        reinstated_on: Some(reinstated_on),
    }) = tax.revocation
    {
        let days = [
            ("revoked", &*format_day(revoked_on)),
            ("reinstated", &*format_day(reinstated_on)),
        ];
        sentences.push(fill(t.reinstated, &days));
    }
    if let Some(year) = tax.formed {
        sentences.push(fill(t.formed, &[("year", &year.to_string())]));
    }
    if let Some(epostcard) = tax.epostcard {
        let text = if epostcard.has_small_receipts {
            t.epostcard_small
        } else {
            t.epostcard
        };
        sentences.push(fill(text, &[("year", &epostcard.tax_year.to_string())]));
    }
    let has_ended = tax.latest_return.is_some_and(|latest| latest.is_final)
        || tax.epostcard.is_some_and(|epostcard| epostcard.is_terminated);
    if has_ended {
        sentences.push(t.final_return.to_owned());
    }
}

/// Returns why donations cannot be passed on to the nonprofit, or `None` if they can.
pub fn refusal(nonprofit: &Nonprofit<'_>, t: &ProfileTexts) -> Option<String> {
    if nonprofit.is_disbursable() {
        return None;
    }
    if let Some(revocation) = nonprofit.tax.current_revocation() {
        return Some(fill(t.revoked, &[("day", &format_day(revocation.revoked_on))]));
    }
    if nonprofit.gone_at.is_some() {
        return Some(t.gone.to_owned());
    }
    let Some(facts) = &nonprofit.facts else {
        return Some(t.refused_unknown.to_owned());
    };
    if !facts.is_charity() {
        let paragraph = format!("501(c)({})", facts.subsection);
        let words = [("paragraph", &*paragraph), ("kind", facts.kind())];
        let text = if facts.subsection == 0 {
            t.refused_unknown
        } else {
            t.refused_kind
        };
        return Some(fill(text, &words));
    }
    let text = if facts.is_disbursable() {
        t.held
    } else if facts.foundation == PRIVATE_FOUNDATION {
        t.refused_foundation
    } else if !facts.is_deductible() {
        t.refused_not_deductible
    } else {
        t.refused_status
    };
    Some(text.to_owned())
}

/// The foundation code of a private foundation that makes grants.
const PRIVATE_FOUNDATION: u8 = 4;

/// A fact, with its name.
#[derive(Debug, PartialEq, Eq)]
pub struct KeyFact {
    pub label: &'static str,
    pub value: String,
    /// What the value refers to, such as a year.
    pub note: String,
}

/// Returns the EIN and the tax status in one line, such as "EIN 53-0196605 · Public charity, 501(c)(3)".
pub fn standing(nonprofit: &Nonprofit<'_>, t: &ProfileTexts) -> String {
    let ein = nonprofit.ein.map(|ein| format!("{} {}", t.ein, ein.dashed()));
    let facts = nonprofit.facts.as_ref();
    let facts = facts.filter(|facts| facts.subsection > 0 && !nonprofit.tax.is_revoked());
    let status = facts.map(|facts| format!("{}, 501(c)({})", capitalize(facts.kind()), facts.subsection));
    ein.into_iter().chain(status).collect::<Vec<_>>().join(" · ")
}

/// Returns what is known in sentences, for a nonprofit that has not described its work: its description by the IRS, and its
/// latest amounts.
pub fn about(nonprofit: &Nonprofit<'_>, description: &str, t: &ProfileTexts) -> String {
    let mut text = description.to_owned();
    let latest = LatestAmounts::of(nonprofit);
    let amount = |dollars: Option<i64>| dollars.filter(|dollars| *dollars > 0);
    let dollars = |dollars| format_dollars(dollars, t);
    let sentence = match (amount(latest.revenue), amount(latest.assets)) {
        (Some(revenue), Some(assets)) => fill(
            t.about_both,
            &[("revenue", &dollars(revenue)), ("assets", &dollars(assets))],
        ),
        (Some(revenue), None) => fill(t.about_revenue, &[("revenue", &dollars(revenue))]),
        (None, Some(assets)) => fill(t.about_assets, &[("assets", &dollars(assets))]),
        (None, None) => return text,
    };
    let period = match latest.period.as_str() {
        "" => t.about_latest.to_owned(),
        period => fill(t.about_period, &[("period", period)]),
    };
    text.push(' ');
    text.push_str(&fill(&period, &[("sentence", &sentence)]));
    text
}

/// The newest amounts, wherever they come from. The master file has those of returns that were not published yet.
#[derive(Debug, Default)]
struct LatestAmounts {
    revenue: Option<i64>,
    assets: Option<i64>,
    /// In words; empty if it is not known.
    period: String,
}

impl LatestAmounts {
    fn of(nonprofit: &Nonprofit<'_>) -> LatestAmounts {
        let latest = nonprofit.tax.latest_return.filter(|latest| latest.period != 0);
        let filed = nonprofit.facts.as_ref().filter(|facts| facts.revenue.is_some());
        let is_newer = |facts: &&IrsFacts| {
            latest.is_none_or(|latest| return_year(facts).is_some() && facts.tax_period > latest.period)
        };
        match (latest, filed.filter(is_newer)) {
            (_, Some(facts)) => LatestAmounts {
                revenue: facts.revenue,
                assets: facts.assets,
                period: return_year(facts)
                    .map(|_| format_month(facts.tax_period))
                    .unwrap_or_default(),
            },
            (Some(latest), None) => LatestAmounts {
                revenue: latest.revenue,
                assets: latest.assets,
                period: format_month(latest.period),
            },
            (None, None) => LatestAmounts::default(),
        }
    }
}

/// Returns the facts that a visitor looks for first.
pub fn key_facts(nonprofit: &Nonprofit<'_>, t: &ProfileTexts) -> Vec<KeyFact> {
    let mut facts = Vec::new();
    let mut add = |label, value: String, note: String| facts.push(KeyFact { label, value, note });
    let stated = nonprofit.facts.as_ref();
    if let Some(facts) = stated.filter(|facts| facts.subsection > 0 && !nonprofit.tax.is_revoked()) {
        let note = format!("501(c)({})", facts.subsection);
        add(t.kind, capitalize(facts.kind()), note);
    }
    if let Some(ntee) = nonprofit.ntee {
        let category = ntee.meaning().decile_meaning.to_owned();
        add(t.category, category, String::new());
    }
    let LatestAmounts {
        revenue,
        assets,
        period,
    } = LatestAmounts::of(nonprofit);
    for (label, amount) in [(t.revenue, revenue), (t.assets, assets)] {
        if let Some(dollars) = amount.filter(|dollars| *dollars != 0) {
            add(label, format_dollars(dollars, t), period.clone());
        }
    }
    let formed = nonprofit.tax.formed.map(|year| (t.formed_label, year));
    let ruling = stated
        .and_then(IrsFacts::ruling_year)
        .map(|year| (t.ruling_label, year));
    if let Some((label, year)) = formed.or(ruling) {
        add(label, year.to_string(), String::new());
    }
    facts
}

fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
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
    format_rounded(dollars, " ", [t.million, t.billion])
}

/// Formats an amount for a table, where space is scarce: `$3.2M`.
pub fn format_dollars_short(dollars: i64, t: &ProfileTexts) -> String {
    format_rounded(dollars, "", [t.million_short, t.billion_short])
}

fn format_rounded(dollars: i64, space: &str, [million, billion]: [&str; 2]) -> String {
    let sign = if dollars < 0 { "−" } else { "" };
    let size = dollars.unsigned_abs();
    let (unit, name) = match size {
        0..1_000_000 => return format!("{sign}${}", thousands(size)),
        1_000_000..999_950_000 => (1_000_000, million),
        _ => (1_000_000_000, billion),
    };
    let tenths = (u128::from(size) * 10 + unit / 2) / unit;
    match tenths % 10 {
        0 => format!("{sign}${}{space}{name}", tenths / 10),
        rest => format!("{sign}${}.{rest}{space}{name}", tenths / 10),
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
    use directory::nonprofits::tax_facts::Day;
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
        assert_eq!(format_dollars_short(3_249_999, &PUBLIC_EN.profile), "$3.2M");
        assert_eq!(format_dollars_short(999_960_000, &PUBLIC_EN.profile), "$1B");
    }

    #[test]
    fn a_revoked_nonprofit_is_neither_exempt_nor_deductible() {
        let facts = IrsFacts {
            subsection: 3,
            deductibility: 1,
            ..IrsFacts::default()
        };
        let t = &PUBLIC_EN.profile;
        let sentences = |is_revoked| {
            let mut sentences = Vec::new();
            add_status(&mut sentences, &facts, is_revoked, t);
            sentences
        };
        assert_eq!(sentences(false).len(), 2);
        assert_eq!(sentences(true), [t.not_deductible]);
        let revoked = TaxFacts {
            revocation: Some(Revocation {
                revoked_on: Day::parse("2015-05-15").unwrap(),
                reinstated_on: None,
            }),
            ..TaxFacts::default()
        };
        assert!(revoked.is_revoked() && !TaxFacts::default().is_revoked());
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
