//! The rules of ARCHITECTURE.md, checked against the source as text.

mod clients;
mod findings;
mod graph;
mod imports;
mod layers;
mod names;
mod source;
mod sql;
mod visibility;
