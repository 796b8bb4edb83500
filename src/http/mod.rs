//! HTTP as all routes share it: the list of routes, who calls, what every answer carries.

pub mod body;
pub mod cache;
pub mod client;
pub mod cors;
pub mod credentials;
pub mod deadline;
pub mod health;
pub mod idempotency;
pub mod json;
pub mod openapi;
pub mod pages;
pub mod params;
pub mod public_key;
pub mod rate_limit;
pub mod recent;
pub mod refusal;
pub mod request_id;
pub mod room;
pub mod router;
pub mod trail;
