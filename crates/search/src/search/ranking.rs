//! Scoring: prominence plus a bonus for how well a document matches.
//!
//! Bonuses are in the unit of prominence, the decimal logarithm of dollars: a bonus of 2 lifts a nonprofit
//! above one a hundred times its size. A name that starts with the query outranks all but the best-known
//! other matches. A whole name, which is the exact display name or an alias, outranks names that only start
//! with the query unless they belong to a nonprofit ten thousand times its size.

use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::segment::forward_index::{DocumentRecord, STOP_WORD_FLAG, TermList};

/// The name starts with the first word.
pub(crate) const FIRST_WORD_BONUS: f32 = 2.0;
/// All words are in one name.
pub(crate) const SAME_NAME_BONUS: f32 = 2.5;
/// The words are adjacent in the name, ignoring stop words.
pub(crate) const ADJACENT_BONUS: f32 = 2.5;
/// The words are in the name in the typed order, with other words between.
pub(crate) const IN_ORDER_BONUS: f32 = 1.0;
/// The words include the whole name, and the other words are in the location or in another name.
pub(crate) const NAME_AND_LOCATION_BONUS: f32 = 5.0;
/// Multiplied by the part of the name that the words cover.
pub(crate) const COVERAGE_BONUS: f32 = 0.5;
/// The name starts with all words.
pub(crate) const NAME_PREFIX_BONUS: f32 = FIRST_WORD_BONUS + SAME_NAME_BONUS + ADJACENT_BONUS + 7.0;
/// The words are the name without article and legal suffixes.
pub(crate) const FULL_NAME_BONUS: f32 = NAME_PREFIX_BONUS + 0.5;
/// The words are the display name: more than the full name by a factor of 10,000 in size.
pub(crate) const EXACT_NAME_BONUS: f32 = FULL_NAME_BONUS + 4.0;
/// The exact display name is at least at this rank, counted from 1.
pub const EXACT_NAME_RANK: usize = 3;
/// A short last word that is also an abbreviation, such as "va" or "st", is a complete word of the name.
pub(crate) const ABBREVIATION_BONUS: f32 = 3.0;
/// The article was typed, and the name starts with it.
pub(crate) const ARTICLE_BONUS: f32 = 2.0;
/// The words are an alias, which counts as much as the display name.
pub(crate) const FULL_ALIAS_BONUS: f32 = EXACT_NAME_BONUS - FULL_NAME_BONUS;
/// The text is the registration number or the domain.
pub(crate) const IDENTIFIER_BONUS: f32 = 200.0;
/// The domain is only filed, not stated by the nonprofit: below every other, whatever the prominence.
pub(crate) const FILED_DOMAIN_PENALTY: f32 = -12.0;
/// A hit with at least this score has the registration number or the domain.
pub(crate) const MIN_IDENTIFIED_SCORE: f32 = IDENTIFIER_BONUS + FILED_DOMAIN_PENALTY;
/// The text is a prefix of the registration number or of the domain.
pub(crate) const IDENTIFIER_PREFIX_BONUS: f32 = 30.0;
/// The text is a prefix of the registration number, but is a postal code in the first place.
pub(crate) const POSTAL_CODE_PENALTY: f32 = -20.0;
/// A word is the initials of the name.
pub(crate) const INITIALS_BONUS: f32 = 12.0;
/// The matching name is neither the display name nor an alias.
pub(crate) const SECONDARY_NAME_PENALTY: f32 = -3.0;
/// A word matches by a synonym, plural or singular.
pub(crate) const SYNONYM_PENALTY: f32 = -2.0;
/// Two words were joined, or one was split.
pub(crate) const COMPOUND_PENALTY: f32 = -1.0;
/// Words were read as a kind of organization.
pub(crate) const KIND_PENALTY: f32 = -5.0;
/// A postal code was read as the area around it.
pub(crate) const AREA_PENALTY: f32 = -8.0;
/// A typo was corrected.
pub(crate) const TYPO_PENALTY: f32 = -10.0;
/// A nonprofit with a lower prominence is obscure.
pub(crate) const OBSCURE_PROMINENCE: f32 = 6.5;
/// A best hit with a lower score is obscure, and corrections are tried in spite of it.
pub(crate) const OBSCURE_SCORE: f32 = NAME_PREFIX_BONUS + OBSCURE_PROMINENCE;
/// A word was dropped.
pub(crate) const DROPPED_WORD_PENALTY: f32 = -14.0;

/// The words are in the mission: below every other match, whatever the prominence.
pub(crate) const MISSION_PENALTY: f32 = -64.0;
/// The mission means something else than the query although it has the words: about that of a nonprofit a
/// million times smaller. The more similar they are, the less of it counts.
pub(crate) const DISSIMILARITY_PENALTY: f32 = -6.0;

/// A document matches a part of the query or its meaning: below all that match the query, also in the mission ...
const RELAXED_PENALTY: f32 = -250.0;
/// ... and in the order of the similarity of that part or meaning to the query.
const SIMILARITY_BONUS: f32 = 100.0;

/// Returns what a search for a part of the query or its meaning adds to the score.
pub(crate) fn relaxed_penalty(similarity: f32) -> f32 {
    RELAXED_PENALTY + SIMILARITY_BONUS * similarity.clamp(0.0, 1.0)
}

/// Maximum bonus of a match that is not a prefix of a name.
pub(crate) const MAX_ANYWHERE_BONUS: f32 =
    FIRST_WORD_BONUS + SAME_NAME_BONUS + ADJACENT_BONUS + COVERAGE_BONUS;

/// The bonus of a document, and the name that earns it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MatchScore {
    /// Added to the prominence.
    pub bonus: f32,
    /// The index of the best name.
    pub name: u8,
    /// Whether that name starts with the first word.
    pub starts_with_first_word: bool,
}

/// Scores a document that matches all required clauses: the best bonus of its names.
pub(crate) fn score_document(record: DocumentRecord<'_>, query: &BooleanQuery) -> MatchScore {
    let mut best = MatchScore {
        bonus: f32::NEG_INFINITY,
        name: 0,
        starts_with_first_word: false,
    };
    for index in 0..record.name_count() {
        let name = record.name(index);
        let mut score = score_name(name, query);
        if index > 0 && !name.is_alias() {
            score.bonus = (score.bonus + SECONDARY_NAME_PENALTY).max(0.0);
        }
        if score.bonus > best.bonus {
            best = MatchScore {
                name: index as u8,
                ..score
            };
        }
    }
    best
}

fn score_name(name: TermList<'_>, query: &BooleanQuery) -> MatchScore {
    let starts_with_first_word = query
        .first_word()
        .is_some_and(|clause| name.len() > 0 && query.matches(clause, name.term(name.core_start())));
    let mut bonus = if starts_with_first_word {
        FIRST_WORD_BONUS
    } else {
        0.0
    };
    let (mut required, mut found) = (0, 0);
    // The positions where a run of adjacent matches can end, and the position after the last match in order.
    let mut adjacent = u64::MAX;
    let mut in_order = Some(0);
    for clause in query.required() {
        required += 1;
        let positions = positions(name, query, clause);
        found += usize::from(positions != 0);
        adjacent = if required == 1 {
            positions
        } else {
            adjacent << 1 & positions
        };
        in_order = in_order.and_then(|from: u32| {
            let later = positions & u64::MAX.checked_shl(from).unwrap_or(0);
            (later != 0).then(|| later.trailing_zeros() + 1)
        });
    }
    if found == required {
        bonus += SAME_NAME_BONUS;
        if adjacent != 0 {
            bonus += ADJACENT_BONUS;
        } else if in_order.is_some() {
            bonus += IN_ORDER_BONUS;
        }
    }
    let content_words = name.iter().filter(|term| term & STOP_WORD_FLAG == 0).count();
    if found < required && found > 0 && covers_name(name, query) {
        bonus += NAME_AND_LOCATION_BONUS;
    }
    bonus += COVERAGE_BONUS * found as f32 / content_words.max(found).max(1) as f32;
    MatchScore {
        bonus,
        name: 0,
        starts_with_first_word,
    }
}

/// Returns `true` if every word of the name that is not a stop word matches a clause.
fn covers_name(name: TermList<'_>, query: &BooleanQuery) -> bool {
    name.iter().all(|term| {
        term & STOP_WORD_FLAG != 0
            || query
                .required()
                .any(|clause| query.matches(clause, term & !STOP_WORD_FLAG))
    })
}

/// Returns the positions in the name that match `clause`, one bit for each.
///
/// Only content words are counted; a stop word has the position of the next content word.
fn positions(name: TermList<'_>, query: &BooleanQuery, clause: &Clause) -> u64 {
    let (mut position, mut bits) = (0u32, 0);
    for term in name.iter() {
        if query.matches(clause, term & !STOP_WORD_FLAG) {
            bits |= 1u64.checked_shl(position).unwrap_or(0);
        }
        position += u32::from(term & STOP_WORD_FLAG == 0);
    }
    bits
}
