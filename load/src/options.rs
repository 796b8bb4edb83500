//! Command-line options shared by several benchmarks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::Args;

use crate::causeway::Causeway;
use crate::cleanup::ScratchDir;
use crate::cores::Cores;
use crate::format::{seconds, with_commas};
use crate::import_summary::ImportSummary;

#[derive(Args)]
pub(crate) struct Options {
    /// The causeway binary to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/causeway")]
    pub causeway: PathBuf,
    /// Also write the table to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Number of times to repeat each measurement; the table shows medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Seconds to send each kind of request in a round
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub seconds: f64,
    /// Folder in which to create temporary files
    #[arg(long, value_name = "DIR")]
    pub temp: Option<PathBuf>,
    /// Exit with 1 when a bound is missed
    #[arg(long)]
    pub check: bool,
}

impl Options {
    pub(crate) fn round_duration(&self) -> Result<Duration> {
        match Duration::try_from_secs_f64(self.seconds) {
            Ok(duration) if !duration.is_zero() => Ok(duration),
            _ => bail!("--seconds must be greater than zero"),
        }
    }
}

/// Which directory to serve.
#[derive(Args)]
pub(crate) struct DirectoryOptions {
    /// A data folder with an imported directory; without it, --file or --generate is imported first
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// An EO BMF file, .csv or .csv.gz
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Generate a directory of N nonprofits instead of reading a file
    #[arg(long, value_name = "N", conflicts_with_all = ["data", "file"])]
    pub generate: Option<u64>,
    /// Rate limit of the API key, in requests per minute
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    pub limit: u64,
}

/// Which directory to serve, and how to send requests to it.
#[derive(Args)]
pub(crate) struct ServerOptions {
    #[command(flatten)]
    pub directory: DirectoryOptions,
    /// Number of concurrent connections
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub connections: u16,
    #[command(flatten)]
    pub cores: Cores,
}

/// A directory that is ready to serve. `import` is set if this run imported it.
pub(crate) struct PreparedDirectory<'a> {
    pub causeway: Causeway<'a>,
    pub file: Option<PathBuf>,
    pub import: Option<ImportSummary>,
}

impl ServerOptions {
    pub(crate) fn prepare<'a>(
        &self,
        binary: &Path,
        scratch: &'a ScratchDir,
    ) -> Result<PreparedDirectory<'a>> {
        self.cores.validate()?;
        let prepared = self.directory.prepare(binary, scratch)?;
        prepared.causeway.write_sitemaps()?;
        Ok(prepared)
    }
}

impl DirectoryOptions {
    pub(crate) fn prepare<'a>(
        &self,
        binary: &Path,
        scratch: &'a ScratchDir,
    ) -> Result<PreparedDirectory<'a>> {
        if let Some(data) = &self.data {
            let causeway = Causeway::new(binary, data, scratch)?;
            return Ok(PreparedDirectory {
                causeway,
                file: self.file.clone(),
                import: None,
            });
        }
        let causeway = Causeway::new(binary, &scratch.create_empty_dir("data")?, scratch)?;
        let file = file_or_generated(self.file.as_deref(), self.generate, &causeway, scratch)?;
        eprintln!("importing {}", file.display());
        let (import, summary) = causeway.import_irs(&file)?;
        eprintln!(
            "imported {} nonprofits in {}",
            with_commas(summary.new),
            seconds(import.elapsed)
        );
        Ok(PreparedDirectory {
            causeway,
            file: Some(file),
            import: Some(summary),
        })
    }
}

/// Returns `file`, or generates one with `generate` nonprofits.
pub(crate) fn file_or_generated(
    file: Option<&Path>,
    generate: Option<u64>,
    causeway: &Causeway<'_>,
    scratch: &ScratchDir,
) -> Result<PathBuf> {
    match (file, generate) {
        (Some(file), _) => {
            ensure!(file.is_file(), "the file {} does not exist", file.display());
            Ok(file.to_path_buf())
        }
        (None, Some(count)) => {
            let file = scratch.path("generated.csv");
            eprintln!("generating {} nonprofits", with_commas(count));
            causeway.generate(count, &file)?;
            Ok(file)
        }
        (None, None) => bail!("no directory to measure: pass --file directory.csv.gz or --generate 100000"),
    }
}
