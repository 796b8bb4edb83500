//! The segment: the immutable index as one sequence of bytes, and the data structures inside it.

pub mod bloom_filter;
pub mod format;
pub mod forward_index;
pub mod labels;
pub mod min_tree;
pub mod packed;
pub mod signature;
pub mod trie;
