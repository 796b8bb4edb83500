//! The operator pages: all accounts, keys, fundraisers, reports and donations, money, imports, recent errors, the audit
//! log, and the design of the site.

pub mod account;
pub mod attention;
pub mod claims;
pub mod design;
pub mod disburse;
pub mod disburse_batch;
pub mod donation;
pub mod donations;
pub mod eligibility;
pub mod fundraisers;
pub mod home;
pub mod key;
pub mod list;
pub mod money;
pub mod monthly;
mod names;
pub mod nav;
pub mod nonprofit;
pub mod origins;
pub mod pages;
pub mod payees;
pub mod reason;
pub mod reports;
pub mod search;
pub mod stripe_links;
pub mod webhooks;
