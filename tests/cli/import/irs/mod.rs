//! `causeway import irs`

mod bad_files;
mod bad_rows;
mod concurrent;
mod counts;
mod generated;
mod refusals;
mod slugs;
