//! The reference implementation of search: every rewrite is tried on every document, without an index.

use std::collections::BTreeSet;

use crate::property_tests::fixtures::TestDocument;
use crate::property_tests::reference_matching::{
    Clause, Name, all_words, has_other_first_letter, is_one_edit_away, names, score,
};
use crate::query::{MatchKind, Query, Rewrite};
use crate::search::budget::ENOUGH_HITS;
use crate::search::compound::{
    MAX_THREE_PART_LENGTH, MIN_COMPOUND_LENGTH, MIN_LAST_PART_LENGTH, SINGLE_LETTER_WORDS,
};
use crate::search::fuzzy::{MIN_SYMBOLS, MIN_SYMBOLS_AFTER_WRONG_LETTER, MIN_SYMBOLS_OF_LAST_WORD};
use crate::search::ranking;
use crate::search::rewriter::MAX_VERY_RARE_POSTINGS;
use crate::search::sound;
use crate::search::top_k::PAGE_SIZE;
use crate::text::english;
use crate::text::initials::INITIALS_LENGTHS;
use crate::text::letters::{self, MIN_TYPED_LETTERS};
use crate::text::tokenizer::Tokens;

/// The parts of a hit that the tests compare.
pub(super) type ReferenceHit = (u32, f32, MatchKind, Rewrite);

/// A split of a compound: the frequency of its rarest part, and the parts.
type Split = (usize, Vec<Clause>);

struct ReferenceSearch<'a> {
    documents: &'a [TestDocument],
    query: &'a Query<'a>,
    dictionary: BTreeSet<String>,
    tokens: Tokens,
    hits: Vec<ReferenceHit>,
    /// The best hit for the exact display name.
    exact_hit: Option<ReferenceHit>,
    has_prefix_match: bool,
}

/// Returns the hits that the index must find.
pub(super) fn search(documents: &[TestDocument], query: &Query<'_>) -> Vec<ReferenceHit> {
    let mut dictionary: BTreeSet<String> = documents.iter().flat_map(all_words).collect();
    for group in english::SYNONYMS {
        if group.iter().any(|word| dictionary.contains(*word)) {
            dictionary.extend(group.iter().map(|&word| word.to_owned()));
        }
    }
    let mut search = ReferenceSearch {
        documents,
        query,
        dictionary,
        tokens: Tokens::new(query.text),
        hits: Vec::new(),
        exact_hit: None,
        has_prefix_match: false,
    };
    search.search_words();
    let mut hits = search.ranked_hits();
    if let Some(exact) = search.exact_hit {
        let rank = hits.iter().position(|hit| hit.0 == exact.0);
        if rank.is_none_or(|rank| rank >= ranking::EXACT_NAME_RANK) {
            let score = hits[ranking::EXACT_NAME_RANK - 1].1.next_up();
            hits.retain(|hit| hit.0 != exact.0);
            let index = hits.iter().filter(|hit| hit.1 >= score).count();
            hits.insert(index, (exact.0, score, exact.2, exact.3));
        }
    }
    hits.truncate(query.limit);
    hits
}

impl ReferenceSearch<'_> {
    fn ranked_hits(&self) -> Vec<ReferenceHit> {
        let mut hits = self.hits.clone();
        hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits
    }

    fn is_obscure(&self) -> bool {
        let best = self.ranked_hits().first().copied();
        best.is_some_and(|hit| hit.1 < ranking::OBSCURE_SCORE)
    }

    fn offer(&mut self, hit: ReferenceHit) {
        let document = &self.documents[hit.0 as usize];
        if !self.query.filter.iter().all(|group| {
            group
                .iter()
                .any(|label| document.labels.contains(&label.as_str()))
        }) {
            return;
        }
        let is_exact =
            hit.2 == MatchKind::ExactName && hit.3 == Rewrite::AsTyped && self.tokens.last_is_prefix();
        if is_exact && self.exact_hit.is_none_or(|best| hit.1 > best.1) {
            self.exact_hit = Some(hit);
        }
        match self.hits.iter_mut().find(|other| other.0 == hit.0) {
            Some(other) if other.1 < hit.1 => *other = hit,
            Some(_) => {}
            None => self.hits.push(hit),
        }
    }

    fn is_prefix(&self, index: usize) -> bool {
        self.tokens.last_is_prefix() && index + 1 == self.tokens.len()
    }

    fn clause(&self, word: &str, is_prefix: bool) -> Clause {
        let words: BTreeSet<String> = self
            .dictionary
            .iter()
            .filter(|other| {
                if is_prefix {
                    other.starts_with(word)
                } else {
                    *other == word
                }
            })
            .cloned()
            .collect();
        let exact_word = self.dictionary.get(word).cloned();
        let group = if exact_word.is_some() {
            self.synonyms(word)
        } else {
            BTreeSet::new()
        };
        let synonyms = group.into_iter().filter(|word| !words.contains(word)).collect();
        let is_optional = if is_prefix {
            english::is_legal_suffix(word) && word.len() > 2
        } else {
            english::is_stop_word(word)
        };
        Clause {
            words,
            synonyms,
            exact_word,
            is_optional,
            is_article: word == "the",
            typed: None,
            is_last: false,
        }
    }

    /// Returns `word` and all words of the dictionary that are its synonyms, plurals or singulars, directly
    /// or through others.
    fn synonyms(&self, word: &str) -> BTreeSet<String> {
        let are_related = |a: &str, b: &str| {
            english::SYNONYMS
                .iter()
                .any(|group| group.contains(&a) && group.contains(&b))
                || english::singular_forms(a).any(|form| form == b)
                || english::singular_forms(b).any(|form| form == a)
        };
        let mut group = BTreeSet::from([word.to_owned()]);
        loop {
            let more: Vec<String> = self
                .dictionary
                .iter()
                .filter(|a| group.iter().any(|b| are_related(a, b)))
                .cloned()
                .collect();
            let before = group.len();
            group.extend(more);
            if group.len() == before {
                return group;
            }
        }
    }

    fn typed_clause(&self, index: usize) -> Clause {
        let word = self.tokens.word(index);
        Clause {
            typed: Some(word.to_owned()),
            is_last: index + 1 == self.tokens.len(),
            ..self.clause(word, self.is_prefix(index))
        }
    }

    fn search_words(&mut self) {
        let count = self.tokens.len();
        let typed: Vec<Clause> = (0..count).map(|index| self.typed_clause(index)).collect();
        let unknown: Vec<usize> = (0..count)
            .filter(|&index| typed[index].is_empty() && !typed[index].is_optional)
            .collect();
        let counts: Vec<usize> = typed
            .iter()
            .map(|clause| self.frequency(&clause.words.union(&clause.synonyms).cloned().collect()))
            .collect();
        self.evaluate(&typed, Rewrite::AsTyped, 0.0);
        for index in 1..count {
            self.try_join(&typed, index - 1);
        }
        self.try_join_letters(&typed);
        self.try_shorthand(&typed, english::expand_shorthand);
        if self.has_prefix_match && !self.query.filter.is_empty() {
            return;
        }
        let found_nothing = self.hits.is_empty();
        let has_enough = self.hits.len() >= ENOUGH_HITS;
        if has_enough && !self.is_obscure() {
            return;
        }
        if !has_enough {
            self.try_shorthand(&typed, english::find_shorthand);
        }
        for index in 0..count {
            if unknown == [index] || (unknown.is_empty() && found_nothing) {
                self.try_split(&typed, index, ranking::COMPOUND_PENALTY);
                self.try_initials(&typed, index);
            }
        }
        if has_enough && unknown.is_empty() {
            for index in (0..count).filter(|&index| counts[index] <= MAX_VERY_RARE_POSTINGS) {
                self.try_split(&typed, index, ranking::TYPO_PENALTY);
                self.try_typos(&typed, &[index]);
            }
            return;
        }
        if self.hits.len() >= PAGE_SIZE && !self.is_obscure() {
            return;
        }
        match unknown[..] {
            [] if found_nothing => (0..count).for_each(|index| self.try_typos(&typed, &[index])),
            [] => {
                for index in 0..count {
                    self.try_split(&typed, index, ranking::TYPO_PENALTY);
                    self.try_typos(&typed, &[index]);
                }
            }
            [_] | [_, _] => self.try_typos(&typed, &unknown),
            _ => {}
        }
        if self.hits.is_empty() {
            match unknown[..] {
                [] => (0..count).for_each(|index| self.try_first_letter(&typed, index)),
                [one] => self.try_first_letter(&typed, one),
                _ => {}
            }
        }
        if !self.hits.is_empty() || count < 2 {
            return;
        }
        if let [one] = unknown[..] {
            for other in (0..count).filter(|&index| index != one) {
                self.try_typos(&typed, &[one.min(other), one.max(other)]);
            }
        }
        if !self.hits.is_empty() {
            return;
        }
        let mut dropped: Vec<usize> = (0..count)
            .filter(|&index| unknown == [index] || unknown.is_empty())
            .collect();
        dropped.sort_by_key(|&index| std::cmp::Reverse(counts[index]));
        for index in dropped {
            let mut clauses = typed.clone();
            clauses.remove(index);
            self.evaluate(
                &clauses,
                Rewrite::Drop(index as u8),
                ranking::DROPPED_WORD_PENALTY,
            );
            let best = self.ranked_hits().first().copied();
            if best
                .is_some_and(|hit| self.documents[hit.0 as usize].prominence >= ranking::OBSCURE_PROMINENCE)
            {
                return;
            }
        }
    }

    fn try_join(&mut self, typed: &[Clause], first: usize) {
        let (left, right) = (self.tokens.word(first), self.tokens.word(first + 1));
        if left.len() < 2 || right.len() < 2 || left.len() + right.len() < MIN_COMPOUND_LENGTH {
            return;
        }
        let compound = self.clause(&format!("{left}{right}"), self.is_prefix(first + 1));
        if compound.words.is_empty() {
            return;
        }
        let mut clauses = typed.to_vec();
        clauses.splice(first..first + 2, [compound]);
        self.evaluate(&clauses, Rewrite::Join(first as u8), ranking::COMPOUND_PENALTY);
    }

    fn try_split(&mut self, typed: &[Clause], index: usize, penalty: f32) {
        let word = self.tokens.word(index);
        let Some((_, parts)) = self.best_split(word, self.is_prefix(index)) else {
            return;
        };
        let complete_parts = parts[..parts.len() - 1].iter();
        let complete: usize = complete_parts
            .filter_map(|part| part.exact_word.as_ref())
            .map(String::len)
            .sum();
        let ends_short = self.is_prefix(index) && word.len() - complete < MIN_LAST_PART_LENGTH;
        let penalty = if ends_short {
            ranking::TYPO_PENALTY
        } else {
            penalty
        };
        let mut clauses = typed.to_vec();
        let compound = clauses[index].clone();
        let parts = parts.into_iter().map(|part| Clause {
            typed: compound.typed.clone(),
            is_last: compound.is_last,
            ..part
        });
        clauses.splice(index..=index, parts);
        self.evaluate(&clauses, Rewrite::Split(index as u8), penalty);
    }

    fn best_split(&self, word: &str, is_prefix: bool) -> Option<Split> {
        if word.len() < MIN_COMPOUND_LENGTH {
            return None;
        }
        let mut best = self.split_in_two(word, is_prefix);
        if word.len() > MAX_THREE_PART_LENGTH {
            return best;
        }
        for length in 2..=word.len() - 2 {
            let first = self.clause(&word[..length], false);
            if first.exact_word.is_none() {
                continue;
            }
            let first_frequency = self.frequency(&first.words);
            let after_letter = self
                .split_after_letter(&word[length..], is_prefix)
                .map(|(frequency, parts)| (frequency.min(first_frequency) / 2, parts));
            let in_two = self.split_in_two(&word[length..], is_prefix);
            for (frequency, parts) in in_two.into_iter().chain(after_letter) {
                let frequency = frequency.min(first_frequency);
                if best.as_ref().is_none_or(|best| frequency > best.0) {
                    best = Some((frequency, std::iter::once(first.clone()).chain(parts).collect()));
                }
            }
        }
        best
    }

    fn split_in_two(&self, word: &str, is_prefix: bool) -> Option<Split> {
        let mut best: Option<Split> = None;
        for length in 2..=word.len().saturating_sub(2) {
            let left = self.clause(&word[..length], false);
            let right = self.clause(&word[length..], is_prefix);
            if left.exact_word.is_none() || right.words.is_empty() {
                continue;
            }
            let frequency = self.frequency(&left.words).min(self.frequency(&right.words));
            if best.as_ref().is_none_or(|best| frequency > best.0) {
                best = Some((frequency, vec![left, right]));
            }
        }
        best
    }

    fn split_after_letter(&self, word: &str, is_prefix: bool) -> Option<Split> {
        if !word.starts_with(SINGLE_LETTER_WORDS) || word.len() < 3 {
            return None;
        }
        let letter = self.clause(&word[..1], false);
        let right = self.clause(&word[1..], is_prefix);
        let is_known = letter.exact_word.is_some() && !right.words.is_empty();
        let frequency = self.frequency(&letter.words).min(self.frequency(&right.words));
        is_known.then(|| (frequency, vec![letter, right]))
    }

    /// Returns the number of postings of `words`.
    fn frequency(&self, words: &BTreeSet<String>) -> usize {
        let count = |document: &TestDocument| {
            all_words(document)
                .into_iter()
                .collect::<BTreeSet<_>>()
                .intersection(words)
                .count()
        };
        self.documents.iter().map(count).sum()
    }

    fn try_initials(&mut self, typed: &[Clause], index: usize) {
        let word = self.tokens.word(index).to_owned();
        if !INITIALS_LENGTHS.contains(&word.len()) || typed[index].exact_word.is_some() {
            return;
        }
        for (number, document) in self.documents.iter().enumerate() {
            let initials = |words: &[String], with_stop_words: bool| -> String {
                let words = words
                    .iter()
                    .filter(|word| with_stop_words || !english::is_stop_word(word));
                words.filter_map(|word| word.chars().next()).collect()
            };
            let has_initials = names(document)
                .iter()
                .any(|name| initials(&name.core, true) == word || initials(&name.core, false) == word);
            let matches_others = typed.iter().enumerate().all(|(other, clause)| {
                other == index
                    || clause.is_optional
                    || all_words(document).iter().any(|word| clause.matches(word))
            });
            if has_initials && matches_others {
                let hit = (
                    number as u32,
                    document.prominence + ranking::INITIALS_BONUS,
                    MatchKind::Initials,
                    Rewrite::Initials(index as u8),
                );
                self.offer(hit);
            }
        }
    }

    fn try_typos(&mut self, typed: &[Clause], misspelled: &[usize]) {
        let rewrite = match *misspelled {
            [one] => Rewrite::Typo(one as u8),
            [one, two] => Rewrite::TwoTypos(one as u8, two as u8),
            _ => return,
        };
        let mut clauses = typed.to_vec();
        for &index in misspelled {
            let is_prefix = self.is_prefix(index);
            let word = self.tokens.word(index);
            let is_after_known_words =
                index > 0 && typed[..index].iter().all(|clause| clause.exact_word.is_some());
            let min_length = if is_prefix && is_after_known_words && self.hits.is_empty() {
                MIN_SYMBOLS_OF_LAST_WORD
            } else {
                MIN_SYMBOLS
            };
            let mut corrections: BTreeSet<String> = self
                .dictionary
                .iter()
                .filter(|other| word.len() >= min_length && is_one_edit_away(word, other, is_prefix))
                .cloned()
                .collect();
            let mut synonyms = BTreeSet::new();
            if !is_prefix || word.len() >= MIN_SYMBOLS {
                let skeleton = sound::skeleton(word);
                let sounds_alike = |other: &&String| {
                    *other != word && skeleton.is_some() && sound::skeleton(other) == skeleton
                };
                let sound_alikes: Vec<&String> = self.dictionary.iter().filter(sounds_alike).collect();
                synonyms.extend(sound_alikes.iter().flat_map(|other| self.synonyms(other)));
                corrections.extend(sound_alikes.into_iter().cloned());
                synonyms.retain(|other| !corrections.contains(other) && other != word);
            }
            if corrections.is_empty() {
                return;
            }
            let Clause { typed, is_last, .. } = clauses[index].clone();
            clauses[index] = Clause {
                words: corrections,
                synonyms,
                typed,
                is_last,
                ..Clause::default()
            };
        }
        self.evaluate(&clauses, rewrite, ranking::TYPO_PENALTY * misspelled.len() as f32);
    }

    fn try_first_letter(&mut self, typed: &[Clause], index: usize) {
        let is_prefix = self.is_prefix(index);
        let word = self.tokens.word(index);
        let min_length = if is_prefix {
            MIN_SYMBOLS_AFTER_WRONG_LETTER
        } else {
            MIN_SYMBOLS
        };
        if word.len() < min_length {
            return;
        }
        let corrections = self
            .dictionary
            .iter()
            .filter(|other| has_other_first_letter(word, other, is_prefix));
        let words: BTreeSet<String> = corrections.cloned().collect();
        if words.is_empty() {
            return;
        }
        let mut clauses = typed.to_vec();
        let Clause { typed, is_last, .. } = clauses[index].clone();
        clauses[index] = Clause {
            words,
            typed,
            is_last,
            ..Clause::default()
        };
        self.evaluate(&clauses, Rewrite::FirstLetter(index as u8), ranking::TYPO_PENALTY);
    }

    fn try_join_letters(&mut self, typed: &[Clause]) {
        let Some(run) = letters::find_run(self.tokens.iter(), MIN_TYPED_LETTERS) else {
            return;
        };
        let acronym: String = run.clone().map(|index| self.tokens.word(index)).collect();
        let acronym = self.clause(&acronym, false);
        let penalty = if self.has_prefix_match {
            ranking::DROPPED_WORD_PENALTY
        } else {
            ranking::COMPOUND_PENALTY
        };
        let rewrite = Rewrite::Join(run.start as u8);
        let mut clauses = typed.to_vec();
        clauses.splice(run, [acronym]);
        self.evaluate(&clauses, rewrite, penalty);
    }

    /// Replaces words between others with shorthand, or shorthand with words. The reverse looks at names only.
    fn try_shorthand(&mut self, typed: &[Clause], replacement: fn(&str) -> Option<&'static str>) {
        let mut clauses = typed.to_vec();
        let mut first = None;
        for index in 1..clauses.len().saturating_sub(1) {
            if let Some(word) = replacement(self.tokens.word(index)) {
                let original = clauses[index].clone();
                clauses[index] = Clause {
                    typed: original.typed,
                    is_last: original.is_last,
                    ..self.clause(word, false)
                };
                first = first.or(Some(index));
            }
        }
        let Some(first) = first else { return };
        let rewrite = Rewrite::Shorthand(first as u8);
        if replacement("4").is_some() {
            self.evaluate(&clauses, rewrite, ranking::COMPOUND_PENALTY);
        } else {
            self.evaluate_names(&clauses, rewrite, ranking::COMPOUND_PENALTY);
        }
    }

    /// Returns `false` if a required clause has no words.
    fn evaluate_names(&mut self, clauses: &[Clause], rewrite: Rewrite, penalty: f32) -> bool {
        let all_optional = clauses.iter().all(|clause| clause.is_optional);
        let mut required = clauses
            .iter()
            .filter(|clause| all_optional || !clause.is_optional);
        if required.any(Clause::is_empty) {
            return false;
        }
        for number in 0..self.documents.len() {
            for (kind, bonus) in self.score_names(number, clauses, penalty, rewrite) {
                let score = self.documents[number].prominence + bonus;
                self.offer((number as u32, score, kind, rewrite));
            }
        }
        true
    }

    fn evaluate(&mut self, clauses: &[Clause], rewrite: Rewrite, penalty: f32) {
        let all_optional = clauses.iter().all(|clause| clause.is_optional);
        let required: Vec<&Clause> = clauses
            .iter()
            .filter(|clause| all_optional || !clause.is_optional)
            .collect();
        if !self.evaluate_names(clauses, rewrite, penalty) {
            return;
        }
        for (number, document) in self.documents.iter().enumerate() {
            let words = all_words(document);
            // A word that is still being typed must match a word that no earlier one matches.
            let last_has_own_word = match clauses.split_last() {
                Some((last, earlier))
                    if self.tokens.last_is_prefix() && earlier.iter().any(|clause| clause.overlaps(last)) =>
                {
                    words
                        .iter()
                        .any(|word| last.matches(word) && !earlier.iter().any(|clause| clause.matches(word)))
                }
                _ => true,
            };
            let matches_all = required
                .iter()
                .all(|clause| words.iter().any(|word| clause.matches(word)));
            if matches_all && last_has_own_word {
                let (bonus, kind) = score(document, clauses, &required);
                let score = document.prominence + bonus + penalty;
                self.offer((number as u32, score, kind, rewrite));
            }
        }
    }

    /// Returns `true` if the last word is an abbreviation, and a name starts with the words as complete words.
    fn has_abbreviation(&self, core: &[Clause]) -> bool {
        let last = &core[core.len() - 1];
        let is_short = last.typed.as_ref().is_some_and(|typed| typed.len() <= 3);
        let is_abbreviation = self.tokens.last_is_prefix()
            && is_short
            && last.exact_word.is_some()
            && !last.synonyms.is_empty();
        let starts_with_words = |name: &Name| {
            name.core.len() >= core.len()
                && core
                    .iter()
                    .zip(&name.core)
                    .all(|(clause, word)| clause.matches(word))
                && {
                    let word = &name.core[core.len() - 1];
                    last.exact_word.as_ref() == Some(word) || last.synonyms.contains(word)
                }
        };
        is_abbreviation
            && self
                .documents
                .iter()
                .any(|document| names(document).iter().any(starts_with_words))
    }

    /// Returns the bonus of each name of a document that starts with the words, strongest kind first.
    fn score_names(
        &mut self,
        document: usize,
        clauses: &[Clause],
        penalty: f32,
        rewrite: Rewrite,
    ) -> Vec<(MatchKind, f32)> {
        let last_is_prefix = self.tokens.last_is_prefix();
        let has_article = clauses.len() > 1 && clauses[0].is_article;
        let core = &clauses[usize::from(has_article)..];
        let whole_name_bonus = if self.has_abbreviation(core) {
            ranking::ABBREVIATION_BONUS
        } else {
            0.0
        };
        let full_bonus = if last_is_prefix {
            ranking::FULL_NAME_BONUS + whole_name_bonus
        } else {
            ranking::NAME_PREFIX_BONUS
        };
        let mut bonuses = Vec::new();
        for name in names(&self.documents[document]) {
            let starts_with = |words: &[String], clauses: &[Clause]| {
                words.len() >= clauses.len()
                    && clauses
                        .iter()
                        .zip(words)
                        .all(|(clause, word)| clause.matches(word))
            };
            let uses_synonym = |clauses: &[Clause]| {
                clauses
                    .iter()
                    .zip(&name.core)
                    .any(|(clause, word)| clause.synonyms.contains(word))
            };
            let mut add = |kind: MatchKind, bonus: f32, uses_synonym: bool| {
                let synonym_penalty = if uses_synonym {
                    ranking::SYNONYM_PENALTY
                } else {
                    0.0
                };
                let article_bonus = if has_article && name.has_article {
                    ranking::ARTICLE_BONUS
                } else {
                    0.0
                };
                let bonus = bonus + penalty + synonym_penalty + article_bonus;
                bonuses.extend(adjust_for_role(&name, kind, bonus).map(|bonus| (kind, bonus)));
            };
            let exact: Vec<&String> = clauses
                .iter()
                .filter_map(|clause| clause.exact_word.as_ref())
                .collect();
            if exact.len() == clauses.len() && name.words.iter().collect::<Vec<_>>() == exact {
                let bonus = if last_is_prefix && rewrite == Rewrite::AsTyped {
                    ranking::EXACT_NAME_BONUS + whole_name_bonus
                } else {
                    full_bonus
                };
                add(MatchKind::ExactName, bonus, false);
            }
            let has_prefix = starts_with(&name.core, core);
            let last = &core[core.len() - 1];
            let last_is_complete = has_prefix && {
                let word = &name.core[core.len() - 1];
                last.exact_word.as_ref() == Some(word) || last.synonyms.contains(word)
            };
            if last_is_complete && last.exact_word.is_some() && name.core.len() == core.len() {
                add(MatchKind::FullName, full_bonus, uses_synonym(core));
            }
            for length in 1..core.len() {
                let is_legal_suffix = |clause: &Clause| {
                    let typed = clause.typed.as_deref().unwrap_or("?");
                    english::is_legal_suffix(typed)
                        || (last_is_prefix && clause.is_last && english::is_prefix_of_legal_suffix(typed))
                };
                let is_full = name.core.len() == length && starts_with(&name.core, &core[..length]);
                if is_full
                    && core[length..].iter().all(is_legal_suffix)
                    && name
                        .suffix
                        .as_ref()
                        .is_some_and(|word| core[length].matches(word))
                {
                    add(MatchKind::FullName, full_bonus, uses_synonym(&core[..length]));
                }
            }
            let is_short = last.typed.as_ref().is_some_and(|typed| typed.len() <= 3);
            if last_is_complete
                && last_is_prefix
                && is_short
                && last.exact_word.is_some()
                && !last.synonyms.is_empty()
            {
                let bonus = ranking::NAME_PREFIX_BONUS + ranking::ABBREVIATION_BONUS;
                add(MatchKind::NamePrefix, bonus, false);
            }
            if has_prefix {
                self.has_prefix_match = true;
                add(
                    MatchKind::NamePrefix,
                    ranking::NAME_PREFIX_BONUS,
                    uses_synonym(core),
                );
            }
        }
        bonuses
    }
}

/// Adjusts the bonus of a match for the role of the name, or returns `None` if the name does not match this
/// way.
fn adjust_for_role(name: &Name, kind: MatchKind, bonus: f32) -> Option<f32> {
    let is_short = name.words.len() == 1 && name.words[0].len() <= 3;
    match (name.is_display, name.is_alias, kind) {
        (true, true, MatchKind::FullName) => Some(bonus + ranking::FULL_ALIAS_BONUS),
        (true, _, _) => Some(bonus),
        (_, _, MatchKind::ExactName) => None,
        (_, true, MatchKind::NamePrefix) if is_short => None,
        (_, true, MatchKind::FullName) => Some(bonus + ranking::FULL_ALIAS_BONUS),
        (_, true, _) => Some(bonus),
        (_, false, _) => Some(bonus + ranking::SECONDARY_NAME_PENALTY),
    }
}
