//! Prefilters: cheap tests that rule out most documents before their records are read.
//!
//! A clause with few terms is tested with their bitmaps and Bloom filters. A clause with many terms, such as
//! a prefix of two letters, is tested with the signatures of the documents.

use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::segment::doc_set::DocSet;
use crate::segment::reader::Segment;

/// Number of documents that are tested together.
pub(crate) const BATCH_SIZE: usize = 32;
/// Maximum number of terms of a clause whose posting lists are handled one by one.
pub(crate) const MAX_LISTS: usize = 6;

/// A test that no matching document fails and that most others fail.
#[derive(Clone, Debug)]
pub(crate) enum Prefilter<'a> {
    /// The document may be in one of these sets.
    AnyOf(Vec<DocSet<'a>>),
    /// The signature of the document may match the clause.
    Signature(Clause),
}

impl<'a> Prefilter<'a> {
    /// Creates the prefilter of a clause.
    pub(crate) fn new(segment: Segment<'a>, query: &BooleanQuery, clause: &Clause) -> Self {
        if query.term_count(clause) > MAX_LISTS {
            return Self::Signature(*clause);
        }
        let terms = query
            .ranges(clause)
            .iter()
            .flat_map(|range| range.low..range.high);
        Self::AnyOf(terms.map(|term| DocSet::of_term(segment, term)).collect())
    }

    /// Returns the number of reads for each document. Signatures, which are spread over more memory than the sets of
    /// one term, count as more than any clause.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::AnyOf(sets) => sets.len(),
            Self::Signature(_) => usize::MAX,
        }
    }

    /// Moves the documents that pass to the front and returns their number. There can be at most
    /// [`BATCH_SIZE`].
    pub(crate) fn partition(&self, segment: Segment<'_>, documents: &mut [u32]) -> usize {
        let passing = match self {
            Self::AnyOf(sets) => sets.iter().fold(0, |passing, set| {
                passing
                    | match set {
                        DocSet::Bitmap(bitmap) => test_all(documents, |document| bitmap.contains(document)),
                        DocSet::Bloom(filter) => test_all(documents, |document| filter.may_contain(document)),
                    }
            }),
            Self::Signature(clause) if clause.matches_any_signature() => return documents.len(),
            Self::Signature(clause) => test_all(documents, |document| {
                clause.may_match_signature(segment.signature(document))
            }),
        };
        let mut count = 0;
        for at in 0..documents.len() {
            documents[count] = documents[at];
            count += (passing >> at & 1) as usize;
        }
        count
    }
}

/// Returns which documents pass, one bit for each.
///
/// All documents are tested before a result is used, so that the memory accesses do not wait for each other.
#[inline]
fn test_all(documents: &[u32], passes: impl Fn(u32) -> bool) -> u32 {
    const { assert!(BATCH_SIZE <= u32::BITS as usize) };
    let indexed = (0..).zip(documents);
    indexed.fold(0, |bits, (at, &document)| {
        bits | u32::from(passes(document)).wrapping_shl(at)
    })
}
