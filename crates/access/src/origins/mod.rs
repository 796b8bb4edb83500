//! The origins of partner sites. A donate link may redirect to a site only if an account has registered its origin, and
//! has proven that it is its own or was allowed to use it by an operator.

mod admit;
pub mod origin;
pub mod proof;
pub mod settings;
pub mod store;

pub use admit::admit;
pub use origin::{Origin, ReturnUrl};
