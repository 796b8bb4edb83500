//! The fundraiser endpoints: reads with a public key, writes with the keys of an account.

pub mod bodies;
pub mod dates;
mod fields;
mod input;
pub mod own;
mod picture;
pub mod reads;
pub mod writes;
