//! A stand-in until `import_returns` is there.

use super::importer::Importer;
use super::summary::Summary;
use std::path::PathBuf;

impl Importer<'_> {
    /// Imports returns.
    #[expect(clippy::unused_async, reason = "a stand-in")]
    pub async fn import_returns(&self, _files: &[PathBuf]) -> anyhow::Result<Summary> {
        anyhow::bail!("returns cannot be imported yet; remove them")
    }
}
