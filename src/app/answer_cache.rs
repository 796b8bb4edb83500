//! What was asked for a moment ago. People type the same beginnings and read the same profiles, so a few questions make
//! up much of all; what was made for them is kept, each for the state of the directory that it was made from.
//!
//! Two generations in each shard: what is asked for again moves to the young one, and when that is full the old one
//! goes. What is held stays within a fixed number of bytes, whatever is asked.

use crate::directory::search::Spot;
use axum::body::Bytes;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

const SHARDS: usize = 16;

/// Bookkeeping of one answer, roughly.
const OVERHEAD: usize = 128;

/// What can be kept: a clone is cheap.
pub trait Keep: Clone {
    /// Bytes that it takes.
    fn size(&self) -> usize;

    /// The same without room to spare.
    #[must_use]
    fn fitted(&self) -> Self {
        self.clone()
    }
}

impl Keep for Bytes {
    fn size(&self) -> usize {
        self.len()
    }

    fn fitted(&self) -> Bytes {
        Bytes::copy_from_slice(self)
    }
}

/// What a search found, kept for the next who asks the same.
impl Keep for Arc<[Spot]> {
    fn size(&self) -> usize {
        // The words are mostly shared; those of the first stand for all.
        let words = self
            .first()
            .map_or(0, |spot| spot.words.iter().map(|word| word.len() + 40).sum());
        size_of_val(&**self) + words
    }
}

/// What is kept.
#[derive(Debug)]
pub struct Recent<V> {
    /// Bytes of one generation of one shard.
    most: usize,
    hasher: RandomState,
    shards: Box<[Mutex<Shard<V>>]>,
}

#[derive(Debug)]
struct Shard<V> {
    young: Generation<V>,
    old: Generation<V>,
}

#[derive(Debug)]
struct Generation<V> {
    answers: HashMap<Box<str>, Kept<V>>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Kept<V> {
    tag: Arc<str>,
    answer: V,
}

impl<V: Keep> Recent<V> {
    /// Keeps answers of at most `bytes` in all; 0 keeps none.
    pub fn new(bytes: usize) -> Recent<V> {
        Recent {
            most: bytes / (2 * SHARDS),
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// The answer to `question` in the state `tag`: the one kept, or else the one that `make` makes. Where that fails
    /// nothing is kept.
    pub fn answer<E>(
        &self,
        question: &str,
        tag: Option<&Arc<str>>,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E> {
        let Some(tag) = tag.filter(|_| self.most > 0) else {
            return make();
        };
        let shard = &self.shards[self.hasher.hash_one(question) as usize % SHARDS];
        let found = lock(shard).find(question, self.most);
        if let Some(kept) = found.filter(|kept| kept.tag == *tag) {
            return Ok(kept.answer);
        }
        let answer = make()?;
        let kept = Kept {
            tag: Arc::clone(tag),
            answer: answer.fitted(),
        };
        lock(shard).keep(question.into(), kept, self.most);
        Ok(answer)
    }
}

impl<V> Default for Shard<V> {
    fn default() -> Shard<V> {
        Shard {
            young: Generation::default(),
            old: Generation::default(),
        }
    }
}

impl<V> Default for Generation<V> {
    fn default() -> Generation<V> {
        Generation {
            answers: HashMap::new(),
            bytes: 0,
        }
    }
}

impl<V: Keep> Shard<V> {
    fn find(&mut self, question: &str, most: usize) -> Option<Kept<V>> {
        if let Some(kept) = self.young.answers.get(question) {
            return Some(kept.clone());
        }
        let (question, kept) = self.old.answers.remove_entry(question)?;
        self.keep(question, kept.clone(), most);
        Some(kept)
    }

    fn keep(&mut self, question: Box<str>, kept: Kept<V>, most: usize) {
        let around = question.len() + OVERHEAD;
        let bytes = around + kept.answer.size();
        if bytes > most {
            return;
        }
        if self.young.bytes + bytes > most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.bytes += bytes;
        if let Some(former) = self.young.answers.insert(question, kept) {
            self.young.bytes -= around + former.answer.size();
        }
    }
}

/// A panic elsewhere leaves a shard whole: every step stores a whole answer.
fn lock<V>(shard: &Mutex<Shard<V>>) -> std::sync::MutexGuard<'_, Shard<V>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn tag(state: u8) -> Arc<str> {
        format!("\"{state}\"").into()
    }

    fn ask(recent: &Recent<Bytes>, question: &str, state: Option<u8>, made: &str) -> Bytes {
        let make = || Ok::<_, Infallible>(Bytes::copy_from_slice(made.as_bytes()));
        recent.answer(question, state.map(tag).as_ref(), make).unwrap()
    }

    #[test]
    fn an_answer_is_made_once_for_each_state_of_the_directory() {
        let recent = Recent::new(1 << 20);
        let ask = |state, made| ask(&recent, "red cro", Some(state), made);
        assert_eq!(ask(1, "first"), "first");
        assert_eq!(ask(1, "again"), "first");
        assert_eq!(ask(2, "changed"), "changed");
    }

    #[test]
    fn without_a_state_or_without_room_every_answer_is_made() {
        let recent = Recent::new(1 << 20);
        assert_eq!(ask(&recent, "a", None, "1"), "1");
        assert_eq!(ask(&recent, "a", None, "2"), "2");
        let recent = Recent::new(0);
        assert_eq!(ask(&recent, "a", Some(1), "1"), "1");
        assert_eq!(ask(&recent, "a", Some(1), "2"), "2");
    }

    #[test]
    fn what_failed_is_not_kept() {
        let recent = Recent::new(1 << 20);
        let failed = recent.answer("a", Some(&tag(1)), || Err::<Bytes, _>("failed"));
        assert_eq!(failed, Err("failed"));
        assert_eq!(ask(&recent, "a", Some(1), "made"), "made");
    }

    fn held(recent: &Recent<Bytes>) -> usize {
        let of = |generation: &Generation<Bytes>| -> usize {
            let answers = generation.answers.iter();
            answers
                .map(|(question, kept)| question.len() + kept.answer.len() + OVERHEAD)
                .sum()
        };
        recent
            .shards
            .iter()
            .map(|shard| lock(shard))
            .map(|shard| of(&shard.young) + of(&shard.old))
            .sum()
    }

    proptest! {
        #[test]
        fn what_is_held_stays_within_its_bytes_and_is_never_of_another_question(
            asked in proptest::collection::vec((0u16..300, 0u8..3, 0usize..900), 1..400)
        ) {
            let recent = Recent::new(64 * 1024);
            for (term, state, length) in asked {
                let made = format!("{term} in {state} {}", "x".repeat(length));
                let body = ask(&recent, &term.to_string(), Some(state), &made);
                let beginning = format!("{term} in {state} ");
                prop_assert!(body.starts_with(beginning.as_bytes()));
                prop_assert!(held(&recent) <= 64 * 1024);
            }
        }
    }
}
