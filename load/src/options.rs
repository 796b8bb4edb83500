//! The options that several programs share.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use clap::Args;

use crate::causeway::Causeway;
use crate::cleanup::Workplace;
use crate::cores::Cores;
use crate::figures::{grouped, seconds};
use crate::summary::Summary;

#[derive(Args)]
pub struct Options {
    /// The binary to measure
    #[arg(long, value_name = "FILE", default_value = "target/release/causeway")]
    pub causeway: PathBuf,
    /// Also write the table to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Times that everything is measured; the table shows medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: u32,
    /// Seconds that each kind of call lasts in a round
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub seconds: f64,
    /// Where the folder for temporary files is made
    #[arg(long, value_name = "DIR")]
    pub temp: Option<PathBuf>,
    /// Exit with 1 when a bound is missed
    #[arg(long)]
    pub check: bool,
}

impl Options {
    pub fn round_time(&self) -> Result<Duration> {
        match Duration::try_from_secs_f64(self.seconds) {
            Ok(time) if !time.is_zero() => Ok(time),
            _ => bail!("--seconds takes a number above zero"),
        }
    }
}

/// Which directory is served, and how it is asked.
#[derive(Args)]
pub struct Serving {
    /// A data folder with an imported directory; without it, --file or --generate is imported first
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// An EO BMF file, .csv or .csv.gz
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// In place of a file: a directory of N made-up nonprofits
    #[arg(long, value_name = "N", conflicts_with_all = ["data", "file"])]
    pub generate: Option<u64>,
    /// Connections that keep the server busy
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub connections: u16,
    /// Calls a minute that the key is allowed
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    pub limit: u64,
    #[command(flatten)]
    pub cores: Cores,
}

/// A directory ready to be served, and what its import said if it was made here.
pub struct Prepared<'a> {
    pub causeway: Causeway<'a>,
    pub file: Option<PathBuf>,
    pub import: Option<Summary>,
}

impl Serving {
    pub fn prepare<'a>(&self, binary: &Path, workplace: &'a Workplace) -> Result<Prepared<'a>> {
        self.cores.check()?;
        if let Some(data) = &self.data {
            let causeway = Causeway::new(binary, data, workplace)?;
            return Ok(Prepared {
                causeway,
                file: self.file.clone(),
                import: None,
            });
        }
        let causeway = Causeway::new(binary, &workplace.fresh_folder("data")?, workplace)?;
        let file = file_or_generated(self.file.as_deref(), self.generate, &causeway, workplace)?;
        eprintln!("importing {}", file.display());
        let (finished, summary) = causeway.import_irs(&file)?;
        eprintln!(
            "imported {} nonprofits in {}",
            grouped(summary.new),
            seconds(finished.elapsed)
        );
        Ok(Prepared {
            causeway,
            file: Some(file),
            import: Some(summary),
        })
    }
}

/// The file given, or a generated one.
pub fn file_or_generated(
    file: Option<&Path>,
    generate: Option<u64>,
    causeway: &Causeway<'_>,
    workplace: &Workplace,
) -> Result<PathBuf> {
    match (file, generate) {
        (Some(file), _) => {
            ensure!(file.is_file(), "there is no file {}", file.display());
            Ok(file.to_path_buf())
        }
        (None, Some(count)) => {
            let file = workplace.path("generated.csv");
            eprintln!("generating {} nonprofits", grouped(count));
            causeway.generate(count, &file)?;
            Ok(file)
        }
        (None, None) => bail!("say what to measure: --file directory.csv.gz, or --generate 100000"),
    }
}
