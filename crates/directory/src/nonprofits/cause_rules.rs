//! Rules that assign causes to a nonprofit by its NTEE code and by the words of its name.
//!
//! In `data/ntee-causes.csv`, every prefix of the code adds its causes. In `data/name-causes.csv`, a rule for two adjacent
//! words takes precedence over rules for either word, and each rule has a condition. No rule assigns a cause about who
//! leads a nonprofit, because neither the code nor the name says so reliably.

use super::cause_set::CauseSet;
use super::ntee::Ntee;
use platform::text;
use std::collections::HashMap;
use std::fmt;

/// The reason why a data file of causes is invalid.
#[derive(Debug, PartialEq, Eq)]
pub struct CausesError(pub String);

impl fmt::Display for CausesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CausesError {}

/// The rules that assign causes.
#[derive(Debug, Default)]
pub struct Rules {
    by_code: HashMap<String, CauseSet>,
    by_word: HashMap<String, WordRules>,
}

/// The rules that start with a word.
#[derive(Debug, Default)]
struct WordRules {
    /// The rule for the word alone.
    single: Option<WordRule>,
    /// Rules for the word followed by another.
    pairs: Vec<(String, WordRule)>,
}

#[derive(Clone, Copy, Debug)]
struct WordRule {
    causes: CauseSet,
    condition: Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// Always applies: `cancer`.
    Always,
    /// Applies if the code is missing or broad: `school`.
    Broad,
    /// Applies if nothing else is known: `association`.
    Alone,
}

impl Rules {
    pub fn add_code(&mut self, prefix: String, causes: CauseSet) {
        self.by_code.insert(prefix, causes);
    }

    pub fn add_words(&mut self, words: &str, causes: CauseSet, when: &str) -> Result<(), CausesError> {
        let condition = match when {
            "always" => Condition::Always,
            "broad" => Condition::Broad,
            "alone" => Condition::Alone,
            _ => {
                return Err(CausesError(format!(
                    "{words}: {when} is not one of always, broad, alone"
                )));
            }
        };
        let rule = WordRule { causes, condition };
        let (first, second) = words.split_once(' ').unwrap_or((words, ""));
        let rules = self.by_word.entry(first.to_owned()).or_default();
        if second.is_empty() {
            rules.single = Some(rule);
        } else {
            rules.pairs.push((second.to_owned(), rule));
        }
        Ok(())
    }

    /// Returns the causes of a nonprofit according to its code and its name.
    pub fn of(&self, ntee: Option<Ntee>, name: &str) -> CauseSet {
        let by_code = ntee.map_or_else(CauseSet::default, |ntee| self.of_code(ntee));
        let is_broad = ntee.is_none_or(Ntee::is_broad);
        let is_vague = ntee.is_some_and(Ntee::is_unclassified);
        let (mut causes, mut fallback) = if is_vague {
            (CauseSet::default(), by_code)
        } else {
            (by_code, CauseSet::default())
        };
        for rule in self.matching(&text::fold(name, ' ')) {
            match rule.condition {
                Condition::Always => causes = causes.union(rule.causes),
                Condition::Broad if is_broad => causes = causes.union(rule.causes),
                Condition::Broad => {}
                Condition::Alone => fallback = fallback.union(rule.causes),
            }
        }
        if causes.is_empty() { fallback } else { causes }
    }

    fn of_code(&self, ntee: Ntee) -> CauseSet {
        let code = ntee.code();
        let prefixes = (1..=code.len()).filter_map(|end| self.by_code.get(&code[..end]));
        prefixes.fold(CauseSet::default(), |all, &set| all.union(set))
    }

    /// Returns the rules that match the words of a name.
    fn matching(&self, folded_name: &str) -> impl Iterator<Item = WordRule> {
        let mut words = folded_name.split(' ').filter(|word| !is_filler(word)).peekable();
        std::iter::from_fn(move || {
            loop {
                let Some(rules) = self.by_word.get(words.next()?) else {
                    continue;
                };
                let is_pair = |next: &&str| rules.pairs.iter().any(|(second, _)| second == next);
                let rule = match words.next_if(is_pair) {
                    Some(next) => rules
                        .pairs
                        .iter()
                        .find(|(second, _)| second == next)
                        .map(|(_, rule)| *rule),
                    None => rules.single,
                };
                if rule.is_some() {
                    return rule;
                }
            }
        })
    }

    #[cfg(test)]
    pub fn all(&self) -> impl Iterator<Item = CauseSet> {
        let rules = self.by_word.values().flat_map(|rules| {
            rules
                .single
                .iter()
                .chain(rules.pairs.iter().map(|(_, rule)| rule))
        });
        rules
            .map(|rule| rule.causes)
            .chain(self.by_code.values().copied())
    }
}

/// Returns whether a word is ignored between the words of a pair: `Museum of Art`.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "of" | "the" | "and" | "for" | "in" | "on" | "a" | "to" | "at"
    )
}
