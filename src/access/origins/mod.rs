//! Partners: people whose own site leads to giving here. Each registers the origins of that site, and only to those
//! do we lead back.

pub mod origin;
pub mod store;

pub use origin::{Origin, ReturnAddress};

use crate::platform::db::Db;

/// Origins that one account may register.
pub const MOST_ORIGINS: i64 = 20;

/// The address that a link asked to be led back to, if some account has registered its origin.
pub async fn admit(db: &Db, asked: &str) -> sqlx::Result<Option<ReturnAddress>> {
    let Some(address) = ReturnAddress::parse(asked) else {
        return Ok(None);
    };
    let is_known = store::has(db, address.origin()).await?;
    Ok(is_known.then_some(address))
}
