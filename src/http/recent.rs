//! Answers given a moment ago. People type the same beginnings and read the same profiles, so a few answers make up
//! much of all; they are kept as they were sent, each for the state of the directory that it was made from.
//!
//! Two generations in each shard: what is asked for again moves to the young one, and when that is full the old one
//! goes. What is held stays within a fixed number of bytes, whatever is asked.

use axum::body::Bytes;
use axum::http::HeaderValue;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

const SHARDS: usize = 16;

/// Bookkeeping of one answer, roughly.
const OVERHEAD: usize = 128;

/// The answers that are kept.
#[derive(Debug)]
pub struct Recent {
    /// Bytes of one generation of one shard.
    most: usize,
    hasher: RandomState,
    shards: Box<[Mutex<Shard>]>,
}

#[derive(Debug, Default)]
struct Shard {
    young: Generation,
    old: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    answers: HashMap<Box<str>, Kept>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct Kept {
    tag: HeaderValue,
    body: Bytes,
}

impl Recent {
    /// Keeps answers of at most `bytes` in all; 0 keeps none.
    pub fn new(bytes: usize) -> Recent {
        Recent {
            most: bytes / (2 * SHARDS),
            hasher: RandomState::new(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    /// The answer to `question` in the state `tag`: the one kept, or else the one that `make` makes.
    pub fn answer(&self, question: &str, tag: Option<&HeaderValue>, make: impl FnOnce() -> Vec<u8>) -> Bytes {
        let made = self.try_answer(question, tag, || Ok::<_, Infallible>(make()));
        made.unwrap_or_else(|never| match never {})
    }

    /// The same, where making may fail; then nothing is kept.
    pub fn try_answer<E>(
        &self,
        question: &str,
        tag: Option<&HeaderValue>,
        make: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Bytes, E> {
        let Some(tag) = tag.filter(|_| self.most > 0) else {
            return make().map(Bytes::from);
        };
        let shard = &self.shards[self.hasher.hash_one(question) as usize % SHARDS];
        let found = lock(shard).find(question, self.most);
        if let Some(kept) = found.filter(|kept| kept.tag == tag) {
            return Ok(kept.body);
        }
        let mut body = make()?;
        body.shrink_to_fit();
        let kept = Kept {
            tag: tag.clone(),
            body: body.into(),
        };
        lock(shard).keep(question.into(), kept.clone(), self.most);
        Ok(kept.body)
    }
}

impl Shard {
    fn find(&mut self, question: &str, most: usize) -> Option<Kept> {
        if let Some(kept) = self.young.answers.get(question) {
            return Some(kept.clone());
        }
        let (question, kept) = self.old.answers.remove_entry(question)?;
        self.keep(question, kept.clone(), most);
        Some(kept)
    }

    fn keep(&mut self, question: Box<str>, kept: Kept, most: usize) {
        let around = question.len() + OVERHEAD;
        let bytes = around + kept.body.len();
        if bytes > most {
            return;
        }
        if self.young.bytes + bytes > most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.bytes += bytes;
        if let Some(former) = self.young.answers.insert(question, kept) {
            self.young.bytes -= around + former.body.len();
        }
    }
}

/// A panic elsewhere leaves a shard whole: every step stores a whole answer.
fn lock(shard: &Mutex<Shard>) -> std::sync::MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tag(state: u8) -> HeaderValue {
        HeaderValue::from_str(&format!("\"{state}\"")).unwrap()
    }

    #[test]
    fn an_answer_is_made_once_for_each_state_of_the_directory() {
        let recent = Recent::new(1 << 20);
        let ask = |state, made: &str| recent.answer("red cro", Some(&tag(state)), || made.into());
        assert_eq!(ask(1, "first"), "first");
        assert_eq!(ask(1, "again"), "first");
        assert_eq!(ask(2, "changed"), "changed");
    }

    #[test]
    fn without_a_state_or_without_room_every_answer_is_made() {
        let recent = Recent::new(1 << 20);
        assert_eq!(recent.answer("a", None, || b"1".to_vec()), "1");
        assert_eq!(recent.answer("a", None, || b"2".to_vec()), "2");
        let recent = Recent::new(0);
        assert_eq!(recent.answer("a", Some(&tag(1)), || b"1".to_vec()), "1");
        assert_eq!(recent.answer("a", Some(&tag(1)), || b"2".to_vec()), "2");
    }

    fn held(recent: &Recent) -> usize {
        let of = |generation: &Generation| -> usize {
            let answers = generation.answers.iter();
            answers
                .map(|(question, kept)| question.len() + kept.body.len() + OVERHEAD)
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
                let question = format!("{term}");
                let body = recent.answer(&question, Some(&tag(state)), || {
                    format!("{term} in {state} {}", "x".repeat(length)).into_bytes()
                });
                let beginning = format!("{term} in {state} ");
                prop_assert!(body.starts_with(beginning.as_bytes()));
                prop_assert!(held(&recent) <= 64 * 1024);
            }
        }
    }
}
