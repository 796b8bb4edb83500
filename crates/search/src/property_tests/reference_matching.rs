//! Names, words and what a match is worth, said plainly.

use std::collections::BTreeSet;

use super::Body;
use crate::query::Tier;
use crate::search::ranking;
use crate::text::english;
use crate::text::tokenizer::Tokens;

/// One typed word and the words of the dictionary it may stand for.
#[derive(Clone, Debug, Default)]
pub struct Slot {
    pub typed: BTreeSet<String>,
    pub others: BTreeSet<String>,
    pub exact: Option<String>,
    pub optional: bool,
    pub article: bool,
    /// The typed word, if it is a single one, and whether it is the last.
    pub text: Option<String>,
    pub last: bool,
}

impl Slot {
    pub fn has(&self, word: &str) -> bool {
        self.typed.contains(word) || self.others.contains(word)
    }
}

/// A name in its parts.
pub struct Name {
    pub all: Vec<String>,
    pub spine: Vec<String>,
    pub after: Option<String>,
    pub article: bool,
    pub shown: bool,
    pub alias: bool,
}

pub fn fold(text: &str) -> Vec<String> {
    Tokens::new(text).iter().map(str::to_owned).collect()
}

pub fn names(body: &Body) -> Vec<Name> {
    let mut names: Vec<Name> = Vec::new();
    let shown = [(&body.name, true, false)].into_iter();
    let aliases = body.aliases.iter().map(|name| (name, false, true));
    let others = body.also.iter().map(|name| (name, false, false));
    for (text, shown, alias) in shown.chain(aliases).chain(others) {
        let all = fold(text);
        if names.iter().any(|name| name.all == all) {
            continue;
        }
        let start = usize::from(all.len() > 1 && all[0] == "the");
        let mut end = all.len();
        while end > start + 1 && english::is_legal_suffix(&all[end - 1]) {
            end -= 1;
        }
        names.push(Name {
            spine: all[start..end].to_vec(),
            after: all.get(end).cloned(),
            article: start == 1,
            all,
            shown,
            alias,
        });
    }
    names
}

pub fn all_words(body: &Body) -> Vec<String> {
    let names = names(body).into_iter().flat_map(|name| name.all);
    names
        .chain(body.place.iter().flat_map(|place| fold(place)))
        .collect()
}

pub fn meet(one: &Slot, other: &Slot) -> bool {
    one.typed.iter().chain(&one.others).any(|word| other.has(word))
}

/// What a document is worth that has all required words somewhere.
pub fn judge(body: &Body, slots: &[Slot], required: &[&Slot]) -> (f32, Tier) {
    let mut best = (f32::NEG_INFINITY, Tier::Anywhere);
    for name in names(body) {
        let lead = slots.iter().find(|slot| !slot.article).unwrap_or(&slots[0]);
        let first = lead.has(&name.spine[0]);
        let mut bonus = if first { ranking::FIRST } else { 0.0 };
        let mut own = 0;
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); required.len()];
        for word in &name.all {
            for (slot, places) in required.iter().zip(&mut places) {
                if slot.has(word) {
                    places.push(own);
                }
            }
            own += usize::from(!english::is_stop_word(word));
        }
        let found = places.iter().filter(|places| !places.is_empty()).count();
        if found == required.len() {
            bonus += ranking::NAMED;
            let adjacent = places[0]
                .iter()
                .any(|&from| (0..places.len()).all(|at| places[at].contains(&(from + at))));
            let mut after = Some(0);
            for places in &places {
                after =
                    after.and_then(|from| places.iter().find(|&&place| place >= from).map(|place| place + 1));
            }
            if adjacent {
                bonus += ranking::ADJACENT;
            } else if after.is_some() {
                bonus += ranking::ORDERED;
            }
        }
        let said = |word: &String| english::is_stop_word(word) || required.iter().any(|slot| slot.has(word));
        if (1..required.len()).contains(&found) && name.all.iter().all(said) {
            bonus += ranking::PLACED;
        }
        bonus += ranking::COVERED * found as f32 / own.max(found).max(1) as f32;
        if !name.shown && !name.alias {
            bonus = (bonus + ranking::OTHER_NAME).max(0.0);
        }
        if bonus > best.0 {
            best = (bonus, if first { Tier::First } else { Tier::Anywhere });
        }
    }
    best
}

/// Whether `typed` is `word` with exactly one mistake, or, with `open`, begins so.
pub fn near(typed: &str, word: &str, open: bool) -> bool {
    let typed: Vec<char> = typed.chars().collect();
    if typed.len() < 4 {
        return false;
    }
    let fits = |meant: &[char]| {
        let meant: String = meant.iter().collect();
        if open {
            word.starts_with(&meant)
        } else {
            word == meant
        }
    };
    let last = typed.len() - 1;
    if open && fits(&typed[..last]) {
        return true;
    }
    let changed = |from: usize, change: &dyn Fn(&mut Vec<char>, usize)| {
        (from..typed.len()).any(|at| {
            let mut meant = typed.clone();
            change(&mut meant, at);
            meant != typed && fits(&meant)
        })
    };
    let swapped = (0..last).any(|at| {
        let mut meant = typed.clone();
        meant.swap(at, at + 1);
        meant != typed && fits(&meant)
    });
    let added = changed(1, &|meant, at| {
        meant.remove(at);
    });
    let letters = || ('a'..='z').chain('0'..='9');
    let replaced = letters().any(|letter| changed(1, &|meant, at| meant[at] = letter));
    let missing = letters().any(|letter| {
        (1..=typed.len()).any(|at| {
            let mut meant = typed.clone();
            meant.insert(at, letter);
            fits(&meant)
        })
    });
    swapped || added || replaced || missing
}
