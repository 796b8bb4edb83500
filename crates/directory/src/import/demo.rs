//! Imports the built-in demo directory: nonprofits, and the amounts in some of their returns.

use super::demo_returns;
use super::enrichment::EnrichmentReader;
use super::hashing_reader::hex_sha256;
use super::importer::Importer;
use super::nonprofits::{read_lines, write};
use super::report::RejectedLines;
use super::summary::{ImportedFile, Summary};
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
        let returns = demo_returns::read(RETURNS)?;
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
