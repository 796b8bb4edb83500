//! The SQL of the origins of partner sites.

use super::origin::Origin;
use crate::audit::{self, Action, Actor};
use platform::db::{Db, Tx, from_row, query};
use platform::ids::AccountId;
use platform::text::hex;

macro_rules! origins {
    ($rest:literal) => {
        concat!(
            "select a.username, o.origin, o.token, o.created_at, o.proven_at, o.allowed_at ",
            "from partner_origins o join accounts a on a.id = o.account_id ",
            $rest
        )
    };
}

const LIST: &str = origins!("where o.account_id = $1 order by o.origin");
const FIND: &str = origins!("where o.account_id = $1 and o.origin = $2");
const WAITING: &str = origins!(
    "where o.proven_at is null and o.allowed_at is null order by o.created_at, o.origin limit $1 offset $2"
);
const COUNT_WAITING: &str =
    "select count(*) from partner_origins where proven_at is null and allowed_at is null";
/// `$2`: it needs no proof.
const HAS: &str = "select count(*) from partner_origins o join accounts a on a.id = o.account_id \
     where o.origin = $1 and a.suspended_at is null \
     and (o.proven_at is not null or o.allowed_at is not null or $2)";
const COUNT: &str = "select count(*) from partner_origins where account_id = $1";
const INSERT: &str = "insert into partner_origins (account_id, origin, created_at, token) values ($1, $2, $3, $4) \
     on conflict (account_id, origin) do nothing";
const PROVE: &str = "update partner_origins set proven_at = coalesce(proven_at, $3) \
     where account_id = $1 and origin = $2";
const ALLOW: &str = "update partner_origins set allowed_at = $3 \
     where account_id = $1 and origin = $2 and allowed_at is null";
const REMOVE_ALL: &str = "delete from partner_origins where account_id = $1";
const REMOVE: &str = "delete from partner_origins where account_id = $1 and origin = $2";

/// The number of origins that one account may register.
pub const MAX_ORIGINS: i64 = 20;

/// The random bytes of a token.
const TOKEN_BYTES: usize = 20;

/// An origin that an account has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredOrigin {
    pub username: String,
    pub origin: String,
    /// The token that its owner publishes at the origin as proof.
    pub token: String,
    pub created_at: i64,
    /// When the token was found there.
    pub proven_at: Option<i64>,
    /// When an operator allowed it without a proof.
    pub allowed_at: Option<i64>,
}

from_row!(RegisteredOrigin {
    username,
    origin,
    token,
    created_at,
    proven_at,
    allowed_at,
});

/// The result of [`insert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    AlreadyRegistered,
    /// The account has reached [`MAX_ORIGINS`].
    TooMany,
}

/// Lists the origins of an account.
pub async fn list(db: &Db, account: AccountId) -> sqlx::Result<Vec<RegisteredOrigin>> {
    db.fetch_all(query(LIST).bind(account.0)).await
}

/// Finds an origin of an account.
pub async fn find(db: &Db, account: AccountId, origin: &str) -> sqlx::Result<Option<RegisteredOrigin>> {
    db.fetch_optional(query(FIND).bind(account.0).bind(origin)).await
}

/// Lists the origins of all accounts that are neither proven nor allowed, oldest first.
pub async fn list_waiting(db: &Db, take: i64, skip: i64) -> sqlx::Result<Vec<RegisteredOrigin>> {
    db.fetch_all(query(WAITING).bind(take).bind(skip)).await
}

/// Counts the origins that are neither proven nor allowed.
pub async fn count_waiting(db: &Db) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT_WAITING)).await
}

/// Returns whether an account that is not suspended has registered an origin, and has proven it or was allowed to use it.
/// With `needs_no_proof`, registering it is enough.
pub async fn is_usable(db: &Db, origin: &Origin, needs_no_proof: bool) -> sqlx::Result<bool> {
    let count: i64 = db
        .fetch_scalar(query(HAS).bind(origin.as_str()).bind(needs_no_proof))
        .await?;
    Ok(count > 0)
}

/// Registers an origin for an account.
pub async fn insert(db: &Db, account: AccountId, origin: &Origin, now: i64) -> sqlx::Result<InsertOutcome> {
    let mut token = [0; TOKEN_BYTES];
    getrandom::fill(&mut token).expect("the system has random bytes");
    let mut tx = db.write().await?;
    let inserted = tx
        .execute(
            query(INSERT)
                .bind(account.0)
                .bind(origin.as_str())
                .bind(now)
                .bind(hex(&token)),
        )
        .await?;
    let count: i64 = tx.fetch_scalar(query(COUNT).bind(account.0)).await?;
    match (inserted, count > MAX_ORIGINS) {
        (0, _) => Ok(InsertOutcome::AlreadyRegistered),
        (_, true) => Ok(InsertOutcome::TooMany),
        (_, false) => tx.commit().await.map(|()| InsertOutcome::Inserted),
    }
}

/// Records that an account has proven that an origin is its own.
pub async fn set_proven(db: &Db, account: AccountId, origin: &Origin, now: i64) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(PROVE).bind(account.0).bind(origin.as_str()).bind(now))
        .await?;
    tx.commit().await
}

/// Allows an account to use an origin without a proof, with an audit entry. Returns `false` if it was allowed before or
/// is not registered.
pub async fn allow(
    db: &Db,
    (account, username): (AccountId, &str),
    origin: &Origin,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let allowed = tx
        .execute(query(ALLOW).bind(account.0).bind(origin.as_str()).bind(now))
        .await?;
    if allowed == 0 {
        return Ok(false);
    }
    let action = Action::new(actor, "origin allow", username, origin.as_str());
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}

/// Removes an origin from an account. Returns `false` if the account has not registered it.
pub async fn remove(db: &Db, account: AccountId, origin: &str) -> sqlx::Result<bool> {
    let mut tx = db.write().await?;
    let removed = tx.execute(query(REMOVE).bind(account.0).bind(origin)).await?;
    tx.commit().await?;
    Ok(removed > 0)
}

/// Removes all origins of an account.
pub(crate) async fn remove_all_in(tx: &mut Tx, account: AccountId) -> sqlx::Result<()> {
    tx.execute(query(REMOVE_ALL).bind(account.0)).await.map(|_| ())
}
