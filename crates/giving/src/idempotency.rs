//! Idempotency keys: a request that is sent again gets the first response again, and its work is done once.
//!
//! The response is stored for 24 hours, in the transaction of the work that it answers. Refused requests are not
//! stored. While the first request is in progress in this process, a second one is refused; on another server it waits
//! for the first and gets its response.

use crate::error::Error;
use platform::db::{Db, StoreError, Tx, read, run};
use platform::ids::AccountId;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const RETENTION_MILLIS: i64 = 24 * 60 * 60 * 1_000;

const FIND: &str = "select hash, location, body from idempotency_keys \
     where account_id = $1 and name = $2 and created_at > $3";
const REMOVE_OLD: &str = "delete from idempotency_keys where created_at <= $1";
const INSERT: &str = "insert into idempotency_keys (account_id, name, hash, location, body, created_at) \
     values ($1, $2, $3, $4, $5, $6)";

/// A request with an idempotency key.
#[derive(Clone, Debug)]
pub struct IdempotentRequest {
    pub account: AccountId,
    /// The idempotency key.
    pub name: String,
    /// The SHA-256 of the request body.
    pub hash: [u8; 32],
}

/// A response as it is sent again, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredResponse {
    pub location: String,
    pub body: String,
}

/// `hash`, `location` and `body`.
type Row = (Vec<u8>, String, String);

impl IdempotentRequest {
    /// Finds the response to the first request with this key.
    ///
    /// # Errors
    ///
    /// [`Error::Mismatch`] if the first request was a different one.
    pub async fn find(&self, db: &Db, now: i64) -> Result<Option<StoredResponse>, Error> {
        let row: Option<Row> = read!(db, c => sqlx::query_as(FIND)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(now - RETENTION_MILLIS)
            .fetch_optional(c)
            .await)?;
        self.compare(row)
    }

    /// Does the same as [`find`](IdempotentRequest::find) within a transaction.
    pub async fn find_in(&self, tx: &mut Tx, now: i64) -> Result<Option<StoredResponse>, StoreError<Error>> {
        let row: Option<Row> = run!(tx, c => sqlx::query_as(FIND)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(now - RETENTION_MILLIS)
            .fetch_optional(c)
            .await)?;
        self.compare(row).map_err(StoreError::Refused)
    }

    fn compare(&self, row: Option<Row>) -> Result<Option<StoredResponse>, Error> {
        match row {
            None => Ok(None),
            Some((hash, location, body)) if hash == self.hash => Ok(Some(StoredResponse { location, body })),
            Some(_) => Err(Error::Mismatch),
        }
    }

    /// Stores the response in the transaction of the work that it answers, and removes expired ones.
    pub async fn store(&self, tx: &mut Tx, response: &StoredResponse, now: i64) -> sqlx::Result<()> {
        run!(&mut *tx, c => sqlx::query(REMOVE_OLD)
            .bind(now - RETENTION_MILLIS)
            .execute(c)
            .await
            .map(|_| ()))?;
        run!(tx, c => sqlx::query(INSERT)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(self.hash.as_slice())
            .bind(&response.location)
            .bind(&response.body)
            .bind(now)
            .execute(c)
            .await
            .map(|_| ()))
    }
}

/// The keys whose first request is in progress in this process.
#[derive(Clone, Debug, Default)]
pub struct InFlight(Arc<Mutex<HashSet<(AccountId, String)>>>);

/// Frees a key when its request ends.
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
