//! The API under `/v0.2`, one module per resource.

mod availability;
mod browse;
mod changes;
mod credentials;
mod directory;
mod errors;
mod existing_clients;
mod explain;
mod finances;
pub mod fundraisers;
mod hostile_paths;
mod http_edges;
mod keys;
mod limit_script;
mod limits;
mod matching;
mod near;
mod nonprofits;
mod openapi;
mod reconcile;
mod relevance;
mod restored_database;
mod search;
mod shared_limits;
mod usage;
