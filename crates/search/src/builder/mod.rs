//! The index builder: documents in, one segment out.
//!
//! Documents are added in descending order of prominence and only collected. All work happens at the end, in
//! parallel where parts are independent. The same documents always give the same bytes.

mod document;
mod documents;
mod error;
mod index_builder;
mod initials;
mod kinds;
mod labels;
mod missions;
mod names;
mod postings;
mod sections;
mod synonyms;
mod thesaurus;
mod vocabulary;

pub use document::Document;
pub use error::BuildError;
pub use index_builder::IndexBuilder;
pub use thesaurus::Thesaurus;
