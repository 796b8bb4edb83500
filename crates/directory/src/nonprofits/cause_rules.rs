//! Rules that assign causes to a nonprofit by its NTEE code and by the words of its name.
//!
//! In `data/ntee-causes.csv`, every prefix of the code adds its causes; the condition of the longest one decides whether
//! they apply if the name says something else. In `data/name-causes.csv`, a rule for two adjacent words takes precedence
//! over rules for either word, and each rule has a condition. A specific code determines the field of a nonprofit, so its
//! name adds only narrower causes: a church with a food pantry has `food-security`, but not `humans`. No rule assigns a
//! cause about who leads a nonprofit, because neither the code nor the name says so reliably.

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

/// The causes that cover a whole field. If the code is specific, only the code assigns them.
pub(super) const FIELDS: [&str; 8] = [
    "animals",
    "culture",
    "education",
    "environment",
    "health",
    "humans",
    "justice",
    "religion",
];

/// The rules that assign causes.
#[derive(Debug, Default)]
pub(super) struct Rules {
    fields: CauseSet,
    by_code: HashMap<String, Rule>,
    by_word: HashMap<String, WordRules>,
}

/// The rules that start with a word.
#[derive(Debug, Default)]
struct WordRules {
    /// The rule for the word alone.
    single: Option<Rule>,
    /// Rules for the word followed by another.
    pairs: Vec<(String, Rule)>,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
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

impl Condition {
    fn parse(rule: &str, when: &str) -> Result<Condition, CausesError> {
        match when {
            "always" => Ok(Condition::Always),
            "broad" => Ok(Condition::Broad),
            "alone" => Ok(Condition::Alone),
            _ => Err(CausesError(format!(
                "{rule}: {when} is not one of always, broad, alone"
            ))),
        }
    }
}

impl Rules {
    /// Creates rules that assign nothing. `fields` are the causes that only a specific code assigns.
    pub(super) fn new(fields: CauseSet) -> Rules {
        Rules {
            fields,
            ..Rules::default()
        }
    }

    pub(super) fn add_code(
        &mut self,
        prefix: String,
        causes: CauseSet,
        when: &str,
    ) -> Result<(), CausesError> {
        let condition = Condition::parse(&prefix, when)?;
        if condition == Condition::Broad {
            return Err(CausesError(format!(
                "{prefix}: only a name has the condition broad"
            )));
        }
        self.by_code.insert(prefix, Rule { causes, condition });
        Ok(())
    }

    pub(crate) fn add_words(&mut self, words: &str, causes: CauseSet, when: &str) -> Result<(), CausesError> {
        let rule = Rule {
            causes,
            condition: Condition::parse(words, when)?,
        };
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
    pub(super) fn of(&self, ntee: Option<Ntee>, name: &str) -> CauseSet {
        let is_broad = ntee.is_none_or(Ntee::is_broad);
        let by_code = ntee.and_then(|ntee| self.of_code(ntee));
        let (mut causes, mut fallback) = match by_code {
            None => (CauseSet::default(), CauseSet::default()),
            Some(rule) if rule.condition == Condition::Alone => (CauseSet::default(), rule.causes),
            Some(rule) => (rule.causes, CauseSet::default()),
        };
        for rule in self.matching(&text::fold(name, ' ')) {
            let applicable = if is_broad {
                rule.causes
            } else {
                rule.causes.without(self.fields)
            };
            match rule.condition {
                Condition::Always => causes = causes.union(applicable),
                Condition::Broad if is_broad => causes = causes.union(applicable),
                Condition::Broad => {}
                Condition::Alone => fallback = fallback.union(rule.causes),
            }
        }
        if causes.is_empty() { fallback } else { causes }
    }

    /// Returns the causes of all prefixes of a code, with the condition of the longest one.
    fn of_code(&self, ntee: Ntee) -> Option<Rule> {
        let code = ntee.code();
        let prefixes = (1..=code.len()).filter_map(|end| self.by_code.get(&code[..end]));
        prefixes.copied().reduce(|all, rule| Rule {
            causes: all.causes.union(rule.causes),
            condition: rule.condition,
        })
    }

    /// Returns the rules that match the words of a name.
    fn matching(&self, folded_name: &str) -> impl Iterator<Item = Rule> {
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
    pub(super) fn all(&self) -> impl Iterator<Item = CauseSet> {
        let rules = self.by_word.values().flat_map(|rules| {
            rules
                .single
                .iter()
                .chain(rules.pairs.iter().map(|(_, rule)| rule))
        });
        rules.chain(self.by_code.values()).map(|rule| rule.causes)
    }
}

/// Returns whether a word is ignored between the words of a pair: `Museum of Art`.
fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "of" | "the" | "and" | "for" | "in" | "on" | "a" | "to" | "at"
    )
}
