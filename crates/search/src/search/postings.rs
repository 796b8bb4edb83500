//! Documents that have all words: those of the rarest, walked from the most prominent on.
//!
//! Only one word is walked. Whether its documents have the other words is asked of the lists of these
//! ([`crate::search::prefilter`]), batch by batch, and then of the records of what is left. A word that stands for several lists is
//! walked through them window by window: what is left of a window is sorted.

use crate::search::boolean_query::{Slot, Slots};
use crate::search::prefilter::Test;
use crate::segment::format::Section;
use crate::segment::packed::PackedU32s;
use crate::segment::reader::Segment;

/// So many documents are looked at together.
pub const BATCH: usize = 32;
/// Lists of a word that are walked window by window; more are one window.
pub const MOST_LISTS: usize = 6;
/// Lists of a word that are more than these are walked if they hold no more documents than this together, ...
const GATHERED: usize = 1_024;
/// ... or this where other words or labels rule out most of them.
const MOST_GATHERED: usize = 16_384;
/// So many documents are about in the first window; each holds twice as many as the one before, up to the largest.
const FIRST_WINDOW: u64 = 64;
const LARGEST_WINDOW: u64 = 2_048;
/// So many documents are taken from the heads of lists.
const MOST_HEADS: usize = 4_096;

/// A walk through the documents of a word or a label.
#[derive(Clone, Debug)]
pub enum Walk<'a> {
    /// What is left of one list.
    List(PackedU32s<'a>),
    /// Several lists.
    Windows(Windows<'a>),
    /// One list made of several, and a place in it.
    Gathered(Vec<u32>, usize),
}

/// What is left of several lists.
#[derive(Clone, Debug)]
pub struct Windows<'a> {
    lists: Vec<PackedU32s<'a>>,
    size: usize,
    /// Where the last window ended, and how wide the next is and any may be.
    end: u64,
    width: u64,
    widest: u64,
    /// What was left of the last window, and a place in it.
    left: Vec<u32>,
    at: usize,
}

/// A part of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Documents that were passed.
    pub passed: usize,
    /// Those of them that are left in the batch.
    pub left: usize,
    /// All that follow come after this one.
    pub last: u32,
}

impl<'a> Walk<'a> {
    /// A walk through several lists of a directory of so many documents.
    pub fn windows(lists: Vec<PackedU32s<'a>>, documents: u32) -> Self {
        let size: usize = lists.iter().map(|list| list.len()).sum();
        let width = |documents_of_it: u64| u64::from(documents) * documents_of_it / (size as u64).max(1) + 1;
        Self::Windows(Windows {
            lists,
            width: width(FIRST_WINDOW),
            widest: width(LARGEST_WINDOW),
            size,
            end: 0,
            left: Vec::new(),
            at: 0,
        })
    }

    /// The same in one window, whatever the order of the documents in each list.
    fn at_once(mut self) -> Self {
        if let Self::Windows(windows) = &mut self {
            windows.width = u64::from(u32::MAX) + 1;
        }
        self
    }

    /// How many documents there are at the most.
    pub fn size(&self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Windows(windows) => windows.size,
            Self::Gathered(list, _) => list.len(),
        }
    }

    /// Fills `batch` with the next documents in order that pass all `tests`; none at the end. The batch may be empty
    /// before that.
    pub fn next(
        &mut self,
        segment: Segment<'_>,
        tests: &[Test<'_>],
        batch: &mut [u32; BATCH],
    ) -> Option<Part> {
        let (passed, left, last) = match self {
            Self::List(list) => {
                let passed = fill(list, batch);
                let last = *batch[..passed].last()?;
                (passed, sift(segment, tests, &mut batch[..passed]), last)
            }
            Self::Gathered(list, at) => {
                let passed = copy(list, at, batch);
                let last = *batch[..passed].last()?;
                (passed, sift(segment, tests, &mut batch[..passed]), last)
            }
            Self::Windows(windows) => {
                let mut passed = 0;
                if windows.at == windows.left.len() {
                    passed = windows.read(segment, tests, batch)?;
                }
                let left = copy(&windows.left, &mut windows.at, batch);
                let end = windows.end.min(u64::from(u32::MAX)) as u32;
                (passed, left, batch[..left].last().map_or(end, |&last| last))
            }
        };
        Some(Part { passed, left, last })
    }
}

impl Windows<'_> {
    /// Reads the next window; how many documents it has, and none where the lists are at their end.
    fn read(&mut self, segment: Segment<'_>, tests: &[Test<'_>], batch: &mut [u32; BATCH]) -> Option<usize> {
        self.lists.retain(|list| list.len() > 0);
        if self.lists.is_empty() {
            return None;
        }
        self.end += self.width;
        self.width = (self.width * 2).min(self.widest);
        self.left.clear();
        self.at = 0;
        let mut passed = 0;
        for list in &mut self.lists {
            let within = match u32::try_from(self.end) {
                Ok(end) => list.lower_bound(end),
                Err(_) => list.len(),
            };
            let mut window = list.slice(0, within);
            *list = list.slice(within, list.len());
            passed += within;
            loop {
                let count = fill(&mut window, batch);
                if count == 0 {
                    break;
                }
                let left = sift(segment, tests, &mut batch[..count]);
                self.left.extend_from_slice(&batch[..left]);
            }
        }
        self.left.sort_unstable();
        self.left.dedup();
        Some(passed)
    }
}

/// Moves the first documents of `list` to `batch`; how many they are.
fn fill(list: &mut PackedU32s<'_>, batch: &mut [u32; BATCH]) -> usize {
    let mut count = 0;
    for (place, document) in batch.iter_mut().zip(list.slice(0, BATCH).iter()) {
        *place = document;
        count += 1;
    }
    *list = list.slice(count, list.len());
    count
}

/// Copies documents from a place of `list` on to `batch`; how many they are.
fn copy(list: &[u32], at: &mut usize, batch: &mut [u32; BATCH]) -> usize {
    let count = BATCH.min(list.len() - *at);
    batch[..count].copy_from_slice(&list[*at..*at + count]);
    *at += count;
    count
}

/// Puts the documents that pass all tests to the front; how many they are.
fn sift(segment: Segment<'_>, tests: &[Test<'_>], documents: &mut [u32]) -> usize {
    let mut left = documents.len();
    for test in tests {
        left = test.sift(segment, &mut documents[..left]);
    }
    left
}

/// Whether the documents of `slot`, of which there are `total`, can be walked; `sifted` says how many may be where few of
/// them will be left.
pub fn is_walkable(slots: &Slots, slot: &Slot, total: usize, sifted: Option<usize>) -> bool {
    let most = sifted.map_or(GATHERED, |allowed| allowed.min(MOST_GATHERED));
    slots.words(slot) <= MOST_LISTS || total <= most
}

/// About how many documents have a word of `slot`.
pub fn total(segment: Segment<'_>, slots: &Slots, slot: &Slot) -> usize {
    let starts = segment.u32s(Section::PostingOffsets);
    let length = |low: u32, high: u32| starts.get(high as usize).saturating_sub(starts.get(low as usize));
    let ranges = slots.ranges(slot).iter();
    ranges.map(|range| length(range.low, range.high) as usize).sum()
}

/// The documents with a word of `slot`.
pub fn walk<'a>(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Walk<'a> {
    let starts = segment.u32s(Section::PostingOffsets);
    let lists = segment.u32s(Section::Postings);
    let part = |low: u32, high: u32| {
        let (from, to) = (starts.get(low as usize), starts.get(high as usize));
        lists.slice(from as usize, to as usize)
    };
    let ranges = slots.ranges(slot);
    if slots.words(slot) > MOST_LISTS {
        // The lists of neighbouring words stand side by side and are read as one.
        let all = ranges.iter().map(|range| part(range.low, range.high));
        return Walk::windows(all.collect(), segment.document_count()).at_once();
    }
    let terms = ranges.iter().flat_map(|range| range.low..range.high);
    let mut all: Vec<_> = terms.map(|term| part(term, term + 1)).collect();
    all.retain(|list| list.len() > 0);
    match all[..] {
        [one] => Walk::List(one),
        _ => Walk::windows(all, segment.document_count()),
    }
}

/// The most prominent documents of a slot with too many lists to walk: the first few of each list.
pub fn heads<'a>(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Walk<'a> {
    let starts = segment.u32s(Section::PostingOffsets);
    let lists = segment.u32s(Section::Postings);
    let ranges = slots.ranges(slot);
    let terms: usize = ranges.iter().map(|range| range.count()).sum();
    let each = (MOST_HEADS / terms.max(1)).max(1);
    let mut all = Vec::new();
    for term in ranges
        .iter()
        .flat_map(|range| range.low..range.high)
        .take(MOST_HEADS)
    {
        let from = starts.get(term as usize) as usize;
        let to = starts.get(term as usize + 1) as usize;
        all.extend(lists.slice(from, to.min(from + each)).iter());
    }
    all.sort_unstable();
    all.dedup();
    Walk::Gathered(all, 0)
}
