//! The public site: finding, reading, giving.

mod embedding;
mod feeds;
mod giving;
mod links;
mod media;
mod pages;
mod partners;
mod reading;
mod sharing;
