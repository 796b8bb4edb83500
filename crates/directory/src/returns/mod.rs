//! Form 990, 990-EZ and 990-PF returns in the store: the facts of the last periods of each EIN.
//!
//! Imports write them. The pages and the API read them from the store when they are asked for, because only few
//! requests need more than the newest values, which are in the table `return_profiles`.

pub mod facts;
pub mod profile;
pub(crate) mod programs;
pub mod store;
pub mod years;
