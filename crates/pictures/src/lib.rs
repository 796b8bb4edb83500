//! Cleans pictures uploaded by strangers and draws logos, covers and share cards.
//!
//! [`picture::clean`] turns any bytes into a JPEG or WebP that this crate encoded itself, or refuses them. It decides by the
//! header alone whether a picture is worth decoding, so that time and memory are bounded before the first pixel is read.
//! [`drawn`] draws the pictures for things that have none of their own.
//!
//! Start with [`picture::clean`], and follow a picture through it: [`header`] decides what to accept and estimates the cost
//! of decoding, the decoders reduce it to the size that is stored, [`orientation`] turns it upright, and it is encoded again.
//!
//! # Limits
//!
//! What decoding will cost is computed from the header with measured costs, and a picture that costs too much is refused
//! with an error that names the limit. `make bench-pictures` checks these estimates with hostile pictures.
//!
//! Cards have no text shaping: a caller must replace text in a script that the font lacks.

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
