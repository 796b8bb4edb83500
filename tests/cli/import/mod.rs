//! `causeway import`

mod command;
mod irs;
mod nonprofits;
mod returns;
