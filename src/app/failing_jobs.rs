//! The background jobs that fail at the moment, in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A background job that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingJob {
    pub job: &'static str,
    /// Since when, in milliseconds since the Unix epoch.
    pub since: i64,
    pub error: String,
}

/// The background jobs that fail at the moment.
#[derive(Debug, Default)]
pub struct FailingJobs(Mutex<BTreeMap<&'static str, FailingJob>>);

impl FailingJobs {
    /// Records that a job has failed. The time of the first failure stays.
    pub fn add(&self, job: &'static str, error: String, now: i64) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = jobs.get(job).map_or(now, |failing| failing.since);
        jobs.insert(job, FailingJob { job, since, error });
    }

    /// Records that a job works.
    pub fn remove(&self, job: &'static str) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.remove(job);
    }

    /// Returns the jobs by name.
    pub fn list(&self) -> Vec<FailingJob> {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_listed_from_its_first_failure_until_it_works_again() {
        let jobs = FailingJobs::default();
        jobs.add("keys", "no connection".to_owned(), 5);
        jobs.add("keys", "disk full".to_owned(), 9);
        let failing = FailingJob {
            job: "keys",
            since: 5,
            error: "disk full".to_owned(),
        };
        assert_eq!(jobs.list(), [failing]);
        jobs.remove("keys");
        assert_eq!(jobs.list(), []);
    }
}
