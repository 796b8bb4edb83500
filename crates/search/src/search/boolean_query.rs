//! A query as a conjunction of clauses.
//!
//! Each rewrite of a query becomes one [`BooleanQuery`]. A clause represents one word and lists the terms
//! that match it: the word itself, the words it is a prefix of, its synonyms or its corrections.

use crate::query::Rewrite;
use crate::segment::reader::Segment;
use crate::segment::signature;
use crate::segment::trie::{Cursor, TermRange};
use crate::text::english;
use crate::text::tag;

/// Maximum number of alternative signatures of a clause.
const MAX_SIGNATURES: usize = 4;

/// A clause: a document matches if it has one of the terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    /// The ranges of the clause in the shared vector. Those from `synonyms_from` on are synonyms of the typed
    /// word.
    from: u32,
    synonyms_from: u32,
    to: u32,
    /// The term that equals the typed word.
    pub exact_term: Option<u32>,
    /// The node of the trie whose terms match, if the word is a prefix.
    pub trie_node: Option<u32>,
    /// Whether documents match without the clause.
    pub is_optional: bool,
    /// Whether the word is the article, which may precede a name.
    pub is_article: bool,
    /// A document can match only if its signature has all bits of one of these.
    signatures: [u64; MAX_SIGNATURES],
    /// The words of the query that the clause represents, one bit for each.
    pub word_mask: u64,
}

/// The clauses of one rewrite.
#[derive(Clone, Debug)]
pub(crate) struct BooleanQuery {
    ranges: Vec<TermRange>,
    clauses: Vec<Clause>,
    /// The rewrite.
    pub rewrite: Rewrite,
    /// What the rewrite adds to the score: zero or less.
    pub penalty: f32,
    /// Whether the last word is a prefix.
    pub last_is_prefix: bool,
}

impl Clause {
    /// Returns `false` only if no document with this signature matches the clause.
    #[inline]
    pub(crate) fn may_match_signature(&self, signature: u64) -> bool {
        let missing = self.signatures.iter().map(|bits| !signature & bits);
        missing.min() == Some(0)
    }

    /// Returns `true` if the signature of a document says nothing about the clause, as for a single letter.
    #[inline]
    pub(crate) fn matches_any_signature(&self) -> bool {
        self.signatures.contains(&0)
    }
}

impl BooleanQuery {
    /// Creates a query without clauses.
    pub(crate) fn new(rewrite: Rewrite, penalty: f32, last_is_prefix: bool) -> Self {
        Self {
            ranges: Vec::with_capacity(16),
            clauses: Vec::with_capacity(8),
            rewrite,
            penalty,
            last_is_prefix,
        }
    }

    /// Adds a clause.
    pub(crate) fn push(
        &mut self,
        terms: impl IntoIterator<Item = TermRange>,
        synonyms: impl IntoIterator<Item = TermRange>,
        exact_term: Option<u32>,
        word_mask: u64,
    ) {
        let from = self.ranges.len() as u32;
        self.ranges.extend(terms);
        let synonyms_from = self.ranges.len() as u32;
        self.ranges.extend(synonyms);
        self.clauses.push(Clause {
            from,
            synonyms_from,
            to: self.ranges.len() as u32,
            exact_term,
            trie_node: None,
            is_optional: false,
            is_article: false,
            signatures: [0; MAX_SIGNATURES],
            word_mask,
        });
    }

    /// Sets the signatures of the last clause to those of its words or prefixes.
    ///
    /// If there are more different ones than fit, the bits that all of them share are used instead.
    pub(crate) fn set_signatures(&mut self, signatures: impl Iterator<Item = u64>) {
        let Some(clause) = self.clauses.last_mut() else {
            return;
        };
        let mut count = 0;
        let mut common = u64::MAX;
        clause.signatures = [u64::MAX; MAX_SIGNATURES];
        for signature in signatures {
            common &= signature;
            if !clause.signatures[..count.min(MAX_SIGNATURES)].contains(&signature) {
                if count < MAX_SIGNATURES {
                    clause.signatures[count] = signature;
                }
                count += 1;
            }
        }
        if count > MAX_SIGNATURES {
            clause.signatures = [common; MAX_SIGNATURES];
        }
    }

    /// Adds a clause for `word`: the word, the words it is a prefix of if `is_prefix` is set, and its
    /// synonyms.
    pub(crate) fn push_word(&mut self, segment: Segment<'_>, word: &str, is_prefix: bool, word_mask: u64) {
        self.push_word_at(segment, word, segment.trie().find(word), is_prefix, word_mask);
    }

    /// Adds a clause for `word`, whose position in the trie is `cursor`.
    pub(crate) fn push_word_at(
        &mut self,
        segment: Segment<'_>,
        word: &str,
        cursor: Option<Cursor<'_>>,
        is_prefix: bool,
        word_mask: u64,
    ) {
        let exact_term = cursor.and_then(Cursor::exact_term);
        let prefix = cursor.filter(|_| is_prefix);
        let terms = prefix.map(Cursor::terms).or(exact_term.map(TermRange::single));
        let group = exact_term.map(|term| segment.synonyms(term)).unwrap_or_default();
        let synonyms = || {
            group
                .iter()
                .filter(|&term| terms.is_none_or(|terms| !terms.contains(term)))
        };
        let postal_code = tag::is_postal_code(word)
            .then(|| segment.trie().find(&tag::postal_code_tag(word)?)?.exact_term())
            .flatten();
        let also = synonyms().chain(postal_code).map(TermRange::single);
        self.push(terms, also, exact_term, word_mask);
        let signatures = synonyms()
            .chain(postal_code)
            .map(|term| signature::prefix_bits(segment.trie().word_bytes(term)));
        self.set_signatures(std::iter::once(signature::prefix_bits(word.as_bytes())).chain(signatures));
        if let Some(clause) = self.clauses.last_mut() {
            clause.trie_node = prefix.and_then(Cursor::node_id);
            // A stop word that is still being typed may become any other word; only a complete legal suffix
            // is optional then.
            clause.is_optional = if is_prefix {
                english::is_legal_suffix(word) && word.len() > 2
            } else {
                english::is_stop_word(word)
            };
            clause.is_article = word == english::ARTICLE;
        }
    }

    /// Makes the last clause optional.
    pub(crate) fn make_last_optional(&mut self) {
        if let Some(clause) = self.clauses.last_mut() {
            clause.is_optional = true;
        }
    }

    /// Returns the clauses.
    #[inline]
    pub(crate) fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// Returns the terms that match a clause.
    #[inline]
    pub(crate) fn ranges(&self, clause: &Clause) -> &[TermRange] {
        &self.ranges[clause.from as usize..clause.to as usize]
    }

    /// Returns the number of terms that match a clause.
    pub(crate) fn term_count(&self, clause: &Clause) -> usize {
        self.ranges(clause).iter().map(|range| range.count()).sum()
    }

    /// Returns `true` if the range at `index` of a clause is a synonym of the typed word.
    #[inline]
    pub(crate) fn is_synonym(clause: &Clause, index: usize) -> bool {
        clause.from as usize + index >= clause.synonyms_from as usize
    }

    /// Returns `true` if `term` matches a clause.
    #[inline]
    pub(crate) fn matches(&self, clause: &Clause, term: u32) -> bool {
        self.ranges(clause).iter().any(|range| range.contains(term))
    }

    /// Iterates over the clauses that a document must match: all if every clause is optional.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Clause> {
        let all = self.clauses.iter().all(|clause| clause.is_optional);
        self.clauses
            .iter()
            .filter(move |clause| all || !clause.is_optional)
    }

    /// Returns the first clause that is not the article, or else the first.
    #[inline]
    pub(crate) fn first_word(&self) -> Option<&Clause> {
        self.clauses
            .iter()
            .find(|clause| !clause.is_article)
            .or(self.clauses.first())
    }

    /// Returns `true` if a name that starts with the words matches every clause.
    pub(crate) fn has_no_optional_words(&self) -> bool {
        self.clauses
            .iter()
            .all(|clause| !clause.is_optional && !clause.is_article)
    }

    /// Returns `true` if the article comes before other words.
    #[inline]
    pub(crate) fn starts_with_article(&self) -> bool {
        self.clauses.len() > 1 && self.clauses[0].is_article
    }

    /// Returns `true` if a term can match both the last clause and an earlier one.
    pub(crate) fn last_overlaps_earlier(&self) -> bool {
        let Some((last, earlier)) = self.clauses.split_last() else {
            return false;
        };
        let overlaps = |a: &TermRange, b: &TermRange| a.low < b.high && b.low < a.high;
        earlier.iter().any(|clause| {
            self.ranges(clause)
                .iter()
                .any(|a| self.ranges(last).iter().any(|b| overlaps(a, b)))
        })
    }

    /// Returns `true` if a required clause has no terms, so that no document can match.
    pub(crate) fn is_unsatisfiable(&self) -> bool {
        self.required().any(|clause| clause.from == clause.to)
    }
}
