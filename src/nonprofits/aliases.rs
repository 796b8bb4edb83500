//! Everyday names of well-known nonprofits: people type "red cross" and "ACLU", the IRS files neither.
//!
//! They come from the demo directory, which names its bodies as people do; a body of an imported file gets those of
//! its EIN, unless its profile has its own.

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
}

static BY_EIN: LazyLock<HashMap<Ein, String>> = LazyLock::new(|| {
    let lines = include_str!("../../data/demo.jsonl").lines();
    let names = lines.map(|line| {
        let Line { ein, name, aliases } = serde_json::from_str(line).expect("the demo directory is valid");
        let ein = Ein::parse(&ein).expect("the demo directory has valid EINs");
        let names: Vec<String> = std::iter::once(name).chain(aliases).collect();
        (ein, names.join("\n"))
    });
    names.collect()
});

/// The everyday names of a body, one a line; empty where none are known.
pub fn everyday_names(ein: Ein) -> &'static str {
    BY_EIN.get(&ein).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_bodies_have_everyday_names() {
        let red_cross = Ein::parse("530196605").unwrap();
        assert!(
            everyday_names(red_cross)
                .lines()
                .any(|name| name == "American Red Cross")
        );
        assert_eq!(everyday_names(Ein::parse("000000001").unwrap()), "");
    }
}
