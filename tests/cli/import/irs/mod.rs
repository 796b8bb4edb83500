//! `causeway import irs`

mod bad_files;
mod bad_rows;
mod concurrent;
mod counts;
mod properties;
mod refusals;
mod slugs;
