//! The JSON API under `/v0.2`: one file for each resource.

pub mod bodies;
pub mod browse;
pub mod changes;
pub mod directory;
pub mod donations;
pub mod eligibility;
pub mod events;
pub mod examples;
pub mod explanation;
pub mod export;
pub mod finances;
pub mod fundraisers;
pub mod matching;
pub mod mcp;
pub mod nonprofits;
pub mod openapi;
pub mod problems;
pub mod reconcile;
pub mod schemas;
pub mod search;
pub mod sources;
pub mod webhooks;
