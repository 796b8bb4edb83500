//! Causeway: a self-hosted directory of nonprofits, served by one binary. ARCHITECTURE.md describes the layers.
//!
//! Start with the list of routes in [`server::routes`], and follow a request down: a handler in [`api`], [`site`] or
//! [`dashboard`], the extractors of [`http`] in its signature, and the parts of [`app`] that it calls. [`cli`] has the
//! commands, which call the same parts.
//!
//! This package is the only one that knows the web framework, the templates and the OpenAPI description. Each module has the
//! vocabulary of its entry point: names of JSON fields are in [`api`], of forms in [`site`] and [`dashboard`], and of
//! arguments in [`cli`]. Rules are in the crates.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod http;
pub mod server;
pub mod site;
pub mod web;
