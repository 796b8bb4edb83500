//! Causeway: a directory of nonprofits that one binary holds and serves. ARCHITECTURE.md is the map.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod http;
pub mod server;
pub mod site;
pub mod web;
