//! The slug: the name of a nonprofit inside an address, `/{slug}`.
//!
//! A UUID is an ID and nine digits are an EIN, so a slug never reads as either; nor is it ever a route of the
//! site, which lives beside the profiles. A `Slug` can only be had valid.

use super::ein::Ein;
use platform::text;
use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;
use uuid::Uuid;

/// Lower-case words of `a-z0-9` joined by single dashes, 1 to 100 bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(Box<str>);

const LONGEST: usize = 100;
const LONGEST_NAME: usize = 80;

impl Slug {
    /// Reads a slug as typed: blanks at the ends fall, large letters become small.
    pub fn parse(text: &str) -> Option<Slug> {
        let text = text.trim();
        (text.len() <= LONGEST)
            .then(|| text.to_ascii_lowercase())
            .and_then(Slug::from_folded)
    }

    fn from_folded(folded: String) -> Option<Slug> {
        let is_valid = has_slug_shape(&folded)
            && Ein::parse_lenient(&folded).is_none()
            && !is_uuid(&folded)
            && !is_route(&folded);
        is_valid.then(|| Slug(folded.into_boxed_str()))
    }

    /// The slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The slugs to try for a new body, best first; the same body gets the same list on every machine.
    ///
    /// The name alone, then with the city, the state and the last four digits of the EIN, until the whole EIN (or,
    /// for a body without one, its id) makes it unique: no other body is ever offered the last of the list.
    pub fn candidates(
        name: &str,
        city: &str,
        state: &str,
        ein: Option<Ein>,
        id: Uuid,
    ) -> impl Iterator<Item = Slug> {
        let name = name_words(name);
        (0..6).filter_map(move |step| match (step, ein) {
            (0, _) => plain(&name, ""),
            (1, _) => plain(&name, &text::fold(city, '-')),
            (2, _) => plain(&name, &place(city, state)),
            (3, Some(ein)) => plain(
                &name,
                &joined(&[&place(city, state), &format!("{:04}", ein.value() % 10_000)]),
            ),
            (4, Some(ein)) => Some(unique(&name, &ein.to_string())),
            (4, None) => plain(&name, text::cut(&id.simple().to_string(), 8)),
            (5, None) => Some(unique(&name, &id.simple().to_string())),
            _ => None,
        })
    }
}

fn place(city: &str, state: &str) -> String {
    joined(&[&text::fold(city, '-'), &text::fold(state, '-')])
}

/// Folds a name and drops the `inc` at its end, unless that is all there is.
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

fn joined(parts: &[&str]) -> String {
    let mut all = String::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        if !all.is_empty() {
            all.push('-');
        }
        all.push_str(part);
    }
    all
}

/// Name and ending within the length of a slug; the name gives way.
fn fitted(name: &str, ending: &str) -> String {
    let ending = text::cut_at_word(ending, '-', LONGEST - LONGEST_NAME / 2);
    let room = LONGEST_NAME.min(LONGEST - ending.len() - usize::from(!ending.is_empty()));
    joined(&[text::cut_at_word(name, '-', room), ending])
}

/// A slug that another body might want too. One that ends like an EIN or id is left to the body that has it.
fn plain(name: &str, ending: &str) -> Option<Slug> {
    let slug = if name.is_empty() {
        return None;
    } else {
        fitted(name, ending)
    };
    let last = slug.rsplit('-').next().unwrap_or_default();
    if Ein::parse(last).is_some() || is_long_hex(last) {
        None
    } else {
        Slug::from_folded(slug)
    }
}

/// A slug that only the body with this EIN or id is offered.
fn unique(name: &str, identifier: &str) -> Slug {
    let whole = if name.is_empty() {
        None
    } else {
        Slug::from_folded(fitted(name, identifier))
    };
    // A body named `us` would read as a prefixed EIN.
    whole.unwrap_or_else(|| Slug(joined(&["nonprofit", identifier]).into_boxed_str()))
}

fn is_long_hex(word: &str) -> bool {
    word.len() == 32 && word.bytes().all(|b| b.is_ascii_hexdigit())
}

fn has_slug_shape(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
        && !text.contains("--")
}

/// Hyphenated or bare: both are read as an id.
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

/// Does the site need this word for itself?
pub fn is_route(text: &str) -> bool {
    ROUTES.contains(text) || is_version(text)
}

/// `v0`, `v0-2`, `v1`: versions of the interface, those to come as well.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| {
        rest.split('-')
            .all(|part| !part.is_empty() && part.len() <= 3 && part.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// First segments of the site's addresses, now or likely: one to a line.
static ROUTES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
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
    fn a_slug_is_read_in_any_case_and_with_blanks_around_it() {
        assert_eq!(Slug::parse("  Red-Cross ").unwrap().as_str(), "red-cross");
    }

    #[test]
    fn a_slug_is_never_an_ein_a_uuid_or_a_route() {
        for refused in [
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
            assert_eq!(Slug::parse(refused), None, "{refused}");
        }
        assert_eq!(Slug::parse(&"a".repeat(101)), None);
        assert!(Slug::parse("53019660").is_some());
    }

    #[test]
    fn every_route_of_the_list_is_refused() {
        assert!(ROUTES.len() > 100);
        assert!(
            ROUTES
                .iter()
                .all(|route| has_slug_shape(route) && Slug::parse(route).is_none())
        );
    }

    #[test]
    fn a_new_body_tries_its_name_then_its_place_then_its_ein() {
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
    fn a_body_without_ein_ends_with_its_id() {
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
    fn names_that_make_no_slug_still_get_one() {
        assert_eq!(all("慈善", "", "", Some(1)), ["nonprofit-000000001"]);
        assert_eq!(all("US", "", "", Some(1)).last().unwrap(), "nonprofit-000000001");
        assert_eq!(all("Search", "Reno", "NV", Some(1))[0], "search-reno");
        assert_eq!(all("Inc", "", "", Some(1))[0], "inc");
    }

    #[test]
    fn nobody_is_offered_the_ein_of_another() {
        let takers = all("RED CROSS 530196605", "", "", Some(1));
        assert!(!takers.contains(&"red-cross-530196605".to_owned()), "{takers:?}");
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
        fn whatever_parses_is_no_other_identifier(text in "[a-f0-9-]{1,40}|[a-z]{1,8}|[0-9]{2}-?[0-9]{7}") {
            if let Some(slug) = Slug::parse(&text) {
                prop_assert!(Ein::parse(slug.as_str()).is_none());
                prop_assert!(Uuid::parse_str(slug.as_str()).is_err());
                prop_assert!(!is_route(slug.as_str()));
                prop_assert_eq!(Slug::parse(&slug.to_string()), Some(slug));
            }
        }
    }
}
