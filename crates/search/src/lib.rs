//! The index.
