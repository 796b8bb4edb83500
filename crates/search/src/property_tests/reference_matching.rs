//! Matching and scoring of one document, written for clarity: strings and sets instead of an index.

use std::collections::BTreeSet;

use crate::property_tests::fixtures::TestDocument;
use crate::query::MatchKind;
use crate::search::ranking;
use crate::text::english;
use crate::text::letters;
use crate::text::tokenizer::Tokens;

/// A clause: the words that match one word of the query.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause {
    pub words: BTreeSet<String>,
    pub synonyms: BTreeSet<String>,
    pub exact_word: Option<String>,
    pub is_optional: bool,
    pub is_article: bool,
    /// The typed word, unless the clause represents several.
    pub typed: Option<String>,
    pub is_last: bool,
}

impl Clause {
    pub(super) fn matches(&self, word: &str) -> bool {
        self.words.contains(word) || self.synonyms.contains(word)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.synonyms.is_empty()
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.words
            .iter()
            .chain(&self.synonyms)
            .any(|word| other.matches(word))
    }
}

/// A name of a document.
pub(super) struct Name {
    pub words: Vec<String>,
    pub core: Vec<String>,
    /// The word after the core.
    pub suffix: Option<String>,
    pub has_article: bool,
    pub is_display: bool,
    pub is_alias: bool,
}

pub(super) fn tokenize(text: &str) -> Vec<String> {
    Tokens::new(text).iter().map(str::to_owned).collect()
}

/// Returns the distinct names of a document.
pub(super) fn names(document: &TestDocument) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let display = [(&document.name, true, false)].into_iter();
    let aliases = document.aliases.iter().map(|name| (name, false, true));
    let secondary = document.secondary_names.iter().map(|name| (name, false, false));
    let given = display.chain(aliases).chain(secondary);
    let given = given.map(|(text, is_display, is_alias)| (tokenize(text), is_display, is_alias));
    let spelled = [&document.name].into_iter();
    let spelled = spelled.chain(&document.secondary_names).chain(&document.aliases);
    let joined = spelled.filter_map(|text| {
        let words = tokenize(text);
        letters::join_letters(&words.iter().map(String::as_str).collect::<Vec<_>>())
    });
    for (words, is_display, is_alias) in given.chain(joined.map(|words| (words, false, false))) {
        if let Some(same) = names.iter_mut().find(|name| name.words == words) {
            same.is_alias |= is_alias && same.is_display;
            continue;
        }
        let start = usize::from(words.len() > 1 && words[0] == "the");
        let mut end = words.len();
        while end > start + 1 && english::is_legal_suffix(&words[end - 1]) {
            end -= 1;
        }
        names.push(Name {
            core: words[start..end].to_vec(),
            suffix: words.get(end).cloned(),
            has_article: start == 1,
            words,
            is_display,
            is_alias,
        });
    }
    names
}

/// Returns all words of a document.
pub(super) fn all_words(document: &TestDocument) -> Vec<String> {
    let names = names(document).into_iter().flat_map(|name| name.words);
    names
        .chain(document.location.iter().flat_map(|part| tokenize(part)))
        .collect()
}

/// Scores a document that matches all required clauses.
pub(super) fn score(document: &TestDocument, clauses: &[Clause], required: &[&Clause]) -> (f32, MatchKind) {
    let mut best = (f32::NEG_INFINITY, MatchKind::Anywhere);
    for name in names(document) {
        let first_word = clauses
            .iter()
            .find(|clause| !clause.is_article)
            .unwrap_or(&clauses[0]);
        let starts_with_first_word = first_word.matches(&name.core[0]);
        let mut bonus = if starts_with_first_word {
            ranking::FIRST_WORD_BONUS
        } else {
            0.0
        };
        let mut content_words = 0;
        let mut positions: Vec<Vec<usize>> = vec![Vec::new(); required.len()];
        for word in &name.words {
            for (clause, positions) in required.iter().zip(&mut positions) {
                if clause.matches(word) {
                    positions.push(content_words);
                }
            }
            content_words += usize::from(!english::is_stop_word(word));
        }
        let found = positions.iter().filter(|positions| !positions.is_empty()).count();
        if found == required.len() {
            bonus += ranking::SAME_NAME_BONUS;
            let is_adjacent = positions[0]
                .iter()
                .any(|&from| (0..positions.len()).all(|at| positions[at].contains(&(from + at))));
            let mut next = Some(0);
            for positions in &positions {
                next = next.and_then(|from| {
                    let position = positions.iter().find(|&&position| position >= from);
                    position.map(|position| position + 1)
                });
            }
            if is_adjacent {
                bonus += ranking::ADJACENT_BONUS;
            } else if next.is_some() {
                bonus += ranking::IN_ORDER_BONUS;
            }
        }
        let is_covered =
            |word: &String| english::is_stop_word(word) || required.iter().any(|clause| clause.matches(word));
        if (1..required.len()).contains(&found) && name.words.iter().all(is_covered) {
            bonus += ranking::NAME_AND_LOCATION_BONUS;
        }
        bonus += ranking::COVERAGE_BONUS * found as f32 / content_words.max(found).max(1) as f32;
        if !name.is_display && !name.is_alias {
            bonus = (bonus + ranking::SECONDARY_NAME_PENALTY).max(0.0);
        }
        if bonus > best.0 {
            let kind = if starts_with_first_word {
                MatchKind::FirstWord
            } else {
                MatchKind::Anywhere
            };
            best = (bonus, kind);
        }
    }
    best
}

/// Returns `true` if `typed` is exactly one edit away from `word` or, if `is_prefix` is set, from a prefix of
/// it.
pub(super) fn is_one_edit_away(typed: &str, word: &str, is_prefix: bool) -> bool {
    let typed: Vec<char> = typed.chars().collect();
    let matches = |corrected: &[char]| {
        let corrected: String = corrected.iter().collect();
        if is_prefix {
            word.starts_with(&corrected)
        } else {
            word == corrected
        }
    };
    let last = typed.len() - 1;
    if is_prefix && matches(&typed[..last]) {
        return true;
    }
    let edited = |from: usize, edit: &dyn Fn(&mut Vec<char>, usize)| {
        (from..typed.len()).any(|at| {
            let mut corrected = typed.clone();
            edit(&mut corrected, at);
            corrected != typed && matches(&corrected)
        })
    };
    let swapped = (0..last).any(|at| {
        let mut corrected = typed.clone();
        corrected.swap(at, at + 1);
        corrected != typed && matches(&corrected)
    });
    let inserted = edited(1, &|corrected, at| {
        corrected.remove(at);
    });
    let letters = || ('a'..='z').chain('0'..='9');
    let replaced = letters().any(|letter| edited(1, &|corrected, at| corrected[at] = letter));
    let deleted = letters().any(|letter| {
        (1..=typed.len()).any(|at| {
            let mut corrected = typed.clone();
            corrected.insert(at, letter);
            matches(&corrected)
        })
    });
    swapped || inserted || replaced || deleted
}

/// Returns `true` if `typed` becomes `word` or, if `is_prefix` is set, a prefix of it by an edit of its first
/// letter.
pub(super) fn has_other_first_letter(typed: &str, word: &str, is_prefix: bool) -> bool {
    let matches = |corrected: &str| {
        if is_prefix {
            word.starts_with(corrected)
        } else {
            word == corrected
        }
    };
    let (first, rest) = typed.split_at(1);
    let others = ('a'..='z').filter(|letter| !first.starts_with(*letter));
    matches(rest)
        || others
            .into_iter()
            .any(|letter| matches(&format!("{letter}{rest}")) || matches(&format!("{letter}{typed}")))
}
