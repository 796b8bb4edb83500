//! The dashboard: pages for people, used as a browser without scripts uses them.

pub mod visitor;

mod accounts;
mod bad_input;
mod fundraisers;
mod keys;
mod lists;
mod operator;
mod proof;
mod reset;
mod smtp;
mod usage;
