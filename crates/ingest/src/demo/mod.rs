//! Imports the built-in demo directory: nonprofits, and the amounts in some of their returns.

pub(crate) mod returns;

use crate::enrichment::EnrichmentReader;
use crate::enrichment::import::{read_lines, write};
use crate::files::hashing_reader::hex_sha256;
use crate::importer::Importer;
use crate::report::RejectedLines;
use crate::summary::{ImportedFile, Summary};
use std::io::Cursor;

const NONPROFITS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo.jsonl"));
/// Taken from returns that the IRS published. The texts are in our own words.
const RETURNS: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/demo-returns.jsonl"
));

impl Importer<'_> {
    /// Imports the built-in demo directory.
    pub async fn import_demo(&self) -> anyhow::Result<Summary> {
        let name = "the demo directory";
        let mut lines = Vec::new();
        let mut summary = Summary::default();
        let mut rejected_lines = RejectedLines::default();
        let reader = EnrichmentReader::new(Cursor::new(NONPROFITS), name);
        read_lines(self, name, reader, &mut lines, &mut summary, &mut rejected_lines).await?;
        let returns = returns::read(RETURNS)?;
        for (name, text, lines) in [
            (name, NONPROFITS, summary.lines),
            ("returns of the demo directory", RETURNS, returns.len() as u64),
        ] {
            summary.files.push(ImportedFile {
                name: name.to_owned(),
                sha256: hex_sha256(text.as_bytes()),
                lines,
            });
        }
        write(self, lines, returns, summary, rejected_lines).await
    }
}
