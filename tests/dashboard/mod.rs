//! The dashboard, used like a browser without scripts.

pub mod visitor;

mod accounts;
mod bad_input;
mod claims;
mod disburse;
mod donation_export;
mod eligibility;
mod email_change;
mod fundraiser_form;
mod fundraisers;
mod keys;
mod moderation;
mod notices;
pub mod operator;
mod operator_home;
mod paging;
mod reset;
mod shared_attempts;
mod sign_in;
mod smtp;
mod thanks;
mod two_factor;
mod usage;
mod webhooks;
