//! HTTP code that all routes share: extractors, authentication, caching, timeouts and errors.

pub mod agent;
pub mod body;
pub mod cache;
pub mod client;
pub mod compression;
pub mod credentials;
pub mod deadline;
pub mod destination;
pub mod error;
pub mod idempotency;
pub mod pagination;
pub mod params;
pub mod public_key;
pub mod rate_limit;
pub mod refusal;
pub mod request_id;
pub mod request_record;
pub mod routing;
pub mod session;
pub mod trace_context;
pub mod transport_security;
