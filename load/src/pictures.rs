//! Every hostile picture of the tests, sent through `causeway import nonprofits`, each in a process of its own.
//!
//! Time and peak memory stand over those of the same import without a picture.

#[path = "../../crates/pictures/tests/pictures/corpus/mod.rs"]
mod corpus;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use self::corpus::{Fate, Hostile};
use crate::cleanup::{Running, Workplace};
use crate::figures::{MEBIBYTE, mebibytes, median};
use crate::options::Options;
use crate::process::{create, peak};
use crate::table::{Table, Verdict};

const MOST_TIME: Duration = Duration::from_millis(200);
const MOST_MEMORY: u64 = 128 * MEBIBYTE;
const SHOWN: usize = 8;
const LOOK_EVERY: Duration = Duration::from_millis(1);

#[derive(Args)]
pub struct Pictures {
    #[command(flatten)]
    pub options: Options,
}

/// What one import took.
struct Taken {
    elapsed: Duration,
    peak: u64,
    is_done: bool,
}

impl Pictures {
    pub fn measure(&self, workplace: &Workplace) -> Result<Table> {
        let binary = fs::canonicalize(&self.options.causeway)
            .with_context(|| format!("there is no {}", self.options.causeway.display()))?;
        let data = workplace.fresh_folder("data")?;
        let import = |picture: &[u8]| import(&binary, &data, workplace, picture);
        import(&[])?;
        let idle: Vec<Taken> = (0..7).map(|_| import(&[])).collect::<Result<_>>()?;
        let idle_time = median(idle.iter().map(|taken| taken.elapsed.as_secs_f64()));
        let idle_peak = idle.iter().map(|taken| taken.peak).max().unwrap_or(0);
        let mut found = Vec::new();
        for Hostile { name, bytes, fate } in corpus::all() {
            let mut best: Option<(f64, u64)> = None;
            for _ in 0..self.options.rounds {
                let taken = import(&bytes)?;
                ensure!(taken.is_done || fate == Fate::Refused, "{name} was not taken");
                let time = (taken.elapsed.as_secs_f64() - idle_time).max(0.0);
                let memory = taken.peak.saturating_sub(idle_peak);
                best = Some(best.map_or((time, memory), |best| (best.0.min(time), best.1.max(memory))));
            }
            let (time, memory) = best.context("no rounds")?;
            found.push((name, time, memory));
        }
        Ok(table(found, idle_time, idle_peak))
    }
}

fn table(mut found: Vec<(String, f64, u64)>, idle_time: f64, idle_peak: u64) -> Table {
    let title = format!("{} hostile pictures, over an import without one", found.len());
    let mut table = Table::new(title, &["picture", "time", "peak memory", "bound"]);
    let cells = |name: &str, time: f64, memory: u64| {
        [
            name.to_owned(),
            format!("{:.0} ms", time * 1e3),
            mebibytes(memory),
        ]
    };
    let worst_time = found.iter().map(|(_, time, _)| *time).fold(0.0, f64::max);
    let worst_memory = found.iter().map(|(_, _, memory)| *memory).max().unwrap_or(0);
    let bound = "<= 200 ms, <= 128 MiB";
    let is_kept = worst_time <= MOST_TIME.as_secs_f64() && worst_memory <= MOST_MEMORY;
    let [name, time, memory] = cells("the worst of all", worst_time, worst_memory);
    table.row(&[&name, &time, &memory, bound], Verdict::of(is_kept));
    found.sort_by(|one, other| other.1.total_cmp(&one.1));
    let mut shown: Vec<_> = found.drain(..SHOWN.min(found.len())).collect();
    found.sort_by_key(|(_, _, memory)| std::cmp::Reverse(*memory));
    shown.extend(found.into_iter().take(SHOWN / 2));
    for (name, time, memory) in shown {
        let is_kept = time <= MOST_TIME.as_secs_f64() && memory <= MOST_MEMORY;
        let [name, time, memory] = cells(&name, time, memory);
        table.row(&[&name, &time, &memory, bound], Verdict::of(is_kept));
    }
    table.note(format!(
        "The import without a picture takes {:.0} ms and {}. Shown are the slowest and the largest; the time is the best of the rounds.",
        idle_time * 1e3,
        mebibytes(idle_peak)
    ));
    table
}

/// Imports one line with a picture, or without one.
fn import(binary: &Path, data: &Path, workplace: &Workplace, picture: &[u8]) -> Result<Taken> {
    let file = workplace.path("picture.jsonl");
    let logo = match picture {
        [] => "null".to_owned(),
        bytes => format!("\"data:image/png;base64,{}\"", base64(bytes)),
    };
    fs::write(
        &file,
        format!("{{\"ein\":\"020240383\",\"name\":\"A\",\"logo\":{logo}}}\n"),
    )?;
    // Known pictures are not decoded again, so every import begins with none.
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
    let mut highest = 0;
    loop {
        highest = peak(running.id()).unwrap_or(highest);
        if let Some(status) = running.exited()? {
            return Ok(Taken {
                elapsed: started.elapsed(),
                peak: highest,
                is_done: status.success(),
            });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(char::from(LETTERS[(bits >> (18 - 6 * place) & 63) as usize]));
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
