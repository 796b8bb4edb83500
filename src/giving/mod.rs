//! Fundraisers, donations and their ledger, and the payments behind the checkout.

pub mod check;
pub mod donations;
pub mod export;
pub mod fundraisers;
pub mod ledger;
pub mod payments;
