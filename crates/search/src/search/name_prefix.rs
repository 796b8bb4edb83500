//! Names that start with the query, as ranges of the name list.
//!
//! The range is narrowed word by word. The first word is a table lookup, the second a binary search in the
//! list of second terms. Further words compare records; by then the range is short.

use std::cmp::Ordering;

use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::segment::format::Section;
use crate::segment::forward_index::{STOP_WORD_FLAG, TermList};
use crate::segment::name_entry;
use crate::segment::packed::PackedU32s;
use crate::segment::reader::Segment;
use crate::segment::trie::TermRange;
use crate::text::english;
use crate::text::tokenizer::Tokens;

/// Maximum number of ranges that are narrowed at a time.
const MAX_RANGES: usize = 64;

/// Maximum number of names that are compared to find those with the same legal suffix.
const MAX_SUFFIX_NAMES: usize = MAX_RANGES * 64;

/// Maximum length of an abbreviation, which is more likely to be a complete word than a prefix.
const MAX_ABBREVIATION_LENGTH: usize = 3;

/// A range of the name list, `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameRange {
    pub from: usize,
    pub to: usize,
    /// Whether a word matches by a synonym.
    pub uses_synonym: bool,
}

/// The names that match the words of a query in different ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameRanges {
    /// Names that start with the words.
    pub prefix: Vec<NameRange>,
    /// Names whose core is the words.
    pub full: Vec<NameRange>,
    /// Names whose core is the words before a typed legal suffix, and that have this suffix.
    pub full_with_suffix: Vec<NameRange>,
    /// Names that equal the words.
    pub exact: Option<NameRange>,
    /// Names in which the last word is an abbreviation, either as typed or spelled out.
    pub abbreviation: Vec<NameRange>,
    /// Names that start with all words but the last.
    pub without_last_word: Vec<NameRange>,
}

/// Finds the names that start with the words of `query`.
pub(crate) fn find_names(segment: Segment<'_>, query: &BooleanQuery, tokens: &Tokens) -> NameRanges {
    let list = NameList::new(segment);
    let clauses = query.clauses();
    let core = &clauses[usize::from(query.starts_with_article())..];
    let mut found = NameRanges::default();
    let mut current: Vec<NameRange> = Vec::with_capacity(8);
    let mut next: Vec<NameRange> = Vec::with_capacity(8);
    let mut terms: Vec<(TermRange, bool)> = Vec::with_capacity(8);
    for (depth, clause) in core.iter().enumerate() {
        next.clear();
        terms.clear();
        terms.extend(
            query
                .ranges(clause)
                .iter()
                .enumerate()
                .map(|(index, range)| (*range, BooleanQuery::is_synonym(clause, index))),
        );
        list.narrow(depth, &current, &terms, &mut next);
        std::mem::swap(&mut current, &mut next);
        let is_last = depth + 1 == core.len();
        if current.is_empty() {
            if is_last {
                found.without_last_word = next;
            }
            break;
        }
        if is_last && clause.exact_term.is_some() {
            found.full = list.full_names(depth, &current, Some((query, clause)));
            found.exact = list.exact_names(&found.full, clauses).or(found.exact);
        } else if !is_last
            && core[depth + 1..]
                .iter()
                .all(|clause| is_legal_suffix(clause, tokens, query.last_is_prefix))
        {
            let full = list.full_names(depth, &current, None);
            if found.exact.is_none() {
                found.exact = list.exact_names(&full, clauses);
            }
            list.select_suffix(&full, query, &core[depth + 1], &mut found.full_with_suffix);
        }
        if is_last && is_abbreviation(query, clause, tokens) {
            let words = query.ranges(clause).iter().enumerate();
            let words = words.filter_map(|(index, range)| {
                if index == 0 {
                    clause.exact_term.map(TermRange::single)
                } else {
                    Some(*range)
                }
            });
            // `next` holds the ranges before this word.
            list.narrow(
                depth,
                &next,
                &words.map(|range| (range, false)).collect::<Vec<_>>(),
                &mut found.abbreviation,
            );
            found
                .abbreviation
                .iter_mut()
                .for_each(|range| range.uses_synonym = false);
        }
        if is_last {
            found.prefix = current;
            found.without_last_word = next;
            break;
        }
    }
    found
}

/// Returns the typed word of a clause, unless it represents several.
fn word_of<'t>(clause: &Clause, tokens: &'t Tokens) -> Option<&'t str> {
    clause
        .word_mask
        .is_power_of_two()
        .then(|| tokens.word(clause.word_mask.trailing_zeros() as usize))
}

/// Returns `true` if the last word is short, a word of the dictionary, and has a synonym.
fn is_abbreviation(query: &BooleanQuery, clause: &Clause, tokens: &Tokens) -> bool {
    let is_short = word_of(clause, tokens).is_some_and(|word| word.len() <= MAX_ABBREVIATION_LENGTH);
    query.last_is_prefix && is_short && clause.exact_term.is_some() && query.ranges(clause).len() > 1
}

fn is_legal_suffix(clause: &Clause, tokens: &Tokens, last_is_prefix: bool) -> bool {
    word_of(clause, tokens).is_some_and(|word| {
        english::is_legal_suffix(word)
            || (last_is_prefix
                && clause.word_mask >> (tokens.len() - 1) == 1
                && english::is_prefix_of_legal_suffix(word))
    })
}

/// The names of all documents, sorted by core.
struct NameList<'a> {
    segment: Segment<'a>,
    offsets: PackedU32s<'a>,
    entries: PackedU32s<'a>,
    second_terms: PackedU32s<'a>,
}

impl<'a> NameList<'a> {
    fn new(segment: Segment<'a>) -> Self {
        Self {
            segment,
            offsets: segment.u32s(Section::NameOffsets),
            entries: segment.u32s(Section::NameEntries),
            second_terms: segment.u32s(Section::NameSecondTerms),
        }
    }

    /// Narrows `current`, whose names share `depth` terms, to the names whose next term is in `terms`. Each
    /// range of terms says whether it is a synonym.
    fn narrow(
        &self,
        depth: usize,
        current: &[NameRange],
        terms: &[(TermRange, bool)],
        next: &mut Vec<NameRange>,
    ) {
        if depth == 0 {
            for &(range, is_synonym) in terms.iter().take(MAX_RANGES) {
                let (from, to) = (
                    self.offsets.get(range.low as usize),
                    self.offsets.get(range.high as usize),
                );
                if from < to {
                    next.push(NameRange {
                        from: from as usize,
                        to: to as usize,
                        uses_synonym: is_synonym,
                    });
                }
            }
            return;
        }
        for names in current {
            for &(range, is_synonym) in terms {
                let from = self.lower_bound(depth, names.from, names.to, range.low);
                let to = self.lower_bound(depth, from, names.to, range.high);
                if from < to && next.len() < MAX_RANGES {
                    next.push(NameRange {
                        from,
                        to,
                        uses_synonym: names.uses_synonym || is_synonym,
                    });
                }
            }
        }
    }

    /// Returns the first name in `low..high` whose term at `depth` is not less than `term`. Names without one
    /// come first.
    fn lower_bound(&self, depth: usize, mut low: usize, mut high: usize, term: u32) -> usize {
        if depth == 1 {
            // Second terms are stored plus one.
            return low + self.second_terms.slice(low, high).lower_bound(term + 1);
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            let core = self.core(middle);
            if core.len() <= depth || core.term(depth) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn core(&self, index: usize) -> TermList<'a> {
        self.name(index).core()
    }

    fn name(&self, index: usize) -> TermList<'a> {
        let entry = self.entries.get(index);
        self.segment
            .record(name_entry::document(entry))
            .name(name_entry::name(entry))
    }

    /// Returns the names of `current` whose core ends at `depth`. If `last` is given, that term must equal
    /// the typed word or be a synonym of it, rather than have it as a prefix.
    fn full_names(
        &self,
        depth: usize,
        current: &[NameRange],
        last: Option<(&BooleanQuery, &Clause)>,
    ) -> Vec<NameRange> {
        let mut full = Vec::new();
        for names in current {
            let mut from = names.from;
            let mut to = names.to;
            if let Some((query, clause)) = last {
                let terms = query.ranges(clause).first().copied();
                let Some(exact_term) = clause.exact_term else {
                    continue;
                };
                // The exact term is the first of those with the prefix.
                if terms.is_some_and(|terms| terms.low == exact_term)
                    && !self.ends_in_synonym(names, depth, terms)
                {
                    to = if depth == 0 {
                        self.offsets.get(exact_term as usize + 1) as usize
                    } else {
                        self.lower_bound(depth, from, to, exact_term + 1)
                    };
                }
            }
            from = from.min(to);
            let end = self.end_of_cores(depth + 1, from, to);
            if from < end {
                full.push(NameRange {
                    from,
                    to: end,
                    uses_synonym: names.uses_synonym,
                });
            }
        }
        full
    }

    /// Returns `true` if the term at `depth` is a synonym rather than one of `terms`.
    fn ends_in_synonym(&self, names: &NameRange, depth: usize, terms: Option<TermRange>) -> bool {
        names.uses_synonym && terms.is_none_or(|terms| !terms.contains(self.core(names.from).term(depth)))
    }

    /// Adds the parts of `full` whose names have a legal suffix that matches `clause`.
    fn select_suffix(
        &self,
        full: &[NameRange],
        query: &BooleanQuery,
        clause: &Clause,
        found: &mut Vec<NameRange>,
    ) {
        for names in full {
            let mut from = names.from;
            while from < names.to {
                let suffix = self.suffix(from);
                let mut to = from + 1;
                while to < names.to && to - from < MAX_SUFFIX_NAMES {
                    if self.suffix(to) != suffix {
                        break;
                    }
                    to += 1;
                }
                if suffix.is_some_and(|term| query.matches(clause, term)) {
                    found.push(NameRange {
                        from,
                        to,
                        uses_synonym: names.uses_synonym,
                    });
                }
                from = to;
            }
        }
    }

    /// Returns the term after the core of a name.
    fn suffix(&self, index: usize) -> Option<u32> {
        let name = self.name(index);
        let at = name.core_start() + name.core().len();
        (at < name.len()).then(|| name.term(at))
    }

    /// Returns the end of the names in `low..high` whose core has `length` terms, which all names share.
    fn end_of_cores(&self, length: usize, mut low: usize, mut high: usize) -> usize {
        if length == 1 {
            // Zero means that there is no second term.
            return low + self.second_terms.slice(low, high).lower_bound(1);
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.core(middle).len() <= length {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the names of `full` that equal the words of all clauses.
    fn exact_names(&self, full: &[NameRange], clauses: &[Clause]) -> Option<NameRange> {
        let typed: Vec<u32> = clauses.iter().map_while(|clause| clause.exact_term).collect();
        if typed.len() < clauses.len() {
            return None;
        }
        let names = full.iter().find(|names| !names.uses_synonym)?;
        let from = self.partition_point(names, &typed, Ordering::is_lt);
        let to = self.partition_point(names, &typed, Ordering::is_le);
        (from < to).then_some(NameRange {
            from,
            to,
            uses_synonym: false,
        })
    }

    /// Returns the first name whose order relative to `typed` does not satisfy `is_before`.
    fn partition_point(
        &self,
        names: &NameRange,
        typed: &[u32],
        is_before: impl Fn(Ordering) -> bool,
    ) -> usize {
        let (mut low, mut high) = (names.from, names.to);
        while low < high {
            let middle = usize::midpoint(low, high);
            let order = self
                .name(middle)
                .iter()
                .map(|term| term & !STOP_WORD_FLAG)
                .cmp(typed.iter().copied());
            if is_before(order) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}
