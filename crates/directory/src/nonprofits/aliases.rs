//! Common names, websites and typical revenue of well-known nonprofits.
//!
//! People search for "red cross" and "ACLU", but the IRS files contain neither name, and they contain no return of some of
//! the largest nonprofits. All are taken from the demo directory, by EIN. What a profile says takes precedence.

use super::ein::Ein;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Line {
    ein: String,
    name: String,
    #[serde(default)]
    aliases: Vec<String>,
    revenue: Option<i64>,
    #[serde(rename = "websiteUrl")]
    website_url: Option<String>,
}

struct WellKnown {
    names: String,
    website_url: Option<String>,
    revenue: Option<i64>,
}

static BY_EIN: LazyLock<HashMap<Ein, WellKnown>> = LazyLock::new(|| {
    let lines = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo.jsonl")).lines();
    let nonprofits = lines.map(|line| {
        let line: Line = serde_json::from_str(line).expect("the demo directory is valid");
        let ein = Ein::parse(&line.ein).expect("the demo directory has valid EINs");
        let names: Vec<String> = std::iter::once(line.name).chain(line.aliases).collect();
        let well_known = WellKnown {
            names: names.join("\n"),
            website_url: line.website_url,
            revenue: line.revenue,
        };
        (ein, well_known)
    });
    nonprofits.collect()
});

/// Returns the common names of a nonprofit, one per line. Empty if none are known.
pub fn common_names(ein: Ein) -> &'static str {
    BY_EIN
        .get(&ein)
        .map_or("", |well_known| well_known.names.as_str())
}

/// Returns the website of a well-known nonprofit, by which it is found.
pub(crate) fn common_website(ein: Ein) -> Option<&'static str> {
    BY_EIN.get(&ein)?.website_url.as_deref()
}

/// The median of the revenues that are listed.
static MEDIAN_REVENUE: LazyLock<Option<i64>> = LazyLock::new(|| {
    let mut listed: Vec<i64> = BY_EIN.values().filter_map(|known| known.revenue).collect();
    listed.sort_unstable();
    listed.get(listed.len() / 2).copied()
});

/// Returns the approximate annual revenue of a well-known nonprofit, in dollars. One without a listed revenue, such as a
/// church, counts as a typical one, so that it is not ranked below small namesakes.
pub(crate) fn typical_revenue(ein: Ein) -> Option<i64> {
    BY_EIN.get(&ein)?.revenue.or(*MEDIAN_REVENUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_nonprofits_have_common_names_and_a_revenue() {
        let red_cross = Ein::parse("530196605").unwrap();
        assert!(
            common_names(red_cross)
                .lines()
                .any(|name| name == "American Red Cross")
        );
        assert_eq!(common_website(red_cross), Some("https://www.redcross.org"));
        assert!(typical_revenue(red_cross).is_some_and(|dollars| dollars > 1_000_000_000));
        let salvation_army = Ein::parse("135562351").unwrap();
        assert!(typical_revenue(salvation_army).is_some_and(|dollars| dollars > 10_000_000));
        let unknown = Ein::parse("000000001").unwrap();
        assert_eq!((common_names(unknown), typical_revenue(unknown)), ("", None));
    }
}
