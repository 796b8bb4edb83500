//! The score: prominence plus what the match is worth.
//!
//! All terms are in the unit of prominence, the decimal logarithm of dollars: a bonus of 2 lifts a nonprofit over one
//! a hundred times its size. A name that begins with what was typed outranks all but the best known of the others, and the
//! whole shown name, word for word, outranks everything.

use crate::search::boolean_query::{Slot, Slots};
use crate::segment::forward_index::{DocumentRecord, STOP_WORD_FLAG, TermList};

/// The first typed word is the first of the name.
pub const FIRST: f32 = 2.0;
/// All words stand in one name.
pub const NAMED: f32 = 2.5;
/// The words follow each other as typed, noise aside.
pub const ADJACENT: f32 = 2.5;
/// The words stand in the typed order, with others between.
pub const ORDERED: f32 = 1.0;
/// The words say the whole name, and those left over stand in the document's place or another of its names.
pub const PLACED: f32 = 5.0;
/// The words cover so much of the name's own.
pub const COVERED: f32 = 0.5;
/// The name begins with all words.
pub const BEGINS: f32 = FIRST + NAMED + ADJACENT + 7.0;
/// The name says no more than the words.
pub const WHOLE: f32 = BEGINS + 0.5;
/// The shown name is what was typed, word for word.
pub const EXACT: f32 = BEGINS + 100.0;
/// A short word such as "va" or "st" that is another way to write a longer one stands whole in the name.
pub const SHORT_WORD: f32 = 3.0;
/// The article was typed, and the name has it.
pub const ARTICLE: f32 = 2.0;
/// An alias was typed as a whole.
pub const ALIAS: f32 = 4.0;
/// The number or domain was typed as a whole.
pub const IDENTIFIED: f32 = 200.0;
/// The beginning of the number or domain was typed.
pub const IDENTIFIED_START: f32 = 30.0;
/// The words are the initials of the name.
pub const INITIALS: f32 = 12.0;
/// Found by a lesser name than the shown one and its aliases.
pub const OTHER_NAME: f32 = -3.0;
/// A word was found as its plural, singular or other writing.
pub const VARIANT: f32 = -2.0;
/// Two words were read as one or one as two.
pub const JOINED: f32 = -1.0;
/// A word was read with a mistake.
pub const TYPO: f32 = -10.0;
/// A word was left out.
pub const WITHOUT: f32 = -14.0;

/// The most that a match can be worth which is not the beginning of a name.
pub const MOST_LISTED: f32 = FIRST + NAMED + ADJACENT + COVERED;

/// What a match in one document is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// To be added to the prominence.
    pub bonus: f32,
    /// Which name it was found by.
    pub name: u8,
    /// Whether that name starts with the first word.
    pub first: bool,
}

/// Judges a document that holds all required words of `slots`.
pub fn judge(record: DocumentRecord<'_>, slots: &Slots) -> Worth {
    let mut best = Worth {
        bonus: f32::NEG_INFINITY,
        name: 0,
        first: false,
    };
    for which in 0..record.name_count() {
        let name = record.name(which);
        let mut worth = judge_name(name, slots);
        if which > 0 && !name.is_alias() {
            worth.bonus = (worth.bonus + OTHER_NAME).max(0.0);
        }
        if worth.bonus > best.bonus {
            best = Worth {
                name: which as u8,
                ..worth
            };
        }
    }
    best
}

fn judge_name(name: TermList<'_>, slots: &Slots) -> Worth {
    let first = slots
        .lead()
        .is_some_and(|lead| name.len() > 0 && slots.has(lead, name.term(name.core_start())));
    let mut bonus = if first { FIRST } else { 0.0 };
    let (mut wanted, mut found) = (0, 0);
    // Places where the words so far may end, one behind the other, and the place after the first in order.
    let mut adjacent = u64::MAX;
    let mut ordered = Some(0);
    for slot in slots.required() {
        wanted += 1;
        let places = places(name, slots, slot);
        found += usize::from(places != 0);
        adjacent = if wanted == 1 {
            places
        } else {
            adjacent << 1 & places
        };
        ordered = ordered.and_then(|from: u32| {
            let later = places & u64::MAX.checked_shl(from).unwrap_or(0);
            (later != 0).then(|| later.trailing_zeros() + 1)
        });
    }
    if found == wanted {
        bonus += NAMED;
        if adjacent != 0 {
            bonus += ADJACENT;
        } else if ordered.is_some() {
            bonus += ORDERED;
        }
    }
    let own = name.iter().filter(|term| term & STOP_WORD_FLAG == 0).count();
    if found < wanted && found > 0 && says_all(name, slots) {
        bonus += PLACED;
    }
    bonus += COVERED * found as f32 / own.max(found).max(1) as f32;
    Worth {
        bonus,
        name: 0,
        first,
    }
}

/// Whether the words say every word of the name's own.
fn says_all(name: TermList<'_>, slots: &Slots) -> bool {
    name.iter().all(|marked| {
        marked & STOP_WORD_FLAG != 0
            || slots
                .required()
                .any(|slot| slots.has(slot, marked & !STOP_WORD_FLAG))
    })
}

/// The places among the name's own words where `slot` fits, as bits; noise stands where the next own word does.
fn places(name: TermList<'_>, slots: &Slots, slot: &Slot) -> u64 {
    let (mut at, mut bits) = (0u32, 0);
    for marked in name.iter() {
        if slots.has(slot, marked & !STOP_WORD_FLAG) {
            bits |= 1u64.checked_shl(at).unwrap_or(0);
        }
        at += u32::from(marked & STOP_WORD_FLAG == 0);
    }
    bits
}
