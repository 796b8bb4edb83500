//! The checkout: the donation form, the payment page, and the donate links that fill in the form.

mod check;
mod dedication;
pub mod embedding;
pub mod form;
pub mod link;
pub mod pay;
pub mod target;
pub mod webhooks;
