//! `causeway import`

mod irs;
mod nonprofits;
