//! Pictures for nonprofits that have none of their own.

pub mod api;
pub mod cover;
pub mod monogram;
mod palette;
mod svg;
