//! The operator pages: all accounts and keys, imports, recent errors, and the audit log.

pub mod key;
pub mod pages;
