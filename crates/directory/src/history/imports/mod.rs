//! What imports did, and which files the facts in the directory come from.

mod provenance;
pub mod store;

pub use provenance::{LastImports, Provenance};
pub use store::{ImportRecord, LastImport, NamedFile, RecordedImport, SourceFile};
