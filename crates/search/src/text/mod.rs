//! Text analysis: tokenization, and what the index knows about English.
//!
//! Documents and queries go through the same functions, so that equal words become equal terms.

pub mod domain;
pub mod english;
pub mod initials;
pub mod tag;
pub mod tokenizer;
