//! The fundraiser endpoints: reads with a public key, writes with the keys of an account.

pub mod bodies;
pub mod dates;
pub mod own;
pub mod reads;
pub mod writes;
