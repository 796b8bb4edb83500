//! Draws pictures for things that have none of their own: SVG logos and covers, and PNG cards for shared links.

mod canvas;
pub mod card;
pub mod cover;
mod font;
pub mod monogram;
mod palette;
mod svg;
