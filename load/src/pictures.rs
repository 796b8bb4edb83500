//! Measures the import of each hostile picture of the test suite, in a process of its own.
//!
//! The time and memory of an import without a picture are subtracted.

#[path = "../../crates/pictures/tests/pictures/corpus/mod.rs"]
pub(crate) mod corpus;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::corpus::{HostilePicture, Outcome};
use crate::base64::base64;
use crate::cleanup::{ChildProcess, ScratchDir};
use crate::format::{MEBIBYTE, mebibytes, median};
use crate::options::Options;
use crate::process::{create, peak_memory};
use crate::table::{Table, Verdict};

const MAX_TIME: Duration = Duration::from_millis(300);
const MAX_MEMORY: u64 = 256 * MEBIBYTE;
/// Number of the slowest pictures in the table, and twice the number of the largest.
const SLOWEST_SHOWN: usize = 8;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Args)]
pub(crate) struct Pictures {
    #[command(flatten)]
    pub options: Options,
}

/// The time and peak memory of one import.
struct Measurement {
    elapsed: Duration,
    peak_memory: u64,
    is_success: bool,
}

impl Pictures {
    pub(crate) fn measure(&self, scratch: &ScratchDir) -> Result<Table> {
        let binary = fs::canonicalize(&self.options.causeway)
            .with_context(|| format!("{} does not exist", self.options.causeway.display()))?;
        let data = scratch.create_empty_dir("data")?;
        let import = |picture: &[u8]| import(&binary, &data, scratch, picture);
        import(&[])?;
        let baseline: Vec<Measurement> = (0..7).map(|_| import(&[])).collect::<Result<_>>()?;
        let baseline_time = median(
            baseline
                .iter()
                .map(|measurement| measurement.elapsed.as_secs_f64()),
        );
        let baseline_peak = baseline
            .iter()
            .map(|measurement| measurement.peak_memory)
            .max()
            .unwrap_or(0);
        let mut results = Vec::new();
        for HostilePicture { name, bytes, outcome } in corpus::all() {
            let mut best: Option<(f64, u64)> = None;
            for _ in 0..self.options.rounds {
                let measurement = import(&bytes)?;
                ensure!(
                    measurement.is_success || outcome == Outcome::Refused,
                    "{name} was rejected"
                );
                let time = (measurement.elapsed.as_secs_f64() - baseline_time).max(0.0);
                let memory = measurement.peak_memory.saturating_sub(baseline_peak);
                best = Some(best.map_or((time, memory), |best| (best.0.min(time), best.1.max(memory))));
            }
            let (time, memory) = best.context("--rounds is zero")?;
            results.push((name, time, memory));
        }
        Ok(table(results, baseline_time, baseline_peak))
    }
}

fn table(mut results: Vec<(String, f64, u64)>, baseline_time: f64, baseline_peak: u64) -> Table {
    let title = format!(
        "{} hostile pictures, in addition to an import without one",
        results.len()
    );
    let mut table = Table::new(title, &["picture", "time", "peak memory", "bound"]);
    let cells = |name: &str, time: f64, memory: u64| {
        [
            name.to_owned(),
            format!("{:.0} ms", time * 1e3),
            mebibytes(memory),
        ]
    };
    let worst_time = results.iter().map(|(_, time, _)| *time).fold(0.0, f64::max);
    let worst_memory = results.iter().map(|(_, _, memory)| *memory).max().unwrap_or(0);
    let bound = "<= 300 ms, <= 256 MiB";
    let is_met = worst_time <= MAX_TIME.as_secs_f64() && worst_memory <= MAX_MEMORY;
    let [name, time, memory] = cells("maximum of all", worst_time, worst_memory);
    table.add_row(&[&name, &time, &memory, bound], Verdict::of(is_met));
    results.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut shown: Vec<_> = results.drain(..SLOWEST_SHOWN.min(results.len())).collect();
    results.sort_by_key(|(_, _, memory)| std::cmp::Reverse(*memory));
    shown.extend(results.into_iter().take(SLOWEST_SHOWN / 2));
    for (name, time, memory) in shown {
        let is_met = time <= MAX_TIME.as_secs_f64() && memory <= MAX_MEMORY;
        let [name, time, memory] = cells(&name, time, memory);
        table.add_row(&[&name, &time, &memory, bound], Verdict::of(is_met));
    }
    table.add_note(format!(
        "An import without a picture takes {:.0} ms and {}. The table shows the slowest and the largest pictures; \
         times are the best of all rounds.",
        baseline_time * 1e3,
        mebibytes(baseline_peak)
    ));
    table
}

/// Imports one line, without a picture if `picture` is empty.
fn import(binary: &Path, data: &Path, scratch: &ScratchDir, picture: &[u8]) -> Result<Measurement> {
    let file = scratch.path("picture.jsonl");
    let logo = match picture {
        [] => "null".to_owned(),
        bytes => format!("\"data:image/png;base64,{}\"", base64(bytes)),
    };
    fs::write(
        &file,
        format!("{{\"ein\":\"020240383\",\"name\":\"A\",\"logo\":{logo}}}\n"),
    )?;
    // The store decodes a known picture only once, so every import starts with an empty folder.
    fs::remove_dir_all(data)?;
    let mut command = Command::new(binary);
    command
        .args(["import", "nonprofits"])
        .arg(&file)
        .arg("--data")
        .arg(data);
    command
        .stdin(Stdio::null())
        .stdout(create(&scratch.path("stdout"))?)
        .stderr(create(&scratch.path("stderr"))?);
    let started = Instant::now();
    let process = ChildProcess::start(&mut command)?;
    let mut peak = 0;
    loop {
        peak = peak_memory(process.id()).unwrap_or(peak);
        if let Some(status) = process.exit_status()? {
            return Ok(Measurement {
                elapsed: started.elapsed(),
                peak_memory: peak,
                is_success: status.success(),
            });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
