//! Pictures: cleaning those that strangers send, and drawing logos, covers and share cards.

pub mod coded;
mod decode;
pub mod drawn;
pub mod error;
pub mod header;
mod jpeg;
pub mod picture;
mod shrink;
