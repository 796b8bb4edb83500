//! Iteration over posting lists in rank order, in batches.
//!
//! Only one list drives a search; whether its documents match the other clauses is decided by prefilters,
//! batch by batch, and then by the records of the remaining documents. The union of several lists is read in
//! windows of document numbers: the documents of a window that pass the prefilters are sorted as they are read.

use crate::search::boolean_query::{BooleanQuery, Clause};
use crate::search::incremental_sort::IncrementalSort;
use crate::search::prefilter::{BATCH_SIZE, MAX_LISTS, Prefilter};
use crate::segment::format::Section;
use crate::segment::packed::PackedU32s;
use crate::segment::reader::Segment;
use std::ops::Range;

/// Maximum number of postings of a clause with more than [`MAX_LISTS`] terms, if nothing else narrows the
/// search ...
const MAX_UNFILTERED_POSTINGS: usize = 1_024;
/// ... and if other clauses or labels rule out most of the documents.
const MAX_FILTERED_POSTINGS: usize = 16_384;
/// Approximate number of documents in the first window of a union. Each window is twice as wide as the one
/// before.
const FIRST_WINDOW_DOCUMENTS: u64 = 64;
/// Approximate number of documents in the widest window.
const WIDEST_WINDOW_DOCUMENTS: u64 = 2_048;
/// Maximum number of documents that are taken from the start of the lists of a clause with too many terms.
const MAX_SAMPLED_DOCUMENTS: usize = 4_096;

/// A position in the documents of a term, a clause or a group of labels.
#[derive(Clone, Debug)]
pub(crate) enum PostingCursor<'a> {
    /// The rest of one list.
    List(PackedU32s<'a>),
    /// The rest of several lists.
    Union(Union<'a>),
    /// The rest of some documents, which need not be sorted.
    Documents(IncrementalSort),
    /// All documents of a range.
    Range(Range<u32>),
}

/// The union of several lists, read in windows of document numbers.
#[derive(Clone, Debug)]
pub(crate) struct Union<'a> {
    /// The rest of each list.
    lists: Vec<PackedU32s<'a>>,
    total: usize,
    /// End of the current window.
    end: u64,
    /// Width of the next window.
    width: u64,
    max_width: u64,
    /// The documents of the current window that passed the prefilters.
    window: IncrementalSort,
}

/// The result of reading a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// Number of postings that were read.
    pub read: usize,
    /// Number of documents in the batch, which passed the prefilters.
    pub len: usize,
    /// All further documents come after this one.
    pub last: u32,
}

impl<'a> PostingCursor<'a> {
    /// Creates a cursor over several lists of a segment with `document_count` documents.
    pub(crate) fn union(lists: Vec<PackedU32s<'a>>, document_count: u32) -> Self {
        let total: usize = lists.iter().map(|list| list.len()).sum();
        let width = |documents: u64| u64::from(document_count) * documents / (total as u64).max(1) + 1;
        Self::Union(Union {
            lists,
            width: width(FIRST_WINDOW_DOCUMENTS),
            max_width: width(WIDEST_WINDOW_DOCUMENTS),
            total,
            end: 0,
            window: IncrementalSort::default(),
        })
    }

    /// Makes a union read everything in one window, which allows lists that are not sorted.
    fn in_one_window(mut self) -> Self {
        if let Self::Union(union) = &mut self {
            union.width = u64::from(u32::MAX) + 1;
        }
        self
    }

    /// Returns the number of postings, which is at least the number of documents.
    pub(crate) fn posting_count(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Union(union) => union.total,
            Self::Documents(documents) => documents.len(),
            Self::Range(range) => range.len(),
        }
    }

    /// Fills `batch` with the next documents that pass all prefilters, or returns `None` at the end.
    ///
    /// A batch before the end can be empty.
    pub(crate) fn next_batch(
        &mut self,
        segment: Segment<'_>,
        prefilters: &[Prefilter<'_>],
        batch: &mut [u32; BATCH_SIZE],
    ) -> Option<Batch> {
        let (read, len, last) = match self {
            Self::List(list) => {
                let read = take_front(list, batch);
                let last = *batch[..read].last()?;
                (read, partition(segment, prefilters, &mut batch[..read]), last)
            }
            Self::Documents(documents) => {
                let read = documents.read(batch);
                let last = *batch[..read].last()?;
                (read, partition(segment, prefilters, &mut batch[..read]), last)
            }
            Self::Range(range) => {
                let read = range.len().min(BATCH_SIZE);
                for (slot, document) in batch.iter_mut().zip(range) {
                    *slot = document;
                }
                let last = *batch[..read].last()?;
                (read, partition(segment, prefilters, &mut batch[..read]), last)
            }
            Self::Union(union) => {
                let mut read = 0;
                if union.window.is_at_end() {
                    read = union.read_window(segment, prefilters, batch)?;
                }
                let len = union.window.read(batch);
                let end = union.end.min(u64::from(u32::MAX)) as u32;
                (read, len, batch[..len].last().map_or(end, |&last| last))
            }
        };
        Some(Batch { read, len, last })
    }
}

impl Union<'_> {
    /// Reads the next window and returns its number of postings, or `None` at the end of the lists.
    fn read_window(
        &mut self,
        segment: Segment<'_>,
        prefilters: &[Prefilter<'_>],
        batch: &mut [u32; BATCH_SIZE],
    ) -> Option<usize> {
        self.lists.retain(|list| list.len() > 0);
        if self.lists.is_empty() {
            return None;
        }
        self.end += self.width;
        self.width = (self.width * 2).min(self.max_width);
        let mut read = 0;
        self.window.refill(|window| {
            for list in &mut self.lists {
                let count = match u32::try_from(self.end) {
                    Ok(end) => list.lower_bound(end),
                    Err(_) => list.len(),
                };
                let mut part = list.slice(0, count);
                *list = list.slice(count, list.len());
                read += count;
                loop {
                    let count = take_front(&mut part, batch);
                    if count == 0 {
                        break;
                    }
                    let passed = partition(segment, prefilters, &mut batch[..count]);
                    window.extend_from_slice(&batch[..passed]);
                }
            }
        });
        Some(read)
    }
}

/// Moves the first documents of `list` to `batch` and returns their number.
fn take_front(list: &mut PackedU32s<'_>, batch: &mut [u32; BATCH_SIZE]) -> usize {
    let mut count = 0;
    for (slot, document) in batch.iter_mut().zip(list.slice(0, BATCH_SIZE).iter()) {
        *slot = document;
        count += 1;
    }
    *list = list.slice(count, list.len());
    count
}

/// Moves the documents that pass all prefilters to the front and returns their number.
fn partition(segment: Segment<'_>, prefilters: &[Prefilter<'_>], documents: &mut [u32]) -> usize {
    let mut len = documents.len();
    for prefilter in prefilters {
        if len == 0 {
            break;
        }
        len = prefilter.partition(segment, &mut documents[..len]);
    }
    len
}

/// Returns `true` if the documents of a clause with `posting_count` postings can be read in rank order.
///
/// `filtered_limit` is the maximum number of postings if something else narrows the search.
pub(crate) fn can_open(
    query: &BooleanQuery,
    clause: &Clause,
    posting_count: usize,
    filtered_limit: Option<usize>,
) -> bool {
    let limit = filtered_limit.map_or(MAX_UNFILTERED_POSTINGS, |limit| limit.min(MAX_FILTERED_POSTINGS));
    query.term_count(clause) <= MAX_LISTS || posting_count <= limit
}

/// Returns the number of postings of a clause, which is at least its number of documents.
pub(crate) fn count(segment: Segment<'_>, query: &BooleanQuery, clause: &Clause) -> usize {
    let offsets = segment.u32s(Section::PostingOffsets);
    let length = |low: u32, high: u32| {
        offsets
            .get(high as usize)
            .saturating_sub(offsets.get(low as usize))
    };
    let ranges = query.ranges(clause).iter();
    ranges.map(|range| length(range.low, range.high) as usize).sum()
}

/// Opens a cursor over the documents of a clause.
pub(crate) fn open<'a>(segment: Segment<'a>, query: &BooleanQuery, clause: &Clause) -> PostingCursor<'a> {
    let offsets = segment.u32s(Section::PostingOffsets);
    let postings = segment.u32s(Section::Postings);
    let list = |low: u32, high: u32| {
        let (from, to) = (offsets.get(low as usize), offsets.get(high as usize));
        postings.slice(from as usize, to as usize)
    };
    let ranges = query.ranges(clause);
    if query.term_count(clause) > MAX_LISTS {
        // The lists of adjacent terms are adjacent and are read as one.
        let lists = ranges.iter().map(|range| list(range.low, range.high));
        return PostingCursor::union(lists.collect(), segment.document_count()).in_one_window();
    }
    let terms = ranges.iter().flat_map(|range| range.low..range.high);
    let mut lists: Vec<_> = terms.map(|term| list(term, term + 1)).collect();
    lists.retain(|list| list.len() > 0);
    match lists[..] {
        [single] => PostingCursor::List(single),
        _ => PostingCursor::union(lists, segment.document_count()),
    }
}

/// Opens a cursor over a sample of the documents of a clause with too many postings: the first few of each
/// list.
pub(crate) fn open_sample<'a>(
    segment: Segment<'a>,
    query: &BooleanQuery,
    clause: &Clause,
) -> PostingCursor<'a> {
    let offsets = segment.u32s(Section::PostingOffsets);
    let postings = segment.u32s(Section::Postings);
    let ranges = query.ranges(clause);
    let term_count: usize = ranges.iter().map(|range| range.count()).sum();
    let per_list = (MAX_SAMPLED_DOCUMENTS / term_count.max(1)).max(1);
    let mut documents = Vec::new();
    for term in ranges
        .iter()
        .flat_map(|range| range.low..range.high)
        .take(MAX_SAMPLED_DOCUMENTS)
    {
        let from = offsets.get(term as usize) as usize;
        let to = offsets.get(term as usize + 1) as usize;
        documents.extend(postings.slice(from, to.min(from + per_list)).iter());
    }
    PostingCursor::Documents(IncrementalSort::new(documents))
}
