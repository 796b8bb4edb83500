//! Pictures: those that people send, and those that we draw for nonprofits that have none of their own.

pub mod api;
mod coded;
pub mod cover;
mod decode;
pub mod fault;
pub mod header;
pub mod hosting;
mod jpeg;
pub mod monogram;
pub mod palette;
pub mod picture;
pub mod proof;
mod shrink;
pub mod store;
mod svg;
