//! The last requests that failed on our side, in memory: enough to find them in the log.

use platform::ids::KeyId;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

const KEPT: usize = 100;

/// One request that failed.
#[derive(Clone, Debug)]
pub struct FailedRequest {
    pub at: i64,
    pub request: String,
    pub method: String,
    /// A pattern of ours, never an address as sent.
    pub route: String,
    pub status: u16,
    pub key: Option<KeyId>,
}

/// The last of them.
#[derive(Debug, Default)]
pub struct RecentErrors(Mutex<VecDeque<FailedRequest>>);

impl RecentErrors {
    pub fn note(&self, failed: FailedRequest) {
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == KEPT {
            recent.pop_back();
        }
        recent.push_front(failed);
    }

    /// The newest first.
    pub fn list(&self) -> Vec<FailedRequest> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept() {
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
