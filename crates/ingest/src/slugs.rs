//! Assigns slugs. Each nonprofit gets its first candidate that is free, in order of prominence.

use directory::nonprofits::ein::Ein;
use directory::nonprofits::slug::Slug;
use std::collections::HashSet;
use uuid::Uuid;

/// All slugs in use, current and former, as hashes. A collision only means that a nonprofit gets its next candidate.
#[derive(Debug, Default)]
pub(crate) struct UsedSlugs(HashSet<u64>);

impl UsedSlugs {
    pub(crate) fn with_capacity(slugs: usize) -> UsedSlugs {
        UsedSlugs(HashSet::with_capacity(slugs))
    }

    /// Claims a slug. Returns `false` if it is already in use.
    pub(crate) fn claim(&mut self, slug: &str) -> bool {
        self.0.insert(directory::snapshot::table::text_key(slug))
    }
}

/// Returns the first candidate of a nonprofit.
pub(crate) fn first_choice(name: &str, city: &str, state: &str, ein: Ein) -> Slug {
    let mut candidates = Slug::candidates(name, city, state, Some(ein), ein.nonprofit_id().0);
    candidates.next().expect("there is at least one candidate")
}

/// Returns whether a slug still matches a name. The location does not count, so a nonprofit that moves keeps its slug.
pub(crate) fn matches_name(slug: &str, name: &str) -> bool {
    let Some(base) = Slug::candidates(name, "", "", None, Uuid::nil()).next() else {
        return true;
    };
    slug.strip_prefix(base.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_matches_the_name_with_any_location() {
        assert!(matches_name("food-bank-of-iowa", "FOOD BANK OF IOWA INC"));
        assert!(matches_name(
            "food-bank-of-iowa-des-moines-ia",
            "FOOD BANK OF IOWA"
        ));
        assert!(!matches_name("food-bank-of-iowa", "HARVEST OF IOWA"));
        assert!(!matches_name("food-bank-of-iowans", "FOOD BANK OF IOWA"));
    }

    #[test]
    fn a_slug_can_be_claimed_once() {
        let mut used_slugs = UsedSlugs::default();
        assert!(used_slugs.claim("food-bank"));
        assert!(!used_slugs.claim("food-bank"));
    }
}
