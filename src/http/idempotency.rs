//! `Idempotency-Key`: a request that is sent again is answered as it was the first time, and done once.
//!
//! The answer is kept for 24 hours, written in the transaction of what it answers. Requests that were refused are not
//! kept. While the first is under way in this process, a second is told to wait; at another server it waits for
//! the first and gets its answer.

use crate::app::App;
use crate::http::error::Error;
use crate::platform::db::{Db, Tx, read, run};
use crate::platform::ids::AccountId;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const HEADER: &str = "idempotency-key";
const LONGEST: usize = 255;
const KEPT: i64 = 24 * 60 * 60 * 1_000;

const FIND: &str = "select hash, location, body from idempotency_keys \
     where account_id = $1 and name = $2 and created_at > $3";
const REMOVE_OLD: &str = "delete from idempotency_keys where created_at <= $1";
const INSERT: &str = "insert into idempotency_keys (account_id, name, hash, location, body, created_at) \
     values ($1, $2, $3, $4, $5, $6)";

/// The key of a request, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey(pub Option<String>);

impl FromRequestParts<App> for IdempotencyKey {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Error> {
        let mut sent = parts.headers.get_all(HEADER).iter();
        let Some(first) = sent.next() else {
            return Ok(IdempotencyKey(None));
        };
        let text = first
            .to_str()
            .ok()
            .map(str::trim)
            .filter(|_| sent.next().is_none());
        match text {
            Some(text) if (1..=LONGEST).contains(&text.len()) => Ok(IdempotencyKey(Some(text.to_owned()))),
            _ => Err(Error::InvalidParameter(
                "Idempotency-Key has 1 to 255 characters of ASCII, and is sent once".into(),
            )),
        }
    }
}

/// One request under a key: whose it is, and what was asked.
#[derive(Clone, Debug)]
pub struct Asked {
    pub account: AccountId,
    pub name: String,
    /// Of the body.
    pub hash: [u8; 32],
}

/// What is answered, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub location: String,
    pub body: String,
}

type Row = (Vec<u8>, String, String);

impl Asked {
    /// The answer of the first time. Fails where something else was asked then.
    pub async fn find(&self, db: &Db, now: i64) -> Result<Option<Kept>, Error> {
        let row: Option<Row> = read!(db, c => sqlx::query_as(FIND)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(now - KEPT)
            .fetch_optional(c)
            .await)?;
        self.judge(row)
    }

    /// The same within a transaction; the inner result is for the caller.
    pub async fn find_in(&self, tx: &mut Tx, now: i64) -> sqlx::Result<Result<Option<Kept>, Error>> {
        let row: Option<Row> = run!(tx, c => sqlx::query_as(FIND)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(now - KEPT)
            .fetch_optional(c)
            .await)?;
        Ok(self.judge(row))
    }

    fn judge(&self, row: Option<Row>) -> Result<Option<Kept>, Error> {
        match row {
            None => Ok(None),
            Some((hash, location, body)) if hash == self.hash => Ok(Some(Kept { location, body })),
            Some(_) => Err(Error::IdempotencyMismatch),
        }
    }

    /// Keeps an answer with what it answers, and lets go of those that are over.
    pub async fn keep(&self, tx: &mut Tx, kept: &Kept, now: i64) -> sqlx::Result<()> {
        run!(&mut *tx, c => sqlx::query(REMOVE_OLD).bind(now - KEPT).execute(c).await.map(|_| ()))?;
        run!(tx, c => sqlx::query(INSERT)
            .bind(self.account.0)
            .bind(&self.name)
            .bind(self.hash.as_slice())
            .bind(&kept.location)
            .bind(&kept.body)
            .bind(now)
            .execute(c)
            .await
            .map(|_| ()))
    }
}

/// The keys whose first request is under way in this process.
#[derive(Clone, Debug, Default)]
pub struct UnderWay(Arc<Mutex<HashSet<(AccountId, String)>>>);

/// Ends with the request.
#[derive(Debug)]
pub struct Turn {
    under_way: UnderWay,
    name: (AccountId, String),
}

impl UnderWay {
    /// Begins a request; refused where one with its key is under way.
    pub fn begin(&self, asked: &Asked) -> Result<Turn, Error> {
        let name = (asked.account, asked.name.clone());
        match self.lock().insert(name.clone()) {
            true => Ok(Turn {
                under_way: self.clone(),
                name,
            }),
            false => Err(Error::IdempotencyInProgress),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<(AccountId, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.under_way.lock().remove(&self.name);
    }
}
