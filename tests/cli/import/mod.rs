//! `causeway import`

mod all;
mod command;
mod download;
mod file_server;
mod irs;
mod lists;
mod nonprofits;
mod returns;
