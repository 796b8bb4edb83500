//! The interface, route by route.

mod browse;
mod credentials;
mod errors;
mod fundraiser;
mod hostile_paths;
mod keys;
mod limits;
mod nonprofit;
mod openapi;
mod search;
mod usage;
