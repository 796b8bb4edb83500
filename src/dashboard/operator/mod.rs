//! The pages of an operator: all accounts and keys, imports, what went wrong of late, and who did what.

pub mod key;
pub mod pages;
