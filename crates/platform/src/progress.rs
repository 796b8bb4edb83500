//! Reports the progress of long work: a bar on a terminal, or a line every ten seconds elsewhere.

use crate::clock::Stopwatch;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Duration;

const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// Which of several imports is running. There is one standard error, so this is known to the whole process.
static CURRENT_STEP: Mutex<Option<String>> = Mutex::new(None);

/// One of several imports that a command runs. While it lives, everything that reports progress names it.
#[derive(Debug)]
pub struct Step(());

impl Step {
    /// Starts a step, counted from 1. Says so if standard error is not a terminal.
    pub fn start(number: usize, count: usize, title: &str) -> Step {
        let step = format!("step {number} of {count}");
        if !std::io::stderr().is_terminal() {
            print_line(&format!("{step}: {title}"));
        }
        set_current_step(Some(step));
        Step(())
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        set_current_step(None);
    }
}

fn set_current_step(step: Option<String>) {
    *CURRENT_STEP
        .lock()
        .expect("no thread panics while it holds this lock") = step;
}

/// Returns a label with the current step.
fn with_current_step(label: &str) -> String {
    let step = CURRENT_STEP
        .lock()
        .expect("no thread panics while it holds this lock");
    match &*step {
        Some(step) => format!("{step}, {label}"),
        None => label.to_owned(),
    }
}

/// The progress of one part of the work, such as reading a file.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    label: String,
    unit: Unit,
    is_terminal: bool,
    stopwatch: Stopwatch,
    last_line: Stopwatch,
}

/// The unit of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Rows,
}

impl Progress {
    /// Starts the display. `total` is 0 if it is not known.
    pub fn start(label: &'static str, total: u64, unit: Unit) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = match total {
            0 => ProgressBar::no_length(),
            total => ProgressBar::new(total),
        };
        bar.set_draw_target(target);
        let template = match unit {
            Unit::Bytes => "{msg:12} {wide_bar} {percent:>3}%  {bytes_per_sec}  {eta} left",
            Unit::Rows => "{msg:12} {wide_bar} {percent:>3}%  {per_sec}  {eta} left",
        };
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        let label = with_current_step(label);
        bar.set_message(label.clone());
        let stopwatch = Stopwatch::start();
        Progress {
            bar,
            label,
            unit,
            is_terminal,
            stopwatch,
            last_line: stopwatch,
        }
    }

    /// Updates the position.
    pub fn set_position(&mut self, position: u64) {
        self.bar.set_position(position);
        if !self.is_terminal && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Stopwatch::start();
            print_line(&self.line());
        }
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    fn line(&self) -> String {
        let position = self.bar.position();
        let rate = (position as f64 / self.stopwatch.elapsed().as_secs_f64()) as u64;
        let (done, rate) = match self.unit {
            Unit::Bytes => (
                format!("{} MB", position / 1_000_000),
                format!("{} MB/s", rate / 1_000_000),
            ),
            Unit::Rows => (
                format!("{} rows", HumanCount(position)),
                format!("{} rows/s", HumanCount(rate)),
            ),
        };
        match self.bar.length() {
            Some(total) if total > 0 => {
                let left = total
                    .saturating_sub(position)
                    .checked_div(rate_per_second(position, self.stopwatch))
                    .unwrap_or_default();
                let percent = 100 * position / total;
                format!(
                    "{}: {percent}%, {done}, {rate}, {} left",
                    self.label,
                    HumanDuration(Duration::from_secs(left))
                )
            }
            _ => format!("{}: {done}, {rate}", self.label),
        }
    }
}

/// Waits for work of unknown length, and reports how long it has been running.
pub async fn wait_with_spinner<T>(label: &'static str, work: impl Future<Output = T>) -> T {
    let is_terminal = std::io::stderr().is_terminal();
    let label = with_current_step(label);
    let bar = if is_terminal {
        ProgressBar::new_spinner().with_message(label.clone())
    } else {
        ProgressBar::hidden()
    };
    bar.enable_steady_tick(Duration::from_millis(100));
    let stopwatch = Stopwatch::start();
    let mut work = std::pin::pin!(work);
    let outcome = loop {
        match tokio::time::timeout(LINE_INTERVAL, &mut work).await {
            Ok(outcome) => break outcome,
            Err(_) if is_terminal => {}
            Err(_) => print_line(&format!("{label}: {} so far", HumanDuration(stopwatch.elapsed()))),
        }
    };
    bar.finish_and_clear();
    outcome
}

/// Prints a line. Ignores errors, because the work continues even if standard error is closed.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn rate_per_second(position: u64, stopwatch: Stopwatch) -> u64 {
    (position as f64 / stopwatch.elapsed().as_secs_f64().max(0.001)) as u64
}
