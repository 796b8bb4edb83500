//! The segment: an immutable index in one sequence of bytes, and the data structures inside it.
//!
//! Everything is read in place, without decoding, so that a memory-mapped segment opens at once and costs
//! only the pages that queries touch.

pub(crate) mod bloom_filter;
pub(crate) mod doc_set;
pub(crate) mod format;
pub(crate) mod forward_index;
pub(crate) mod kind_phrases;
pub(crate) mod labels;
pub(crate) mod min_tree;
pub(crate) mod missions;
pub(crate) mod name_entry;
pub(crate) mod packed;
pub(crate) mod reader;
pub(crate) mod signature;
pub(crate) mod trie;
