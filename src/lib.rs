//! Causeway: a self-hosted directory of nonprofits, served by one binary. ARCHITECTURE.md describes the layers.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod dashboard;
pub mod http;
pub mod server;
pub mod site;
pub mod web;
