//! How a body gets its causes: from its NTEE code and from the words of its name.
//!
//! `data/ntee-causes.csv`: every prefix of the code adds its causes. `data/name-causes.csv`: a pair of words goes before
//! either word alone, and a row says when it counts. Who leads a body is never guessed: no code and no name tells it.

use super::causes::{CauseSet, CausesError};
use super::ntee::Ntee;
use crate::platform::text;
use std::collections::HashMap;

/// The rules of a list of causes.
#[derive(Debug, Default)]
pub struct Rules {
    by_code: HashMap<String, CauseSet>,
    by_word: HashMap<String, WordRule>,
}

/// What a word of a name tells, alone and before another word.
#[derive(Debug, Default)]
struct WordRule {
    alone: Option<Told>,
    before: Vec<(String, Told)>,
}

#[derive(Clone, Copy, Debug)]
struct Told {
    causes: CauseSet,
    when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    /// A telling word: `cancer`.
    Always,
    /// A word that a specific code outweighs, so it counts where the code is missing or broad: `school`.
    Broad,
    /// A word that says little, so it counts where nothing else is known: `association`.
    Alone,
}

impl Rules {
    pub fn add_code(&mut self, prefix: String, causes: CauseSet) {
        self.by_code.insert(prefix, causes);
    }

    pub fn add_words(&mut self, words: &str, causes: CauseSet, when: &str) -> Result<(), CausesError> {
        let when = match when {
            "always" => When::Always,
            "broad" => When::Broad,
            "alone" => When::Alone,
            _ => {
                return Err(CausesError(format!(
                    "{words}: {when} is none of always, broad, alone"
                )));
            }
        };
        let told = Told { causes, when };
        let (first, second) = words.split_once(' ').unwrap_or((words, ""));
        let rule = self.by_word.entry(first.to_owned()).or_default();
        if second.is_empty() {
            rule.alone = Some(told);
        } else {
            rule.before.push((second.to_owned(), told));
        }
        Ok(())
    }

    /// The causes of a body by its code and its name.
    pub fn of(&self, ntee: Option<Ntee>, name: &str) -> CauseSet {
        let by_code = ntee.map_or_else(CauseSet::default, |ntee| self.of_code(ntee));
        let is_broad = ntee.is_none_or(Ntee::is_broad);
        let says_little = ntee.is_some_and(Ntee::is_unclassified);
        let (mut known, mut little) = if says_little {
            (CauseSet::default(), by_code)
        } else {
            (by_code, CauseSet::default())
        };
        for told in self.told_by(&text::fold(name, ' ')) {
            match told.when {
                When::Always => known = known.union(told.causes),
                When::Broad if is_broad => known = known.union(told.causes),
                When::Broad => {}
                When::Alone => little = little.union(told.causes),
            }
        }
        if known.is_empty() { little } else { known }
    }

    fn of_code(&self, ntee: Ntee) -> CauseSet {
        let code = ntee.code();
        let prefixes = (1..=code.len()).filter_map(|end| self.by_code.get(&code[..end]));
        prefixes.fold(CauseSet::default(), |all, &set| all.union(set))
    }

    /// One lookup per word; the words that may follow are few.
    fn told_by(&self, folded_name: &str) -> impl Iterator<Item = Told> {
        let mut words = folded_name.split(' ').filter(|word| !is_filler(word)).peekable();
        std::iter::from_fn(move || {
            loop {
                let Some(rule) = self.by_word.get(words.next()?) else {
                    continue;
                };
                let follows = |next: &&str| rule.before.iter().any(|(second, _)| second == next);
                let told = match words.next_if(follows) {
                    Some(next) => rule
                        .before
                        .iter()
                        .find(|(second, _)| second == next)
                        .map(|(_, told)| *told),
                    None => rule.alone,
                };
                if told.is_some() {
                    return told;
                }
            }
        })
    }

    #[cfg(test)]
    fn all(&self) -> impl Iterator<Item = CauseSet> {
        let by_word = self.by_word.values();
        let told = by_word.flat_map(|rule| rule.alone.iter().chain(rule.before.iter().map(|(_, told)| told)));
        told.map(|told| told.causes).chain(self.by_code.values().copied())
    }
}

/// Words between which a pair still counts: `Museum of Art`.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "of" | "the" | "and" | "for" | "in" | "on" | "a" | "to" | "at"
    )
}

#[cfg(test)]
mod tests {
    use super::super::causes::Causes;
    use super::*;
    use proptest::prelude::*;

    fn names(code: &str, name: &str) -> Vec<&'static str> {
        let causes = Causes::built_in();
        causes
            .of_set(causes.of(Ntee::parse(code), name))
            .map(|cause| cause.name.as_str())
            .collect()
    }

    #[test]
    fn a_code_tells_the_causes_of_all_its_prefixes() {
        assert_eq!(
            names("A51", "The Frick Collection"),
            ["art", "culture", "museums"]
        );
        assert_eq!(names("K31", "Second Harvest"), ["food-security", "humans"]);
    }

    #[test]
    fn a_name_tells_where_the_code_is_missing() {
        assert_eq!(names("", "FIRST BAPTIST CHURCH"), ["christianity", "religion"]);
        assert_eq!(
            names("", "Portland Women's Food Bank"),
            ["food-security", "humans"]
        );
        assert!(names("", "Smith").is_empty());
    }

    #[test]
    fn a_pair_of_words_goes_before_either_word_alone() {
        assert_eq!(names("", "Museum of Art"), ["art", "culture", "museums"]);
        assert!(!names("", "Ocean City Rotary").contains(&"oceans"));
    }

    #[test]
    fn broad_words_do_not_outweigh_a_specific_code() {
        assert!(!names("E22", "Methodist Hospital").contains(&"religion"));
        assert!(names("E22", "Methodist Cancer Hospital").contains(&"cancer"));
    }

    #[test]
    fn a_word_that_says_little_counts_only_by_itself() {
        assert_eq!(names("", "Smith Association"), ["humans"]);
        assert_eq!(names("", "Opera Association"), ["culture", "music"]);
        assert_eq!(names("Z99", "Smith"), ["humans"]);
        assert_eq!(names("Z99", "Smith Opera"), ["culture", "music"]);
    }

    #[test]
    fn who_leads_a_body_is_never_guessed() {
        let causes = Causes::built_in();
        let led = causes.list().iter().filter(|cause| cause.name.ends_with("-led"));
        let mut led_set = CauseSet::default();
        for cause in led {
            led_set.insert(causes.place(&cause.name).unwrap());
        }
        assert_eq!(led_set.places().count(), 5);
        assert!(causes.rules().all().all(|told| !told.meets(led_set)));
    }

    proptest! {
        #[test]
        fn every_code_has_a_cause(code in "[A-Z][0-9][0-9A-Z]") {
            prop_assert!(!names(&code, "").is_empty());
        }

        #[test]
        fn case_and_marks_of_a_name_change_nothing(name in "[A-Z]{2,8}( [A-Z]{2,8}){0,4}") {
            prop_assert_eq!(names("", &name), names("", &name.to_lowercase().replace(' ', ", ")));
        }
    }
}
