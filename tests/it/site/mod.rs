//! The public site: finding, reading, giving.

mod embedding;
mod feeds;
mod giving;
mod links;
mod partners;
mod reading;
mod sharing;
