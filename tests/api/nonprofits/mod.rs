//! `GET /v0.2/nonprofit/{identifier}`

mod caching;
mod facts;
mod fields;
mod identifiers;
mod missing_fields;
