//! Webhook endpoints and their deliveries, for programs with a private key.

pub mod bodies;
pub mod deliveries;
pub mod description;
pub mod endpoints;
mod fields;
