//! The slug of a fundraiser: its name in URLs, `/{nonprofit}/f/{slug}`, derived from its title.

use platform::text;
use uuid::Uuid;

/// The maximum length of a slug.
pub(super) const MAX_LENGTH: usize = 100;
/// The maximum length of the part that is derived from the title.
const MAX_TITLE_LENGTH: usize = 80;
/// The number of attempts with a suffix of four digits.
const SHORT_SUFFIX_ATTEMPTS: u32 = 8;
const FALLBACK: &str = "fundraiser";

/// Returns the slug of a title: ASCII words joined by dashes, and never a UUID, which would be read as an ID.
pub fn of_title(title: &str) -> String {
    let folded = text::fold(title, '-');
    let slug = text::cut_at_word(&folded, '-', MAX_TITLE_LENGTH);
    match slug {
        "" => FALLBACK.to_owned(),
        slug if Uuid::try_parse(slug).is_ok() => format!("{FALLBACK}-{slug}"),
        slug => slug.to_owned(),
    }
}

/// Appends hex digits to a slug that another fundraiser has. The first attempts append four digits, and later ones
/// eight, so that a free slug is found no matter how many fundraisers have the same title.
pub(super) fn with_suffix(slug: &str, number: u32, attempt: u32) -> String {
    match attempt {
        ..SHORT_SUFFIX_ATTEMPTS => format!("{slug}-{:04x}", number & 0xffff),
        _ => format!("{slug}-{number:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_slug_consists_of_the_words_of_the_title() {
        for (title, slug) in [
            ("Ana's Birthday & Run", "anas-birthday-and-run"),
            ("  Crème   brûlée!! ", "creme-brulee"),
            ("日本", "fundraiser"),
            (
                "ddacc399-20c5-462e-80e1-97fa958071ea",
                "fundraiser-ddacc399-20c5-462e-80e1-97fa958071ea",
            ),
        ] {
            assert_eq!(of_title(title), slug);
        }
        assert_eq!(with_suffix("run", 0x00ff_00ab, 7), "run-00ab");
        assert_eq!(with_suffix("run", 0x00ff_00ab, 8), "run-00ff00ab");
    }

    proptest! {
        #[test]
        fn every_title_has_a_slug_that_is_not_an_id(title in ".{0,200}", number in any::<u32>(), attempt in 0..16_u32) {
            for slug in [of_title(&title), with_suffix(&of_title(&title), number, attempt)] {
                prop_assert!((1..=MAX_LENGTH).contains(&slug.len()));
                prop_assert!(slug.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'));
                prop_assert!(!slug.starts_with('-') && !slug.ends_with('-'));
                prop_assert!(Uuid::try_parse(&slug).is_err());
            }
        }
    }
}
