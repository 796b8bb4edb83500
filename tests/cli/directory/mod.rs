//! The snapshot and the overlay against the store, which is the truth.

mod behind;
pub mod damage;
mod truth;
