//! The routes, start-up, background jobs and telemetry of a running server.

pub mod background;
pub mod cors;
pub mod health;
pub mod otlp;
pub mod pages;
pub mod query_spans;
pub mod reload;
pub mod requests;
pub mod routes;
pub mod scrape;
pub mod sharing;
pub mod stop;
pub mod telemetry;
