//! Opens, decompresses and hashes files, and splits them into lines and records.

pub(crate) mod hashing_reader;
pub(crate) mod lines;
pub(crate) mod record;
pub(crate) mod source;
