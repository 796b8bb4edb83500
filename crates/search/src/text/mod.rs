//! Text normalization: the words of queries and documents, and what is known about English.

pub mod english;
pub mod tokenizer;
