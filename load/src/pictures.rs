//! Measures every hostile picture of the tests: each is imported by `causeway import nonprofits` in a process of its own.
//!
//! Time and peak memory are those in excess of the same import without a picture.

#[path = "../../crates/pictures/tests/pictures/corpus/mod.rs"]
mod corpus;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::corpus::{HostilePicture, Outcome};
use crate::cleanup::{Running, Workplace};
use crate::figures::{MEBIBYTE, mebibytes, median};
use crate::options::Options;
use crate::process::{create, peak};
use crate::table::{Table, Verdict};

const MAX_TIME: Duration = Duration::from_millis(200);
const MAX_MEMORY: u64 = 128 * MEBIBYTE;
/// The number of slowest pictures that are shown; half as many of the largest follow.
const SHOWN_PICTURES: usize = 8;
const POLL_INTERVAL: Duration = Duration::from_millis(1);

#[derive(Args)]
pub struct Pictures {
    #[command(flatten)]
    pub options: Options,
}

/// The time and memory of one import.
struct Measurement {
    elapsed: Duration,
    peak: u64,
    is_success: bool,
}

impl Pictures {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let binary = fs::canonicalize(&self.options.causeway)
            .with_context(|| format!("there is no {}", self.options.causeway.display()))?;
        let data = workplace.fresh_folder("data")?;
        let import = |picture: &[u8]| import(&binary, &data, workplace, picture);
        import(&[])?;
        let idle: Vec<Measurement> = (0..7).map(|_| import(&[])).collect::<Result<_>>()?;
        let idle_time = median(idle.iter().map(|import| import.elapsed.as_secs_f64()));
        let idle_peak = idle.iter().map(|import| import.peak).max().unwrap_or(0);
        let mut results = Vec::new();
        for HostilePicture { name, bytes, outcome } in corpus::all() {
            let mut best: Option<(f64, u64)> = None;
            for _ in 0..self.options.rounds {
                let measured = import(&bytes)?;
                ensure!(
                    measured.is_success || outcome == Outcome::Refused,
                    "{name} was refused"
                );
                let time = (measured.elapsed.as_secs_f64() - idle_time).max(0.0);
                let memory = measured.peak.saturating_sub(idle_peak);
                best = Some(best.map_or((time, memory), |best| (best.0.min(time), best.1.max(memory))));
            }
            let (time, memory) = best.context("no rounds")?;
            results.push((name, time, memory));
        }
        Ok(table(results, idle_time, idle_peak))
    }
}

fn table(mut results: Vec<(String, f64, u64)>, idle_time: f64, idle_peak: u64) -> Table {
    let title = format!(
        "{} hostile pictures, in excess of an import without one",
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
    let bound = "<= 200 ms, <= 128 MiB";
    let is_within = worst_time <= MAX_TIME.as_secs_f64() && worst_memory <= MAX_MEMORY;
    let [name, time, memory] = cells("worst case", worst_time, worst_memory);
    table.row(&[&name, &time, &memory, bound], Verdict::of(is_within));
    results.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut shown: Vec<_> = results.drain(..SHOWN_PICTURES.min(results.len())).collect();
    results.sort_by_key(|(_, _, memory)| std::cmp::Reverse(*memory));
    shown.extend(results.into_iter().take(SHOWN_PICTURES / 2));
    for (name, time, memory) in shown {
        let is_within = time <= MAX_TIME.as_secs_f64() && memory <= MAX_MEMORY;
        let [name, time, memory] = cells(&name, time, memory);
        table.row(&[&name, &time, &memory, bound], Verdict::of(is_within));
    }
    table.note(format!(
        "The import without a picture takes {:.0} ms and {}. The slowest and the largest pictures are shown; times are the best of all rounds.",
        idle_time * 1e3,
        mebibytes(idle_peak)
    ));
    table
}

/// Imports one line with or without a picture.
fn import(binary: &Path, data: &Path, workplace: &Workplace, picture: &[u8]) -> Result<Measurement> {
    let file = workplace.path("picture.jsonl");
    let logo = match picture {
        [] => "null".to_owned(),
        bytes => format!("\"data:image/png;base64,{}\"", base64(bytes)),
    };
    fs::write(
        &file,
        format!("{{\"ein\":\"020240383\",\"name\":\"A\",\"logo\":{logo}}}\n"),
    )?;
    // A picture that is already stored is not decoded again, so every import starts with an empty folder.
    fs::remove_dir_all(data)?;
    fs::create_dir(data)?;
    let mut command = Command::new(binary);
    command
        .args(["import", "nonprofits"])
        .arg(&file)
        .arg("--data")
        .arg(data);
    command
        .stdin(Stdio::null())
        .stdout(create(&workplace.path("stdout"))?)
        .stderr(create(&workplace.path("stderr"))?);
    let started = Instant::now();
    let running = Running::start(&mut command)?;
    let mut highest_peak = 0;
    loop {
        highest_peak = peak(running.id()).unwrap_or(highest_peak);
        if let Some(status) = running.exited()? {
            return Ok(Measurement {
                elapsed: started.elapsed(),
                peak: highest_peak,
                is_success: status.success(),
            });
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for index in 0..=group.len() {
            text.push(char::from(ALPHABET[(bits >> (18 - 6 * index) & 63) as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_written_without_padding() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"h"), "aA");
        assert_eq!(base64(b"hi"), "aGk");
        assert_eq!(base64(b"hi!"), "aGkh");
    }
}
