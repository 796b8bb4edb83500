//! Who may call, and how often: accounts, sessions, keys, limits, usage, redirect origins and the audit log.

pub mod accounts;
pub mod audit;
pub mod keys;
pub mod limits;
pub mod origins;
pub mod sessions;
pub mod usage;
