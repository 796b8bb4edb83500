//! The checkout: the donation form, the payment page, and the donate links that fill in the form.

mod again;
mod check;
mod dedication;
pub mod embedding;
pub mod form;
pub mod former_urls;
pub mod link;
mod money;
pub mod pay;
pub mod target;
pub mod webhooks;

/// The longest name of a person, in characters.
const MAX_NAME_CHARS: usize = 100;
/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 500;
