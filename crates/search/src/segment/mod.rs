//! The segment: an immutable index in one sequence of bytes, and the data structures inside it.
//!
//! Everything is read in place, without decoding, so that a memory-mapped segment opens at once and costs
//! only the pages that queries touch.

pub mod bloom_filter;
pub mod doc_set;
pub mod format;
pub mod forward_index;
pub mod kind_phrases;
pub mod labels;
pub mod min_tree;
pub mod name_entry;
pub mod packed;
pub mod reader;
pub mod signature;
pub mod trie;
