//! A map that many threads use at once without standing in each other's way.
//!
//! Entries lie in many small shards. Finding one takes the lock of its shard for reading alone, and the entry is then
//! used outside of it, so an entry that is used without pause does not slow the others.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

const SHARDS: usize = 256;

type Shard<K, V> = RwLock<HashMap<K, Arc<V>>>;

/// Shared entries by key, made when they are first asked for.
#[derive(Debug)]
pub struct ShardedMap<K, V> {
    shards: Box<[Shard<K, V>]>,
    hasher: RandomState,
}

impl<K: Eq + Hash + Copy, V: Default> Default for ShardedMap<K, V> {
    fn default() -> Self {
        ShardedMap {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            hasher: RandomState::new(),
        }
    }
}

impl<K: Eq + Hash + Copy, V: Default> ShardedMap<K, V> {
    /// The entry of a key.
    pub fn get(&self, key: K) -> Arc<V> {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let known = shard.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = known.get(&key) {
            return Arc::clone(entry);
        }
        drop(known);
        let mut entries = shard.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(entries.entry(key).or_default())
    }

    /// Shows every entry.
    pub fn each(&self, mut show: impl FnMut(K, &V)) {
        for shard in &self.shards {
            let entries = shard.read().unwrap_or_else(PoisonError::into_inner);
            entries.iter().for_each(|(key, entry)| show(*key, entry));
        }
    }

    /// Drops the entries that are not to be kept; one that somebody holds stays, since more may be done to it.
    pub fn retain(&self, mut keep: impl FnMut(K, &V) -> bool) {
        for shard in &self.shards {
            let mut entries = shard.write().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|key, entry| Arc::strong_count(entry) > 1 || keep(*key, entry));
            if entries.capacity() > 4 * entries.len() {
                entries.shrink_to_fit();
            }
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        let lengths = self.shards.iter();
        lengths
            .map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).len())
            .sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn an_entry_is_made_once_and_dropped_when_nobody_holds_it() {
        let shards: ShardedMap<u32, Mutex<u32>> = ShardedMap::default();
        let held = shards.get(1);
        *held.lock().unwrap() += 1;
        *shards.get(1).lock().unwrap() += 1;
        assert_eq!(*held.lock().unwrap(), 2);
        shards.retain(|_, _| false);
        assert_eq!(shards.len(), 1);
        drop(held);
        shards.retain(|_, _| false);
        assert!(shards.is_empty());
    }

    #[test]
    fn keys_in_a_row_spread_over_the_shards() {
        let shards: ShardedMap<u32, ()> = ShardedMap::default();
        (0..10_000).for_each(|key| _ = shards.get(key));
        let fullest = shards
            .shards
            .iter()
            .map(|shard| shard.read().unwrap().len())
            .max();
        assert!(fullest < Some(100), "{fullest:?} of 10,000 entries share a lock");
    }
}
