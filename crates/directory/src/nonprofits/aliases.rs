//! Well-known nonprofits: their everyday names and their size. People type "red cross" and "ACLU", the IRS files neither;
//! and of some of the largest it has no return.
//!
//! Both come from the demo directory, which names its bodies as people do; a body of an imported file gets the names
//! of its EIN, unless its profile has its own.

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
}

struct WellKnown {
    names: String,
    revenue: Option<i64>,
}

static BY_EIN: LazyLock<HashMap<Ein, WellKnown>> = LazyLock::new(|| {
    let lines = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo.jsonl")).lines();
    let bodies = lines.map(|line| {
        let line: Line = serde_json::from_str(line).expect("the demo directory is valid");
        let ein = Ein::parse(&line.ein).expect("the demo directory has valid EINs");
        let names: Vec<String> = std::iter::once(line.name).chain(line.aliases).collect();
        let body = WellKnown {
            names: names.join("\n"),
            revenue: line.revenue,
        };
        (ein, body)
    });
    bodies.collect()
});

/// The everyday names of a body, one a line; empty where none are known.
pub fn common_names(ein: Ein) -> &'static str {
    BY_EIN.get(&ein).map_or("", |body| body.names.as_str())
}

/// About what a well-known body takes in a year, in dollars.
pub fn typical_revenue(ein: Ein) -> Option<i64> {
    BY_EIN.get(&ein)?.revenue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_bodies_have_everyday_names_and_a_size() {
        let red_cross = Ein::parse("530196605").unwrap();
        assert!(
            common_names(red_cross)
                .lines()
                .any(|name| name == "American Red Cross")
        );
        assert!(typical_revenue(red_cross).is_some_and(|dollars| dollars > 1_000_000_000));
        let unknown = Ein::parse("000000001").unwrap();
        assert_eq!((common_names(unknown), typical_revenue(unknown)), ("", None));
    }
}
