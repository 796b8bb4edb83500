//! Cleans pictures uploaded by strangers and draws logos, covers and share cards.
//!
//! [`picture::clean`] turns any bytes into a PNG or JPEG that this crate encoded itself, or refuses them. It decides by the
//! header alone whether a picture is worth decoding, so that time and memory are bounded before the first pixel is read.
//! [`drawn`] draws the pictures for things that have none of their own.

mod bitmap;
pub mod data_url;
mod decode;
mod downscale;
pub mod drawn;
mod encode;
pub mod error;
pub mod header;
mod jpeg;
pub mod orientation;
pub mod picture;
