//! Names that begin with what was typed, as stretches of the sorted list of names.
//!
//! The stretch is narrowed word by word. The first word is a table lookup, the second a binary search in a list of
//! second words, further ones compare records; by then the stretch is short.

use crate::search::boolean_query::{Slot, Slots};
use crate::segment::format::Section;
use crate::segment::name_entry;
use crate::segment::packed::PackedU32s;
use crate::segment::reader::Segment;
use crate::segment::trie::TermRange;
use crate::text::english;
use crate::text::tokenizer::Tokens;

/// No more stretches than this are followed at a time.
const MOST: usize = 64;

/// A word no longer than this is taken to be finished rather than begun.
const SHORT: usize = 3;

/// Neighbouring names: `from..to`, and whether a word was found in another writing than typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    pub from: usize,
    pub to: usize,
    pub variant: bool,
}

/// The names that begin with the words, those that say no more, and those that are written so exactly.
#[derive(Clone, Debug, Default)]
pub struct Stretches {
    pub begins: Vec<Stretch>,
    pub whole: Vec<Stretch>,
    /// Those that say no more than the words but end in the form of law that was typed.
    pub legal: Vec<Stretch>,
    pub exact: Option<Stretch>,
    /// Those in which a short last word stands whole, or what it is short for.
    pub short: Vec<Stretch>,
    /// Those that begin with all words but the last.
    pub before: Vec<Stretch>,
}

/// Finds the stretches of a reading.
pub fn stretches(segment: Segment<'_>, slots: &Slots, folded: &Tokens) -> Stretches {
    let list = List::new(segment);
    let all = slots.all();
    let skip = usize::from(slots.article());
    let spine = &all[skip..];
    let mut found = Stretches::default();
    let mut current: Vec<Stretch> = Vec::with_capacity(8);
    let mut next: Vec<Stretch> = Vec::with_capacity(8);
    let mut ranges: Vec<(TermRange, bool)> = Vec::with_capacity(8);
    for (depth, slot) in spine.iter().enumerate() {
        next.clear();
        ranges.clear();
        ranges.extend(
            slots
                .ranges(slot)
                .iter()
                .enumerate()
                .map(|(at, range)| (*range, Slots::is_variant(slot, at))),
        );
        list.narrow(depth, &current, &ranges, &mut next);
        std::mem::swap(&mut current, &mut next);
        let last = depth + 1 == spine.len();
        if current.is_empty() {
            if last {
                found.before = next;
            }
            break;
        }
        if last && slot.exact.is_some() {
            found.whole = list.whole(depth, &current, Some((slots, slot)));
            found.exact = list.exact(&found.whole, all).or(found.exact);
        } else if !last
            && spine[depth + 1..]
                .iter()
                .all(|slot| is_legal(slot, folded, slots.open))
        {
            let whole = list.whole(depth, &current, None);
            if found.exact.is_none() {
                found.exact = list.exact(&whole, all);
            }
            list.with_legal(&whole, slots, &spine[depth + 1], &mut found.legal);
        }
        if last && is_abbreviation(slots, slot, folded) {
            let words = slots.ranges(slot).iter().enumerate();
            let words = words.filter_map(|(at, range)| {
                if at == 0 {
                    slot.exact.map(TermRange::single)
                } else {
                    Some(*range)
                }
            });
            // `next` holds the stretches before this word.
            list.narrow(
                depth,
                &next,
                &words.map(|range| (range, false)).collect::<Vec<_>>(),
                &mut found.short,
            );
            found.short.iter_mut().for_each(|stretch| stretch.variant = false);
        }
        if last {
            found.begins = current;
            found.before = next;
            break;
        }
    }
    found
}

fn word_of<'f>(slot: &Slot, folded: &'f Tokens) -> Option<&'f str> {
    slot.words
        .is_power_of_two()
        .then(|| folded.word(slot.words.trailing_zeros() as usize))
}

/// Whether the last word is short, a word of its own, and another way to write a longer one.
fn is_abbreviation(slots: &Slots, slot: &Slot, folded: &Tokens) -> bool {
    let short = word_of(slot, folded).is_some_and(|word| word.len() <= SHORT);
    slots.open && short && slot.exact.is_some() && slots.ranges(slot).len() > 1
}

fn is_legal(slot: &Slot, folded: &Tokens, open: bool) -> bool {
    word_of(slot, folded).is_some_and(|word| {
        english::is_legal_suffix(word)
            || (open && slot.words >> (folded.len() - 1) == 1 && english::is_prefix_of_legal_suffix(word))
    })
}

struct List<'a> {
    segment: Segment<'a>,
    starts: PackedU32s<'a>,
    entries: PackedU32s<'a>,
    seconds: PackedU32s<'a>,
}

impl<'a> List<'a> {
    fn new(segment: Segment<'a>) -> Self {
        Self {
            segment,
            starts: segment.u32s(Section::NameOffsets),
            entries: segment.u32s(Section::NameEntries),
            seconds: segment.u32s(Section::NameSecondTerms),
        }
    }

    /// Narrows `current`, whose names share `depth` words, to those whose next word is in `ranges`, each with
    /// whether it is another writing.
    fn narrow(
        &self,
        depth: usize,
        current: &[Stretch],
        ranges: &[(TermRange, bool)],
        next: &mut Vec<Stretch>,
    ) {
        if depth == 0 {
            for &(range, variant) in ranges.iter().take(MOST) {
                let (from, to) = (
                    self.starts.get(range.low as usize),
                    self.starts.get(range.high as usize),
                );
                if from < to {
                    next.push(Stretch {
                        from: from as usize,
                        to: to as usize,
                        variant,
                    });
                }
            }
            return;
        }
        for stretch in current {
            for &(range, variant) in ranges {
                let from = self.lower(depth, stretch.from, stretch.to, range.low);
                let to = self.lower(depth, from, stretch.to, range.high);
                if from < to && next.len() < MOST {
                    next.push(Stretch {
                        from,
                        to,
                        variant: stretch.variant || variant,
                    });
                }
            }
        }
    }

    /// The first name in `low..high` whose word `depth` is not before `term`; names without one come first.
    fn lower(&self, depth: usize, mut low: usize, mut high: usize, term: u32) -> usize {
        if depth == 1 {
            return low + self.seconds.slice(low, high).lower_bound(term + 1);
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            let spine = self.spine(middle);
            if spine.len() <= depth || spine.term(depth) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn spine(&self, at: usize) -> crate::segment::forward_index::TermList<'a> {
        self.name(at).core()
    }

    fn name(&self, at: usize) -> crate::segment::forward_index::TermList<'a> {
        let entry = self.entries.get(at);
        self.segment
            .record(name_entry::document(entry))
            .name(name_entry::name(entry))
    }

    /// The names of `current` that have no word after `depth`. With `last`, that word was cut short perhaps: only the
    /// words spelled so count.
    fn whole(&self, depth: usize, current: &[Stretch], last: Option<(&Slots, &Slot)>) -> Vec<Stretch> {
        let mut whole = Vec::new();
        for stretch in current {
            let mut from = stretch.from;
            let mut to = stretch.to;
            if let Some((slots, slot)) = last {
                let main = slots.ranges(slot).first().copied();
                let Some(exact) = slot.exact else { continue };
                // The word itself is the first of those that begin with it.
                if main.is_some_and(|main| main.low == exact) && !stretch.variant_of_last(self, depth, main) {
                    to = if depth == 0 {
                        self.starts.get(exact as usize + 1) as usize
                    } else {
                        self.lower(depth, from, to, exact + 1)
                    };
                }
            }
            from = from.min(to);
            let end = self.shorter(depth + 1, from, to);
            if from < end {
                whole.push(Stretch {
                    from,
                    to: end,
                    variant: stretch.variant,
                });
            }
        }
        whole
    }

    /// The parts of `whole` whose names go on with a form of law that `slot` stands for.
    fn with_legal(&self, whole: &[Stretch], slots: &Slots, slot: &Slot, found: &mut Vec<Stretch>) {
        for stretch in whole {
            let mut from = stretch.from;
            while from < stretch.to {
                let name = self.name(from);
                let at = name.core_start() + name.core().len();
                let term = if at < name.len() {
                    Some(name.term(at))
                } else {
                    None
                };
                let mut to = from + 1;
                while to < stretch.to && to - from < MOST * 64 {
                    let other = self.name(to);
                    let at = other.core_start() + other.core().len();
                    if (at < other.len()).then(|| other.term(at)) != term {
                        break;
                    }
                    to += 1;
                }
                if term.is_some_and(|term| slots.has(slot, term)) {
                    found.push(Stretch {
                        from,
                        to,
                        variant: stretch.variant,
                    });
                }
                from = to;
            }
        }
    }

    /// Where the names of `low..high`, which share `length` words, start to have more.
    fn shorter(&self, length: usize, mut low: usize, mut high: usize) -> usize {
        if length == 1 {
            return low + self.seconds.slice(low, high).lower_bound(1);
        }
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.spine(middle).len() <= length {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Those of `whole` that are the typed words exactly.
    fn exact(&self, whole: &[Stretch], slots: &[Slot]) -> Option<Stretch> {
        let typed: Vec<u32> = slots.iter().map_while(|slot| slot.exact).collect();
        if typed.len() < slots.len() {
            return None;
        }
        let stretch = whole.iter().find(|stretch| !stretch.variant)?;
        let from = self.compare(stretch, &typed, false);
        let to = self.compare(stretch, &typed, true);
        (from < to).then_some(Stretch {
            from,
            to,
            variant: false,
        })
    }

    /// The first name of `stretch` that is not before `typed`, or, with `after`, that is behind it.
    fn compare(&self, stretch: &Stretch, typed: &[u32], after: bool) -> usize {
        let (mut low, mut high) = (stretch.from, stretch.to);
        while low < high {
            let middle = usize::midpoint(low, high);
            let order = self
                .name(middle)
                .iter()
                .map(|term| term & !crate::segment::forward_index::STOP_WORD_FLAG)
                .cmp(typed.iter().copied());
            if order.is_lt() || (after && order.is_eq()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl Stretch {
    /// Whether the last word of these names is another writing of the typed one.
    fn variant_of_last(self, list: &List<'_>, depth: usize, main: Option<TermRange>) -> bool {
        self.variant && main.is_none_or(|main| !main.contains(list.spine(self.from).term(depth)))
    }
}
