//! The origins of partner sites. A donate link may redirect to a site only if an account has registered its origin.

mod admit;
pub mod origin;
pub mod store;

pub use admit::admit;
pub use origin::{Origin, ReturnUrl};
