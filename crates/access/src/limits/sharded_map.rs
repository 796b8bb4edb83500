//! A concurrent map with one lock per shard.
//!
//! A lookup only takes the read lock of one shard, and releases it before the entry is used. So a busy entry does not
//! slow down the others.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

const SHARDS: usize = 256;

type Shard<K, V> = RwLock<HashMap<K, Arc<V>>>;

/// A concurrent map whose entries are created when they are first used.
#[derive(Debug)]
pub(crate) struct ShardedMap<K, V> {
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
    /// Returns the entry of a key, and creates it if necessary.
    pub(crate) fn get(&self, key: K) -> Arc<V> {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let entries = shard.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = entries.get(&key) {
            return Arc::clone(entry);
        }
        drop(entries);
        let mut entries = shard.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(entries.entry(key).or_default())
    }

    /// Returns whether there is an entry for a key.
    pub(crate) fn contains(&self, key: K) -> bool {
        let shard = &self.shards[self.hasher.hash_one(key) as usize % SHARDS];
        let entries = shard.read().unwrap_or_else(PoisonError::into_inner);
        entries.contains_key(&key)
    }

    /// Calls a function for every entry.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(K, &V)) {
        for shard in &self.shards {
            let entries = shard.read().unwrap_or_else(PoisonError::into_inner);
            entries.iter().for_each(|(key, entry)| visit(*key, entry));
        }
    }

    /// Removes the entries for which `keep` returns `false`, except those that are in use.
    pub(crate) fn retain(&self, mut keep: impl FnMut(K, &V) -> bool) {
        for shard in &self.shards {
            let mut entries = shard.write().unwrap_or_else(PoisonError::into_inner);
            entries.retain(|key, entry| Arc::strong_count(entry) > 1 || keep(*key, entry));
            if entries.capacity() > 4 * entries.len() {
                entries.shrink_to_fit();
            }
        }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        let lengths = self.shards.iter();
        lengths
            .map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).len())
            .sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn an_entry_is_created_once_and_removed_only_when_it_is_not_in_use() {
        let map: ShardedMap<u32, Mutex<u32>> = ShardedMap::default();
        let entry = map.get(1);
        *entry.lock().unwrap() += 1;
        *map.get(1).lock().unwrap() += 1;
        assert_eq!(*entry.lock().unwrap(), 2);
        map.retain(|_, _| false);
        assert_eq!(map.len(), 1);
        drop(entry);
        map.retain(|_, _| false);
        assert!(map.is_empty());
    }

    #[test]
    fn consecutive_keys_are_spread_over_the_shards() {
        let map: ShardedMap<u32, ()> = ShardedMap::default();
        (0..10_000).for_each(|key| _ = map.get(key));
        let fullest = map.shards.iter().map(|shard| shard.read().unwrap().len()).max();
        assert!(fullest < Some(100), "{fullest:?} of 10,000 entries share a lock");
    }
}
