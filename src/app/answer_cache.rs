//! A cache of recent results of the directory: search hits, details and profile pages.
//!
//! People type the same prefixes and read the same profiles, so a few keys make up much of the traffic. Every entry
//! belongs to one state of the directory and is never returned for another one.

use crate::app::compressible_text::CompressibleText;
use axum::body::Bytes;
use directory::query::search::{AllHits, HitRef};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{Equivalent, OptionsBuilder, Weighter};
use std::hash::{Hash, RandomState};
use std::sync::Arc;

const SHARDS: usize = 16;

/// The approximate size of an entry, by which the cache sizes its tables.
const TYPICAL_ENTRY_BYTES: usize = 2_048;

/// The bookkeeping bytes of an entry, roughly.
const ENTRY_OVERHEAD_BYTES: usize = 128;

/// A value that can be cached: it knows its size and is cheap to clone.
pub trait Weighted: Clone {
    /// Returns the number of bytes that the value holds.
    fn bytes(&self) -> usize;

    /// Returns the value without unused capacity.
    #[must_use]
    fn trimmed(&self) -> Self {
        self.clone()
    }
}

impl Weighted for Bytes {
    fn bytes(&self) -> usize {
        self.len()
    }

    fn trimmed(&self) -> Bytes {
        Bytes::copy_from_slice(self)
    }
}

impl Weighted for CompressibleText {
    fn bytes(&self) -> usize {
        // The compressed copy is made later; it has a fifth to a third of the bytes.
        self.plain().len() + self.plain().len() / 3
    }

    fn trimmed(&self) -> CompressibleText {
        CompressibleText::new(self.plain().trimmed())
    }
}

impl Weighted for Arc<[HitRef]> {
    fn bytes(&self) -> usize {
        // Most hits share their words, so those of the first hit count for all.
        let words = self
            .first()
            .map_or(0, |hit| hit.words.iter().map(|word| word.len() + 40).sum());
        size_of_val(&**self) + words
    }
}

impl Weighted for AllHits {
    fn bytes(&self) -> usize {
        self.hits.bytes() + size_of::<bool>()
    }
}

/// A key of the cache, which knows its size.
pub trait CacheKey: Hash + Eq {
    /// Returns the number of bytes that the key holds.
    fn bytes(&self) -> usize;
}

impl CacheKey for Box<str> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

/// A concurrent cache that holds a limited number of bytes.
#[derive(Debug)]
pub struct AnswerCache<V, K = Box<str>> {
    /// `None` if nothing is cached.
    entries: Option<Cache<K, Entry<V>, EntryWeighter, RandomState>>,
}

#[derive(Clone, Debug)]
struct Entry<V> {
    /// The state of the directory that the value was made from.
    tag: Arc<str>,
    value: V,
}

#[derive(Clone, Debug)]
struct EntryWeighter;

impl<V: Weighted, K: CacheKey> Weighter<K, Entry<V>> for EntryWeighter {
    fn weight(&self, key: &K, entry: &Entry<V>) -> u64 {
        (ENTRY_OVERHEAD_BYTES + key.bytes() + entry.value.bytes()) as u64
    }
}

impl<V: Weighted, K: CacheKey> AnswerCache<V, K> {
    /// Creates a cache that holds at most `bytes`; with 0 it caches nothing.
    pub fn new(bytes: usize) -> AnswerCache<V, K> {
        let options = OptionsBuilder::new()
            .shards(SHARDS)
            .estimated_items_capacity(bytes / TYPICAL_ENTRY_BYTES)
            .weight_capacity((bytes - bytes % SHARDS) as u64)
            .build()
            .expect("the capacities are set");
        // Keys come from the public, so they are hashed with the standard library's protected hasher.
        let create = || {
            Cache::with_options(
                options,
                EntryWeighter,
                RandomState::new(),
                DefaultLifecycle::default(),
            )
        };
        AnswerCache {
            entries: (bytes > 0).then(create),
        }
    }

    /// Returns the cached value of `key` in the state `tag`.
    pub fn get<Q>(&self, key: &Q, tag: Option<&Arc<str>>) -> Option<V>
    where
        Q: Hash + Equivalent<K> + ?Sized,
    {
        let entry = self.entries.as_ref()?.get(key)?;
        (Some(&entry.tag) == tag).then_some(entry.value)
    }

    /// Returns the value of `key` in the state `tag`, from the cache or else from `make`.
    ///
    /// Without a tag nothing is cached, and neither is an error.
    pub fn get_or_insert_with<'q, E, Q>(
        &self,
        key: &'q Q,
        tag: Option<&Arc<str>>,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, E>
    where
        Q: Hash + Equivalent<K> + ?Sized,
        K: From<&'q Q>,
    {
        let (Some(entries), Some(tag)) = (&self.entries, tag) else {
            return make();
        };
        if let Some(value) = self.get(key, Some(tag)) {
            return Ok(value);
        }
        let value = make()?;
        let entry = Entry {
            tag: Arc::clone(tag),
            value: value.trimmed(),
        };
        entries.insert(key.into(), entry);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn tag(state: u8) -> Arc<str> {
        format!("\"{state}\"").into()
    }

    fn get(cache: &AnswerCache<Bytes>, key: &str, state: Option<u8>, made: &str) -> Bytes {
        let make = || Ok::<_, Infallible>(Bytes::copy_from_slice(made.as_bytes()));
        let Ok(value) = cache.get_or_insert_with(key, state.map(tag).as_ref(), make);
        value
    }

    #[test]
    fn a_value_is_made_once_for_each_state_of_the_directory() {
        let cache = AnswerCache::new(1 << 20);
        let get = |state, made| get(&cache, "red cro", Some(state), made);
        assert_eq!(get(1, "first"), "first");
        assert_eq!(get(1, "second"), "first");
        assert_eq!(get(2, "changed"), "changed");
    }

    #[test]
    fn without_a_state_or_without_capacity_nothing_is_cached() {
        let cache = AnswerCache::new(1 << 20);
        assert_eq!(get(&cache, "a", None, "1"), "1");
        assert_eq!(get(&cache, "a", None, "2"), "2");
        let cache = AnswerCache::new(0);
        assert_eq!(get(&cache, "a", Some(1), "1"), "1");
        assert_eq!(get(&cache, "a", Some(1), "2"), "2");
    }

    #[test]
    fn errors_are_not_cached() {
        let cache = AnswerCache::new(1 << 20);
        let failed = cache.get_or_insert_with("a", Some(&tag(1)), || Err::<Bytes, _>("failed"));
        assert_eq!(failed, Err("failed"));
        assert_eq!(get(&cache, "a", Some(1), "made"), "made");
    }

    proptest! {
        #[test]
        fn a_cache_stays_within_its_bytes_and_never_mixes_up_keys_or_states(
            gets in proptest::collection::vec((0u16..300, 0u8..3, 0usize..900), 1..400)
        ) {
            let cache = AnswerCache::new(64 * 1024);
            for (key, state, length) in gets {
                let made = format!("{key} in {state} {}", "x".repeat(length));
                let value = get(&cache, &key.to_string(), Some(state), &made);
                let beginning = format!("{key} in {state} ");
                prop_assert!(value.starts_with(beginning.as_bytes()));
                prop_assert!(cache.entries.as_ref().unwrap().weight() <= 64 * 1024);
            }
        }
    }
}
