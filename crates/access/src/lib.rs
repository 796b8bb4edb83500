//! Accounts, sessions, API keys, rate limits, usage, redirect origins and the audit log.

pub mod accounts;
pub mod audit;
pub mod keys;
pub mod limits;
pub mod origins;
pub mod sessions;
pub mod usage;
