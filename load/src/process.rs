//! Runs commands and measures their time and memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::cleanup::{ChildProcess, ScratchDir};

const POLL_INTERVAL: Duration = Duration::from_millis(5);
const MAX_ERROR_LINES: usize = 5;

/// The result of a command that succeeded.
pub(crate) struct CompletedCommand {
    pub elapsed: Duration,
    /// The peak resident memory, in bytes.
    pub peak_memory: u64,
    pub stdout: String,
}

/// Runs `command` to completion. Its output goes through files, so that no pipe can fill up.
pub(crate) fn run(command: &mut Command, scratch: &ScratchDir) -> Result<CompletedCommand> {
    let stdout = scratch.path("stdout");
    let completed = run_to_file(command, scratch, &stdout)?;
    let stdout = fs::read(&stdout).context("cannot read the output of the command")?;
    Ok(CompletedCommand {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        ..completed
    })
}

/// Runs `command` to completion and writes its standard output to `stdout`.
pub(crate) fn run_to_file(
    command: &mut Command,
    scratch: &ScratchDir,
    stdout: &Path,
) -> Result<CompletedCommand> {
    let stderr = scratch.path("stderr");
    command
        .stdin(Stdio::null())
        .stdout(create(stdout)?)
        .stderr(create(&stderr)?);
    let started = Instant::now();
    let process = ChildProcess::start(command)?;
    let mut peak = 0;
    let status = loop {
        // The high-water mark never falls, so the last value read before the process exits is the peak.
        peak = peak_memory(process.id()).unwrap_or(peak);
        if let Some(status) = process.exit_status()? {
            break status;
        }
        thread::sleep(POLL_INTERVAL);
    };
    let elapsed = started.elapsed();
    if !status.success() {
        bail!(
            "{} ended with {status}{}",
            command_line(command),
            last_lines(&stderr)
        );
    }
    Ok(CompletedCommand {
        elapsed,
        peak_memory: peak,
        stdout: String::new(),
    })
}

/// Returns the resident memory of a running process, in bytes.
pub(crate) fn resident_memory(id: u32) -> Result<u64> {
    read_memory(id, "VmRSS").with_context(|| format!("process {id} has exited"))
}

/// Returns the peak resident memory of a running process, in bytes.
pub(crate) fn peak_memory(id: u32) -> Option<u64> {
    read_memory(id, "VmHWM")
}

/// Returns the last lines of a log file, for an error message.
pub(crate) fn last_lines(file: &Path) -> String {
    let text = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(MAX_ERROR_LINES)..]
        .iter()
        .fold(String::new(), |text, line| text + "\n  " + line)
}

pub(crate) fn create(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("cannot write {}", file.display()))
}

/// Returns a command for `program`, or an error that names its Debian package if it is not installed.
pub(crate) fn tool(program: &str, package: &str) -> Result<Command> {
    let is_installed = std::env::var_os("PATH")
        .is_some_and(|paths| std::env::split_paths(&paths).any(|folder| folder.join(program).is_file()));
    if !is_installed {
        bail!("{program} is not installed; on Debian: apt-get install {package}");
    }
    Ok(Command::new(program))
}

fn read_memory(id: u32, field: &str) -> Option<u64> {
    parse_memory(&fs::read_to_string(format!("/proc/{id}/status")).ok()?, field)
}

/// Parses a field of `/proc/PID/status` into bytes.
fn parse_memory(status: &str, field: &str) -> Option<u64> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let kibibytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

fn command_line(command: &Command) -> String {
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
    fn memory_is_parsed_from_proc_status() {
        let status = "Name:\tcauseway\nVmHWM:\t  1536 kB\nVmRSS:\t    12 kB\nThreads:\t3\n";
        assert_eq!(parse_memory(status, "VmHWM"), Some(1_572_864));
        assert_eq!(parse_memory(status, "VmRSS"), Some(12_288));
        assert_eq!(parse_memory(status, "VmSwap"), None);
    }

    #[test]
    fn the_error_of_a_failed_command_includes_its_last_lines() {
        let scratch = ScratchDir::new(None).unwrap();
        let mut command = Command::new("sh");
        let error = run(command.args(["-c", "echo no space left >&2; exit 3"]), &scratch)
            .err()
            .unwrap();
        let text = error.to_string();
        assert!(text.contains("no space left") && text.contains('3'), "{text}");
    }

    #[test]
    fn the_error_for_a_missing_tool_names_its_package() {
        let error = tool("no-such-program-anywhere", "some-package").err().unwrap();
        assert!(error.to_string().contains("apt-get install some-package"));
    }
}
