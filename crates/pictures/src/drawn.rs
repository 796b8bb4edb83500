//! Pictures drawn by this crate: SVG logos and covers, and PNG cards for shared links.

mod canvas;
pub mod card;
pub mod cover;
pub mod monogram;
mod palette;
mod svg;
