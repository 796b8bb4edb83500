//! How a body gets its causes: from its NTEE code and from the words of its name.
//!
//! `data/ntee-causes.csv`: every prefix of the code adds its causes. `data/name-causes.csv`: a pair of words goes before
//! either word alone, and a row says when it counts. Who leads a body is never guessed: no code and no name tells it.

use super::cause_set::CauseSet;
use super::ntee::Ntee;
use platform::text;
use std::collections::HashMap;
use std::fmt;

/// A data file of causes that cannot be used, and why.
#[derive(Debug, PartialEq, Eq)]
pub struct CausesError(pub String);

impl fmt::Display for CausesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CausesError {}

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
    pub fn all(&self) -> impl Iterator<Item = CauseSet> {
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
