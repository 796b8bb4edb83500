//! A value that is computed again after some time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The last value and when it was computed.
#[derive(Debug)]
pub struct TimedCache<T>(Mutex<Option<(Instant, Arc<T>)>>);

impl<T> Default for TimedCache<T> {
    fn default() -> TimedCache<T> {
        TimedCache(Mutex::new(None))
    }
}

impl<T> TimedCache<T> {
    /// Returns the value unless it is older than `max_age`. The caller that gets `None` computes it, and others get the old
    /// value meanwhile.
    pub fn get(&self, now: Instant, max_age: Duration) -> Option<Arc<T>> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (computed_at, value) = cached.as_mut()?;
        if now.saturating_duration_since(*computed_at) > max_age {
            *computed_at = now;
            return None;
        }
        Some(Arc::clone(value))
    }

    /// Stores a value that was computed now.
    pub fn set(&self, now: Instant, value: T) -> Arc<T> {
        let value = Arc::new(value);
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *cached = Some((now, Arc::clone(&value)));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_value_is_computed_again_by_one_caller_only() {
        let (cache, start) = (TimedCache::default(), Instant::now());
        let max_age = Duration::from_secs(5);
        assert_eq!(cache.get(start, max_age), None);
        cache.set(start, 1);
        assert_eq!(cache.get(start + max_age, max_age).as_deref(), Some(&1));
        let later = start + Duration::from_secs(6);
        assert_eq!(cache.get(later, max_age), None);
        assert_eq!(cache.get(later, max_age).as_deref(), Some(&1));
        cache.set(later, 2);
        assert_eq!(cache.get(later, max_age).as_deref(), Some(&2));
    }
}
