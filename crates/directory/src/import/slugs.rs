//! Which slug a body gets: the best that is free, and the more prominent of two chooses first.

use crate::nonprofits::ein::Ein;
use crate::nonprofits::slug::Slug;
use std::collections::HashSet;
use uuid::Uuid;

/// The slugs that were ever given out, by their keys. Two that share a key only cost one of them its first choice.
#[derive(Debug, Default)]
pub struct UsedSlugs(HashSet<u64>);

impl UsedSlugs {
    pub fn with_capacity(slugs: usize) -> UsedSlugs {
        UsedSlugs(HashSet::with_capacity(slugs))
    }

    /// Takes a slug; false where it was taken before.
    pub fn claim(&mut self, slug: &str) -> bool {
        self.0.insert(crate::table::text_key(slug))
    }
}

/// The first choice of a body.
pub fn first_choice(name: &str, city: &str, state: &str, ein: Ein) -> Slug {
    let mut candidates = Slug::candidates(name, city, state, Some(ein), ein.nonprofit_id().0);
    candidates.next().expect("a body has candidates")
}

/// Does a slug still fit a body whose name is now `name`? Only the name counts: a body that moves keeps its slug.
pub fn fits(slug: &str, name: &str) -> bool {
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
    fn a_body_keeps_its_slug_until_it_is_renamed() {
        assert!(fits("food-bank-of-iowa", "FOOD BANK OF IOWA INC"));
        assert!(fits("food-bank-of-iowa-des-moines-ia", "FOOD BANK OF IOWA"));
        assert!(!fits("food-bank-of-iowa", "HARVEST OF IOWA"));
        assert!(!fits("food-bank-of-iowans", "FOOD BANK OF IOWA"));
    }

    #[test]
    fn a_slug_is_taken_once() {
        let mut used_slugs = UsedSlugs::default();
        assert!(used_slugs.claim("food-bank"));
        assert!(!used_slugs.claim("food-bank"));
    }
}
