//! The slug: the name of a nonprofit in URLs, `/{slug}`.
//!
//! A slug is never a UUID or nine digits, which are an ID and an EIN, and never a route of the site, which has the same
//! URL space. A [`Slug`] is always valid.

use super::ein::Ein;
use platform::text;
use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;
use uuid::Uuid;

/// A valid slug: words of `a-z0-9` joined by single hyphens, 1 to 100 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(Box<str>);

const MAX_LENGTH: usize = 100;
const MAX_NAME_LENGTH: usize = 80;

impl Slug {
    /// Parses a slug as typed. Ignores letter case and surrounding whitespace.
    pub fn parse(text: &str) -> Option<Slug> {
        let text = text.trim();
        (text.len() <= MAX_LENGTH)
            .then(|| text.to_ascii_lowercase())
            .and_then(Slug::from_folded)
    }

    fn from_folded(folded: String) -> Option<Slug> {
        let is_valid = has_slug_shape(&folded)
            && Ein::parse_lenient(&folded).is_none()
            && !is_uuid(&folded)
            && !is_reserved(&folded);
        is_valid.then(|| Slug(folded.into_boxed_str()))
    }

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the slugs to try for a new nonprofit, best first. The list is the same on every server.
    ///
    /// It starts with the name alone, then adds the city, the state and the last four digits of the EIN. The last slug
    /// contains the whole EIN, or the ID if there is no EIN, and is in the list of no other nonprofit.
    pub fn candidates(
        name: &str,
        city: &str,
        state: &str,
        ein: Option<Ein>,
        id: Uuid,
    ) -> impl Iterator<Item = Slug> {
        let name = name_words(name);
        (0..6).filter_map(move |step| match (step, ein) {
            (0, _) => shared(&name, ""),
            (1, _) => shared(&name, &text::fold(city, '-')),
            (2, _) => shared(&name, &location(city, state)),
            (3, Some(ein)) => shared(
                &name,
                &join(&[&location(city, state), &format!("{:04}", ein.value() % 10_000)]),
            ),
            (4, Some(ein)) => Some(unique(&name, &ein.to_string())),
            (4, None) => shared(&name, text::cut(&id.simple().to_string(), 8)),
            (5, None) => Some(unique(&name, &id.simple().to_string())),
            _ => None,
        })
    }
}

fn location(city: &str, state: &str) -> String {
    join(&[&text::fold(city, '-'), &text::fold(state, '-')])
}

/// Folds a name and removes `inc` from its end, unless that is the whole name.
fn name_words(name: &str) -> String {
    let mut folded = text::fold(name, '-');
    for ending in ["-inc", "-incorporated"] {
        if let Some(rest) = folded.strip_suffix(ending) {
            folded.truncate(rest.len());
            break;
        }
    }
    folded
}

fn join(parts: &[&str]) -> String {
    let mut joined = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !joined.is_empty() {
            joined.push('-');
        }
        joined.push_str(part);
    }
    joined
}

/// Joins a name and an ending, and shortens the name to the maximum length of a slug.
fn fit(name: &str, ending: &str) -> String {
    let ending = text::cut_at_word(ending, '-', MAX_LENGTH - MAX_NAME_LENGTH / 2);
    let name_length = MAX_NAME_LENGTH.min(MAX_LENGTH - ending.len() - usize::from(!ending.is_empty()));
    join(&[text::cut_at_word(name, '-', name_length), ending])
}

/// Returns a slug that may also be in the list of another nonprofit. It never ends like an EIN or an ID.
fn shared(name: &str, ending: &str) -> Option<Slug> {
    let slug = if name.is_empty() {
        return None;
    } else {
        fit(name, ending)
    };
    let last = slug.rsplit('-').next().unwrap_or_default();
    if Ein::parse(last).is_some() || is_long_hex(last) {
        None
    } else {
        Slug::from_folded(slug)
    }
}

/// Returns a slug that is only in the list of the nonprofit with this EIN or ID.
fn unique(name: &str, identifier: &str) -> Slug {
    let slug = if name.is_empty() {
        None
    } else {
        Slug::from_folded(fit(name, identifier))
    };
    // A nonprofit named `us` would get a slug that is an EIN with a prefix.
    slug.unwrap_or_else(|| Slug(join(&["nonprofit", identifier]).into_boxed_str()))
}

fn is_long_hex(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit())
}

fn has_slug_shape(text: &str) -> bool {
    (1..=MAX_LENGTH).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Returns whether a text is a UUID, with or without hyphens.
fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    is_long_hex(text)
        || (text.len() == 36
            && text.split('-').count() == groups.len()
            && text
                .split('-')
                .zip(groups)
                .all(|(part, length)| part.len() == length && is_hex(part)))
}

/// Returns whether the site uses a word as a route.
pub(crate) fn is_reserved(text: &str) -> bool {
    RESERVED.contains(text) || is_version(text)
}

/// Returns whether a text is an API version: `v0`, `v0-2`, `v1`. Future versions are included.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| {
        rest.split('-')
            .all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// First path segments that the site uses or may use, one per line.
static RESERVED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/reserved-slugs.txt"
    ))
    .lines()
    .collect()
});

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ID: Uuid = Uuid::from_u128(0x0f8f_ad5b_d9cb_469f_a165_7086_7728_950e);

    fn all(name: &str, city: &str, state: &str, ein: Option<u32>) -> Vec<String> {
        let ein = ein.and_then(Ein::new);
        Slug::candidates(name, city, state, ein, ID)
            .map(|slug| slug.to_string())
            .collect()
    }

    #[test]
    fn parsing_ignores_letter_case_and_surrounding_whitespace() {
        assert_eq!(Slug::parse("  Red-Cross ").unwrap().as_str(), "red-cross");
    }

    #[test]
    fn a_slug_is_never_an_ein_a_uuid_or_a_route() {
        for invalid in [
            "530196605",
            "53-0196605",
            "ein-530196605",
            "us-530196605",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            "0f8fad5bd9cb469fa16570867728950e",
            "search",
            "API",
            "v0",
            "v0-2",
            "v12",
            "special-fundraiser",
            "",
            "-a",
            "a-",
            "a--b",
            "a_b",
            "a.b",
            "a/b",
            "é",
        ] {
            assert_eq!(Slug::parse(invalid), None, "{invalid}");
        }
        assert_eq!(Slug::parse(&"a".repeat(101)), None);
        assert!(Slug::parse("53019660").is_some());
    }

    #[test]
    fn reserved_words_are_not_slugs() {
        assert!(RESERVED.len() > 100);
        assert!(
            RESERVED
                .iter()
                .all(|word| has_slug_shape(word) && Slug::parse(word).is_none())
        );
    }

    #[test]
    fn candidates_add_the_location_and_then_the_ein() {
        assert_eq!(
            all("KNIGHTS OF COLUMBUS INC", "NEW HAVEN", "CT", Some(60_416_470)),
            [
                "knights-of-columbus",
                "knights-of-columbus-new-haven",
                "knights-of-columbus-new-haven-ct",
                "knights-of-columbus-new-haven-ct-6470",
                "knights-of-columbus-060416470",
            ]
        );
    }

    #[test]
    fn without_an_ein_the_last_candidate_ends_with_the_id() {
        assert_eq!(
            all("Médecins & Co.", "Paris", "", None),
            [
                "medecins-and-co",
                "medecins-and-co-paris",
                "medecins-and-co-paris",
                "medecins-and-co-0f8fad5b",
                "medecins-and-co-0f8fad5bd9cb469fa16570867728950e",
            ]
        );
    }

    #[test]
    fn names_that_are_not_slugs_still_have_a_candidate() {
        assert_eq!(all("慈善", "", "", Some(1)), ["nonprofit-000000001"]);
        assert_eq!(all("US", "", "", Some(1)).last().unwrap(), "nonprofit-000000001");
        assert_eq!(all("Search", "Reno", "NV", Some(1))[0], "search-reno");
        assert_eq!(all("Inc", "", "", Some(1))[0], "inc");
    }

    #[test]
    fn no_candidate_ends_with_the_ein_of_another_nonprofit() {
        let candidates = all("RED CROSS 530196605", "", "", Some(1));
        assert!(
            !candidates.contains(&"red-cross-530196605".to_owned()),
            "{candidates:?}"
        );
    }

    proptest! {
        #[test]
        fn every_candidate_is_a_valid_slug(
            name in "\\PC{0,120}", city in "\\PC{0,40}", state in "[A-Z]{0,2}", ein in proptest::option::of(0_u32..=999_999_999),
        ) {
            let slugs = all(&name, &city, &state, ein);
            prop_assert!(!slugs.is_empty());
            for slug in slugs {
                prop_assert_eq!(Slug::parse(&slug).map(|slug| slug.to_string()), Some(slug));
            }
        }

        #[test]
        fn the_last_candidate_is_distinct_for_distinct_eins(
            names in ("[A-Z ]{0,80}", "[A-Z ]{0,80}"), one in 0_u32..=999_999_999, other in 0_u32..=999_999_999,
        ) {
            prop_assume!(one != other);
            let last = |name: &str, ein| all(name, "BOSTON", "MA", Some(ein)).pop();
            prop_assert_ne!(last(&names.0, one), last(&names.1, other));
            prop_assert!(!all(&names.1, "BOSTON", "MA", Some(other)).contains(&last(&names.0, one).unwrap()));
        }

        #[test]
        fn a_slug_is_never_another_identifier(text in "[a-f0-9-]{1,40}|[a-z]{1,8}|[0-9]{2}-?[0-9]{7}") {
            if let Some(slug) = Slug::parse(&text) {
                prop_assert!(Ein::parse(slug.as_str()).is_none());
                prop_assert!(Uuid::parse_str(slug.as_str()).is_err());
                prop_assert!(!is_reserved(slug.as_str()));
                prop_assert_eq!(Slug::parse(&slug.to_string()), Some(slug));
            }
        }
    }
}
