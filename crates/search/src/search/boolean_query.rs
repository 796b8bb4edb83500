//! A reading: for each typed word, the words of the dictionary it may stand for.

use crate::query::Reading;
use crate::segment::reader::Segment;
use crate::segment::signature;
use crate::segment::trie::{Cursor, TermRange};
use crate::text::english;

/// One typed word and what it may stand for.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its ranges in the shared list: those of what was typed, then from `others` on other ways to write it.
    from: u32,
    others: u32,
    to: u32,
    /// The word spelled exactly so.
    pub exact: Option<u32>,
    /// The node of the trie whose words it stands for, if it may go on.
    pub node: Option<u32>,
    /// Whether documents may lack it.
    pub optional: bool,
    /// Whether it is the article, which may stand before a name.
    pub article: bool,
    /// A document has a word of this slot only if its signature has all bits of one of these.
    bits: [u64; 4],
    /// The typed words it stands for, a bit for each.
    pub words: u64,
}

/// The slots of one reading.
#[derive(Clone, Debug)]
pub struct Slots {
    ranges: Vec<TermRange>,
    all: Vec<Slot>,
    /// How the words were read.
    pub reading: Reading,
    /// What reading so costs.
    pub cost: f32,
    /// Whether the last word may go on.
    pub open: bool,
}

impl Slot {
    /// Whether a document with this signature may hold a word of the slot.
    #[inline]
    pub fn may_be_in(&self, signature: u64) -> bool {
        let lacking = self.bits.iter().map(|bits| !signature & bits);
        lacking.min() == Some(0)
    }
}

impl Slots {
    /// No slots yet.
    pub fn new(reading: Reading, cost: f32, open: bool) -> Self {
        Self {
            ranges: Vec::with_capacity(16),
            all: Vec::with_capacity(8),
            reading,
            cost,
            open,
        }
    }

    /// Adds a slot.
    pub fn push(
        &mut self,
        typed: impl IntoIterator<Item = TermRange>,
        others: impl IntoIterator<Item = TermRange>,
        exact: Option<u32>,
        words: u64,
    ) {
        let from = self.ranges.len() as u32;
        self.ranges.extend(typed);
        let middle = self.ranges.len() as u32;
        self.ranges.extend(others);
        self.all.push(Slot {
            from,
            others: middle,
            to: self.ranges.len() as u32,
            exact,
            node: None,
            optional: false,
            article: false,
            bits: [0; 4],
            words,
        });
    }

    /// Says which bits the signature of a document must have to hold a word of the last slot, one of whose words or
    /// beginnings has these bits.
    pub fn mark_bits(&mut self, words: impl Iterator<Item = u64>) {
        let Some(slot) = self.all.last_mut() else { return };
        let mut count = 0;
        let mut common = u64::MAX;
        slot.bits = [u64::MAX; 4];
        for word in words {
            common &= word;
            if !slot.bits[..count.min(4)].contains(&word) {
                if count < 4 {
                    slot.bits[count] = word;
                }
                count += 1;
            }
        }
        if count > 4 {
            slot.bits = [common; 4];
        }
    }

    /// All slots.
    #[inline]
    pub fn all(&self) -> &[Slot] {
        &self.all
    }

    /// What a slot may stand for.
    #[inline]
    pub fn ranges(&self, slot: &Slot) -> &[TermRange] {
        &self.ranges[slot.from as usize..slot.to as usize]
    }

    /// How many words a slot may stand for.
    pub fn words(&self, slot: &Slot) -> usize {
        self.ranges(slot).iter().map(|range| range.count()).sum()
    }

    /// The range `at` of a slot is another way to write what was typed.
    #[inline]
    pub fn is_variant(slot: &Slot, at: usize) -> bool {
        slot.from as usize + at >= slot.others as usize
    }

    /// Whether a slot may stand for `term`.
    #[inline]
    pub fn has(&self, slot: &Slot, term: u32) -> bool {
        self.ranges(slot).iter().any(|range| range.contains(term))
    }

    /// The slots that a document must have.
    pub fn required(&self) -> impl Iterator<Item = &Slot> {
        let all = self.all.iter().all(|slot| slot.optional);
        self.all.iter().filter(move |slot| all || !slot.optional)
    }

    /// The slot that a name may start with.
    #[inline]
    pub fn lead(&self) -> Option<&Slot> {
        self.all.iter().find(|slot| !slot.article).or(self.all.first())
    }

    /// Whether a name that begins with the words has all of them: none may be left out.
    pub fn plain(&self) -> bool {
        self.all.iter().all(|slot| !slot.optional && !slot.article)
    }

    /// Whether an article was typed before a name.
    #[inline]
    pub fn article(&self) -> bool {
        self.all.len() > 1 && self.all[0].article
    }

    /// Whether an earlier slot may stand for a word of the last.
    pub fn overlap(&self) -> bool {
        let Some((last, earlier)) = self.all.split_last() else {
            return false;
        };
        let meets = |a: &TermRange, b: &TermRange| a.low < b.high && b.low < a.high;
        earlier.iter().any(|slot| {
            self.ranges(slot)
                .iter()
                .any(|a| self.ranges(last).iter().any(|b| meets(a, b)))
        })
    }

    /// Whether a slot stands for nothing, so that no document can match.
    pub fn dead(&self) -> bool {
        self.required().any(|slot| slot.from == slot.to)
    }
}

/// Adds a word as it stands: itself, words that begin with it if `open`, and its other writings.
pub fn push_word(segment: Segment<'_>, word: &str, open: bool, bits: u64, slots: &mut Slots) {
    push_found(segment, word, segment.trie().find(word), open, bits, slots);
}

/// Adds a word as it stands, which leads to `place` in the trie.
pub fn push_found(
    segment: Segment<'_>,
    word: &str,
    place: Option<Cursor<'_>>,
    open: bool,
    bits: u64,
    slots: &mut Slots,
) {
    let exact = place.and_then(Cursor::exact_term);
    let begun = place.filter(|_| open);
    let main = begun.map(Cursor::terms).or(exact.map(TermRange::single));
    let class = exact.map(|term| segment.synonyms(term)).unwrap_or_default();
    let others = || {
        class
            .iter()
            .filter(|&term| main.is_none_or(|main| !main.contains(term)))
    };
    slots.push(main, others().map(TermRange::single), exact, bits);
    let signatures = others().map(|term| signature::prefix_bits(segment.trie().word_bytes(term)));
    slots.mark_bits(std::iter::once(signature::prefix_bits(word.as_bytes())).chain(signatures));
    if let Some(slot) = slots.all.last_mut() {
        slot.node = begun.and_then(Cursor::node_id);
        // A word still being typed may become any other; only a finished form of law says nothing.
        slot.optional = if open {
            english::is_legal_suffix(word) && word.len() > 2
        } else {
            english::is_stop_word(word)
        };
        slot.article = word == english::ARTICLE;
    }
}
