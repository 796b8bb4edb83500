//! Hosted pictures, and the pictures that we draw for nonprofits that have none of their own.

pub mod api;
pub mod hosting;
pub mod proof;
pub mod store;
