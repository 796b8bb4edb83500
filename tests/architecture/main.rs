//! The rules of ARCHITECTURE.md, checked against the source as text.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]

mod clients;
mod costs;
mod findings;
mod graph;
mod imports;
mod layers;
mod names;
mod source;
mod sql;
mod visibility;
