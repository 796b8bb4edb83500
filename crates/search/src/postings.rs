//! Documents that have all words: the list of the rarest, walked from the most prominent on.
//!
//! Only the rarest word is walked. Whether its documents have the other words is told by their signatures, which rule out
//! nearly all that have not, and then by their records. A word that stands for too many lists is not walked at all.

use crate::bytes::{Bits, U32s};
use crate::reading::{Slot, Slots};
use crate::segment::{Section, Segment};

/// So many documents are looked at together.
pub const BATCH: usize = 32;
/// Past the last document.
const END: u32 = u32::MAX;
/// A slot of more lists than this is not walked list by list.
const MOST_LISTS: usize = 6;
/// Lists that hold no more documents than this together are made one.
const GATHERED: usize = 1024;

/// So many documents are taken from the heads of lists.
const MOST_HEADS: usize = 4096;
/// Lists shorter than this have no bits.
const DENSE: usize = 64;

/// A walk through the documents of one slot.
#[derive(Clone, Debug)]
pub enum Walk<'a> {
    /// One list and a place in it.
    List(U32s<'a>, usize),
    /// A bit for each document, how many are set, and the next document.
    Bits(Bits<'a>, usize, u32),
    /// Several lists, the most frequent of them perhaps as bits.
    Lists(Option<Frequent<'a>>, Vec<Ahead<'a>>),
    /// One list made of several, and a place in it.
    Gathered(Vec<u32>, usize),
}

/// A list on the way: its next document, and those behind it.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    next: u32,
    rest: U32s<'a>,
}

/// The bits of a frequent word on the way: how many are set, and its next document.
#[derive(Clone, Copy, Debug)]
pub struct Frequent<'a> {
    bits: Bits<'a>,
    count: usize,
    next: u32,
}

impl<'a> Ahead<'a> {
    /// The list from its first document on.
    pub fn new(list: U32s<'a>) -> Self {
        let mut ahead = Self {
            next: END,
            rest: list,
        };
        ahead.step();
        ahead
    }

    #[inline]
    fn step(&mut self) {
        match self.rest.split_first() {
            Some((next, rest)) => *self = Self { next, rest },
            None => self.next = END,
        }
    }

    fn len(self) -> usize {
        self.rest.len() + usize::from(self.next != END)
    }
}

impl<'a> Frequent<'a> {
    fn new(bits: Bits<'a>, count: usize) -> Self {
        let next = bits.next(0).unwrap_or(END);
        Self { bits, count, next }
    }

    #[inline]
    fn step(&mut self) {
        self.next = self.bits.next(self.next + 1).unwrap_or(END);
    }
}

impl Walk<'_> {
    /// About how many documents there are.
    pub fn size(&self) -> usize {
        match self {
            Self::List(list, _) => list.len(),
            Self::Bits(_, count, _) => *count,
            Self::Lists(frequent, lists) => {
                frequent.map_or(0, |it| it.count) + lists.iter().map(|list| list.len()).sum::<usize>()
            }
            Self::Gathered(list, _) => list.len(),
        }
    }

    /// The next documents in order, at most as many as `batch` holds; how many they are.
    pub fn next(&mut self, batch: &mut [u32]) -> usize {
        match self {
            Self::List(list, at) => {
                let mut count = 0;
                for (place, document) in batch.iter_mut().zip(list.slice(*at, *at + BATCH).iter()) {
                    *place = document;
                    count += 1;
                }
                *at += count;
                count
            }
            Self::Gathered(list, at) => {
                let count = batch.len().min(list.len() - *at);
                batch[..count].copy_from_slice(&list[*at..*at + count]);
                *at += count;
                count
            }
            Self::Bits(bits, _, from) => fill(batch, || {
                let document = bits.next(*from).unwrap_or(END);
                *from = document.saturating_add(1);
                document
            }),
            Self::Lists(frequent, lists) => fill(batch, || {
                let mut least = frequent.map_or(END, |it| it.next);
                for list in &*lists {
                    least = least.min(list.next);
                }
                if least == END {
                    return END;
                }
                if let Some(frequent) = frequent.as_mut().filter(|it| it.next == least) {
                    frequent.step();
                }
                for list in &mut *lists {
                    // A document stands twice in a list where two of its names start with the same word.
                    while list.next == least {
                        list.step();
                    }
                }
                least
            }),
        }
    }
}

/// Fills `batch` with what `next` finds, until there is no more.
#[inline]
fn fill(batch: &mut [u32], mut next: impl FnMut() -> u32) -> usize {
    for (count, place) in batch.iter_mut().enumerate() {
        *place = next();
        if *place == END {
            return count;
        }
    }
    batch.len()
}

/// The documents with a word of `slot`, or none if there are too many lists to walk.
pub fn walk<'a>(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Option<Walk<'a>> {
    let starts = segment.numbers(Section::PostingStarts);
    let lists = segment.numbers(Section::Postings);
    union(slots, slot, starts, lists, |term| frequent(segment, term))
}

/// The documents with a name that starts with a word of `slot`.
pub fn walk_first<'a>(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Option<Walk<'a>> {
    union(
        slots,
        slot,
        segment.numbers(Section::NameStarts),
        segment.numbers(Section::Firsts),
        |_| None,
    )
}

/// About how many documents have a word of `slot`.
pub fn total(segment: Segment<'_>, slots: &Slots, slot: &Slot) -> usize {
    let starts = segment.numbers(Section::PostingStarts);
    slots
        .ranges(slot)
        .iter()
        .map(|range| length(starts, range.low, range.high))
        .sum()
}

fn length(starts: U32s<'_>, low: u32, high: u32) -> usize {
    (starts.get(high as usize).saturating_sub(starts.get(low as usize))) as usize
}

fn union<'a>(
    slots: &Slots,
    slot: &Slot,
    starts: U32s<'a>,
    lists: U32s<'a>,
    bits: impl Fn(u32) -> Option<Bits<'a>>,
) -> Option<Walk<'a>> {
    let ranges = slots.ranges(slot);
    let (mut total, mut terms) = (0, 0);
    for range in ranges {
        total += length(starts, range.low, range.high);
        terms += range.count();
    }
    let list = |term: u32| {
        lists.slice(
            starts.get(term as usize) as usize,
            starts.get(term as usize + 1) as usize,
        )
    };
    if terms <= MOST_LISTS {
        let mut dense = None;
        let mut all = Vec::with_capacity(terms);
        for term in ranges.iter().flat_map(|range| range.low..range.high) {
            let list = list(term);
            match bits(term).filter(|_| dense.is_none() && list.len() > DENSE) {
                Some(bits) => dense = Some((bits, list.len())),
                None if list.len() > 0 => all.push(list),
                None => {}
            }
        }
        return Some(match (dense, all.len()) {
            (None, 0) => Walk::Gathered(Vec::new(), 0),
            (None, 1) => Walk::List(all[0], 0),
            (Some((bits, count)), 0) => Walk::Bits(bits, count, 0),
            _ => Walk::Lists(
                dense.map(|(bits, count)| Frequent::new(bits, count)),
                all.into_iter().map(Ahead::new).collect(),
            ),
        });
    }
    if total > GATHERED {
        return None;
    }
    let mut all = Vec::with_capacity(total);
    for range in ranges {
        let (from, to) = (starts.get(range.low as usize), starts.get(range.high as usize));
        all.extend(lists.slice(from as usize, to as usize).iter());
    }
    all.sort_unstable();
    all.dedup();
    Some(Walk::Gathered(all, 0))
}

/// The bits of a frequent word.
fn frequent(segment: Segment<'_>, term: u32) -> Option<Bits<'_>> {
    let terms = segment.numbers(Section::FrequentTerms);
    let at = terms.below(term);
    if at >= terms.len() || terms.get(at) != term {
        return None;
    }
    let row = (segment.documents() as usize).div_ceil(64) * 8;
    segment
        .bytes(Section::FrequentBits)
        .get(at * row..(at + 1) * row)
        .map(Bits)
}

/// The most prominent documents of a slot with too many lists to walk: the first few of each list.
pub fn heads<'a>(segment: Segment<'a>, slots: &Slots, slot: &Slot) -> Walk<'a> {
    let starts = segment.numbers(Section::PostingStarts);
    let lists = segment.numbers(Section::Postings);
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
