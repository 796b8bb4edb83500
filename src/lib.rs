//! Causeway: a directory of nonprofits that one binary holds and serves. ARCHITECTURE.md is the map.

pub mod accounts;
pub mod app;
pub mod audit;
pub mod blobs;
pub mod browse;
pub mod clock;
pub mod config;
pub mod db;
pub mod directory;
pub mod donations;
pub mod error;
pub mod fundraisers;
pub mod generate;
pub mod http;
pub mod ids;
pub mod import;
pub mod keys;
pub mod media;
pub mod money;
pub mod nonprofits;
pub mod search;
pub mod serve;
pub mod telemetry;
pub mod text;
pub mod urls;
pub mod usage;
