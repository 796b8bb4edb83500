//! The list of keys that operators see, page by page, and finding a key by its text.

use super::row::{StoredKey, keys};
use platform::db::{Db, query};

const PAGE: &str = keys!(
    "where substr(a.username, 1, length($1)) = $1 order by a.username, k.created_at, k.id limit $2 offset $3"
);
const FIND_BY_PUBLIC_KEY: &str = keys!("where k.public_key = $1");
const COUNT: &str = "select count(*) from keys k join accounts a on a.id = k.account_id \
     where substr(a.username, 1, length($1)) = $1";

/// Lists a page of the keys of accounts whose usernames start with `prefix`.
pub async fn list_page(db: &Db, prefix: &str, take: i64, skip: i64) -> sqlx::Result<Vec<StoredKey>> {
    db.fetch_all(query(PAGE).bind(prefix).bind(take).bind(skip)).await
}

/// Counts the keys of accounts whose usernames start with `prefix`.
pub async fn count(db: &Db, prefix: &str) -> sqlx::Result<i64> {
    db.fetch_scalar(query(COUNT).bind(prefix)).await
}

/// Finds a public key by its text.
pub async fn find_by_public_key(db: &Db, text: &str) -> sqlx::Result<Option<StoredKey>> {
    db.fetch_optional(query(FIND_BY_PUBLIC_KEY).bind(text)).await
}
