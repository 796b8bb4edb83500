//! Idempotency keys: a retry with the same key gets the response to the first request, and the work is done once.
//!
//! The response is stored for 24 hours, in the transaction that does the work. Rejected requests are not stored. A
//! retry is rejected if the first request is still in progress in this process. In another process it waits for the
//! first request and gets its response.

pub mod store;

use crate::error::Error;
use platform::ids::AccountId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A request with an idempotency key.
#[derive(Clone, Debug)]
pub struct IdempotentRequest {
    pub account: AccountId,
    /// The idempotency key.
    pub name: String,
    /// The SHA-256 of the request body.
    pub hash: [u8; 32],
}

/// A response that a retry gets byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredResponse {
    pub location: String,
    pub body: String,
}

/// The keys whose first request is in progress in this process.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashSet<(AccountId, String)>>>);

/// Marks a request as in progress until it is dropped.
#[derive(Debug)]
pub struct InFlightGuard {
    in_flight: InFlight,
    key: (AccountId, String),
}

impl InFlight {
    /// Marks a request as in progress.
    ///
    /// # Errors
    ///
    /// [`Error::InProgress`] if another request with the same key is in progress.
    pub fn begin(&self, request: &IdempotentRequest) -> Result<InFlightGuard, Error> {
        let key = (request.account, request.name.clone());
        if !self.lock().insert(key.clone()) {
            return Err(Error::InProgress);
        }
        Ok(InFlightGuard {
            in_flight: self.clone(),
            key,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(AccountId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.in_flight.lock().remove(&self.key);
    }
}
