//! Decides whether a donate link may redirect to a URL.
//!
//! A URL is checked when it is used, not when its origin is registered, and must be plain ASCII: a URL that two parsers could
//! read differently is refused. An origin counts as proven only while a row says so.

use super::origin::ReturnUrl;
use super::store;
use platform::db::Db;

/// Parses the URL that a donate link asks to redirect to. Returns `None` if no account may use its origin.
///
/// With `trusts_localhost`, an origin on the donor's own machine needs no proof, so that developers can try out links.
pub async fn admit(db: &Db, url: &str, trusts_localhost: bool) -> sqlx::Result<Option<ReturnUrl>> {
    let Some(url) = ReturnUrl::parse(url) else {
        return Ok(None);
    };
    let needs_no_proof = trusts_localhost && url.origin().is_localhost();
    let is_usable = store::is_usable(db, url.origin(), needs_no_proof).await?;
    Ok(is_usable.then_some(url))
}
