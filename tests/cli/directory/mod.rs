//! The snapshot and the overlay compared with the database, which is the source of truth.

mod contents;
pub mod damage;
mod stale;
