//! The interface, route by route.

mod browse;
mod credentials;
mod errors;
pub mod fundraiser;
mod hostile_paths;
mod keys;
mod limits;
mod nonprofit;
mod openapi;
mod relevance;
mod search;
mod usage;
