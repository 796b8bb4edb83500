//! Stories: the real app on a real database, called through the real router or as the real binary.
//!
//! The folders mirror the entry points of the product. Every story runs on SQLite and on PostgreSQL.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

#[macro_use]
mod world;
mod client;
mod database;
mod demo;
mod dns;
mod facts;
mod files;
mod query_plans;
mod redis_server;
mod returns;
mod s3;
mod wait;

mod api;
mod cli;
mod dashboard;
mod payments;
mod site;
