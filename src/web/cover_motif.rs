//! The motif of a generated cover, which follows from the causes of a nonprofit.

use directory::nonprofits::cause_set::CauseSet;
use directory::nonprofits::causes::{Category, Causes};
use pictures::drawn::cover::Motif;

/// Returns the motif of the category that most of the causes belong to.
pub fn motif_of_causes(causes: &Causes, set: CauseSet) -> Motif {
    let count = |category: Category| {
        causes
            .of_set(set)
            .filter(|cause| cause.category == category)
            .count()
    };
    // The last maximum wins, so the first category comes last.
    let most = Category::ALL
        .into_iter()
        .rev()
        .max_by_key(|category| count(*category));
    most.filter(|category| count(*category) > 0)
        .map_or_else(Motif::default, motif_of)
}

/// Returns the motif of the covers of a category.
pub fn motif_of(category: Category) -> Motif {
    match category {
        Category::Animals => Motif::Scales,
        Category::Education => Motif::Blocks,
        Category::Environment => Motif::Hills,
        Category::Health => Motif::Rings,
        Category::HumanAndCivilRights => Motif::Rays,
        Category::HumanServices => Motif::Arches,
        Category::ResearchAndPublicPolicy => Motif::Orbits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cover_has_the_motif_of_the_category_that_most_causes_belong_to() {
        let causes = Causes::built_in();
        for (names, motif) in [
            ("", Motif::Hills),
            ("cats", Motif::Scales),
            ("cats,education,art", Motif::Blocks),
            ("animals,education", Motif::Scales),
            ("science", Motif::Orbits),
        ] {
            let mut set = CauseSet::default();
            for name in names.split(',').filter(|name| !name.is_empty()) {
                set.insert(causes.list().iter().position(|cause| cause.name == name).unwrap());
            }
            assert_eq!(motif_of_causes(causes, set), motif, "{names}");
        }
    }
}
