//! Stories that run through the whole product: the real app on a real store, both databases, the real router and
//! the real binary. Folders mirror addresses and commands.
#![expect(
    clippy::disallowed_methods,
    reason = "tests measure real time and are set up by the environment"
)]

#[macro_use]
mod world;
mod client;
mod files;

mod commands;
mod dashboard;
mod directory;
mod import;
mod media;
mod site;
mod store;
mod v0_2;
mod web;
