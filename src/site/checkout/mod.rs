//! The checkout: the form, the payment page and the donate links that fill them in.

pub mod form;
pub mod link;
pub mod pay;
pub mod target;
