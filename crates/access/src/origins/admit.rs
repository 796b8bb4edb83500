//! Decides whether a donate link may redirect to a URL.

use super::origin::ReturnUrl;
use super::store;
use platform::db::Db;

/// The address that a link asked to be led back to, if some account has registered its origin.
pub async fn admit(db: &Db, asked: &str) -> sqlx::Result<Option<ReturnUrl>> {
    let Some(address) = ReturnUrl::parse(asked) else {
        return Ok(None);
    };
    let is_known = store::has(db, address.origin()).await?;
    Ok(is_known.then_some(address))
}
