//! Runs a command to its end and says how long it took and how much memory it held; reads the memory of a
//! running one.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cleanup::{Running, Workplace};

const LOOK_EVERY: Duration = Duration::from_millis(5);
const LINES_SHOWN: usize = 5;

pub struct Finished {
    pub elapsed: Duration,
    /// The highest resident size, in bytes.
    pub peak: u64,
    pub output: String,
}

/// Runs `command` to its end; what it prints is taken by way of files, so that no pipe can fill up.
pub fn run(command: &mut Command, workplace: &Workplace) -> Result<Finished> {
    let output = workplace.path("stdout");
    let finished = run_into(command, workplace, &output)?;
    let output = fs::read(&output).context("cannot read what the command printed")?;
    Ok(Finished {
        output: String::from_utf8_lossy(&output).into_owned(),
        ..finished
    })
}

/// As `run`, with the output left in a file.
pub fn run_into(command: &mut Command, workplace: &Workplace, output: &Path) -> Result<Finished> {
    let errors = workplace.path("stderr");
    command
        .stdin(Stdio::null())
        .stdout(create(output)?)
        .stderr(create(&errors)?);
    let started = Instant::now();
    let running = Running::start(command)?;
    let mut peak = 0;
    let status = loop {
        // The high-water mark only rises, so the last look before the end is the peak.
        peak = memory(running.id(), "VmHWM").unwrap_or(peak);
        if let Some(status) = running.exited()? {
            break status;
        }
        thread::sleep(LOOK_EVERY);
    };
    let elapsed = started.elapsed();
    if !status.success() {
        bail!("{} ended with {status}{}", spoken(command), last_lines(&errors));
    }
    Ok(Finished {
        elapsed,
        peak,
        output: String::new(),
    })
}

pub fn resident(id: u32) -> Result<u64> {
    memory(id, "VmRSS").with_context(|| format!("process {id} has ended"))
}

/// The highest resident size so far of a process that runs.
pub fn peak(id: u32) -> Option<u64> {
    memory(id, "VmHWM")
}

/// The end of what a command had to say, for an error message.
pub fn last_lines(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES_SHOWN)..]
        .iter()
        .fold(String::new(), |text, line| text + "\n  " + line)
}

pub fn create(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("cannot write {}", file.display()))
}

/// A program that Debian has in `package`; where it is missing, the error says how to get it.
pub fn tool(program: &str, package: &str) -> Result<Command> {
    let found = std::env::var_os("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()));
    if !found {
        bail!("{program} is not installed; on Debian: apt-get install {package}");
    }
    Ok(Command::new(program))
}

fn memory(id: u32, field: &str) -> Option<u64> {
    in_bytes(&fs::read_to_string(format!("/proc/{id}/status")).ok()?, field)
}

fn in_bytes(status: &str, field: &str) -> Option<u64> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn spoken(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_process_is_read_from_its_status() {
        let status = "Name:\tcauseway\nVmHWM:\t  1536 kB\nVmRSS:\t    12 kB\nThreads:\t3\n";
        assert_eq!(in_bytes(status, "VmHWM"), Some(1_572_864));
        assert_eq!(in_bytes(status, "VmRSS"), Some(12_288));
        assert_eq!(in_bytes(status, "VmSwap"), None);
    }

    #[test]
    fn a_command_that_fails_is_quoted_with_its_last_words() {
        let workplace = Workplace::new(None).unwrap();
        let mut command = Command::new("sh");
        let error = run(command.args(["-c", "echo no space left >&2; exit 3"]), &workplace)
            .err()
            .unwrap();
        let text = error.to_string();
        assert!(text.contains("no space left") && text.contains('3'), "{text}");
    }

    #[test]
    fn a_missing_tool_is_named_with_its_package() {
        let error = tool("no-such-program-anywhere", "some-package").err().unwrap();
        assert!(error.to_string().contains("apt-get install some-package"));
    }
}
