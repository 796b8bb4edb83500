//! Decides whether a donate link may redirect to a URL.

use super::origin::ReturnUrl;
use super::store;
use platform::db::Db;

/// Parses the URL that a donate link asks to redirect to. Returns `None` if no account has registered its origin.
pub async fn admit(db: &Db, url: &str) -> sqlx::Result<Option<ReturnUrl>> {
    let Some(url) = ReturnUrl::parse(url) else {
        return Ok(None);
    };
    let is_registered = store::is_registered(db, url.origin()).await?;
    Ok(is_registered.then_some(url))
}
