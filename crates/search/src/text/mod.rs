//! Text analysis: tokenization, and what the index knows about English.
//!
//! Documents and queries go through the same functions, so that equal words become equal terms.

pub(crate) mod domain;
pub(crate) mod english;
pub(crate) mod initials;
pub(crate) mod letters;
pub(crate) mod mission;
pub(crate) mod registration_number;
pub(crate) mod tag;
pub(crate) mod tokenizer;
