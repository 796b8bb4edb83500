//! The SQL of idempotency keys.

use super::{IdempotentRequest, StoredResponse};
use crate::error::Error;
use platform::db::{Db, StoreError, Tx, query};

const RETENTION_MILLIS: i64 = 24 * 60 * 60 * 1_000;

const FIND: &str = "select hash, location, body from idempotency_keys \
     where account_id = $1 and name = $2 and created_at > $3";
const REMOVE_OLD: &str = "delete from idempotency_keys where created_at <= $1";
const INSERT: &str = "insert into idempotency_keys (account_id, name, hash, location, body, created_at) \
     values ($1, $2, $3, $4, $5, $6)";

/// `hash`, `location` and `body`.
type Row = (Vec<u8>, String, String);

/// Finds the response to the first request with this key.
///
/// # Errors
///
/// [`Error::Mismatch`] if the first request was a different one.
pub async fn find(db: &Db, request: &IdempotentRequest, now: i64) -> Result<Option<StoredResponse>, Error> {
    let row: Option<Row> = db
        .fetch_optional(
            query(FIND)
                .bind(request.account.0)
                .bind(&request.name)
                .bind(now - RETENTION_MILLIS),
        )
        .await?;
    response_to(request, row)
}

/// Does the same as [`find`] within a transaction.
pub(crate) async fn find_in(
    tx: &mut Tx,
    request: &IdempotentRequest,
    now: i64,
) -> Result<Option<StoredResponse>, StoreError<Error>> {
    let row: Option<Row> = tx
        .fetch_optional(
            query(FIND)
                .bind(request.account.0)
                .bind(&request.name)
                .bind(now - RETENTION_MILLIS),
        )
        .await?;
    response_to(request, row).map_err(StoreError::Refused)
}

fn response_to(request: &IdempotentRequest, row: Option<Row>) -> Result<Option<StoredResponse>, Error> {
    match row {
        None => Ok(None),
        Some((hash, location, body)) if hash == request.hash => Ok(Some(StoredResponse { location, body })),
        Some(_) => Err(Error::Mismatch),
    }
}

/// Inserts a response in the transaction that does the work, and removes expired ones.
pub(crate) async fn insert(
    tx: &mut Tx,
    request: &IdempotentRequest,
    response: &StoredResponse,
    now: i64,
) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_OLD).bind(now - RETENTION_MILLIS)).await?;
    tx.execute(
        query(INSERT)
            .bind(request.account.0)
            .bind(&request.name)
            .bind(request.hash.as_slice())
            .bind(&response.location)
            .bind(&response.body)
            .bind(now),
    )
    .await
    .map(|_| ())
}
