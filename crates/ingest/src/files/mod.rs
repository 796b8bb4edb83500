//! Opens, decompresses and hashes files, and splits them into lines and records.

pub mod hashing_reader;
pub mod lines;
pub mod record;
pub mod source;
