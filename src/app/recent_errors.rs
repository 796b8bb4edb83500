//! The latest requests that failed with a server error, in memory: enough to find them in the log.

use platform::ids::KeyId;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

const CAPACITY: usize = 100;

/// A request that failed with a server error.
#[derive(Clone, Debug)]
pub struct FailedRequest {
    pub at: i64,
    pub request: String,
    pub method: String,
    /// The pattern of the route, never the path that was sent.
    pub route: String,
    pub status: u16,
    pub key: Option<KeyId>,
}

/// The latest failed requests.
#[derive(Debug, Default)]
pub struct RecentErrors(Mutex<VecDeque<FailedRequest>>);

impl RecentErrors {
    /// Adds a request and drops the oldest one if the list is full.
    pub fn note(&self, failed: FailedRequest) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == CAPACITY {
            recent.pop_back();
        }
        recent.push_front(failed);
    }

    /// Returns the requests, newest first.
    pub fn list(&self) -> Vec<FailedRequest> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_requests_remain() {
        let recent = RecentErrors::default();
        for at in 0..150 {
            recent.note(FailedRequest {
                at,
                request: String::new(),
                method: String::new(),
                route: String::new(),
                status: 500,
                key: None,
            });
        }
        let listed = recent.list();
        assert_eq!((listed.len(), listed[0].at, listed[99].at), (100, 149, 50));
    }
}
