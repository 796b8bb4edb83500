//! The fundraiser routes of the interface: reads with a public key, writes with the keys of the account.

pub mod own;
pub mod reads;
pub mod wire;
pub mod writes;
