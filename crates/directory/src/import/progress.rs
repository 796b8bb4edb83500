//! How far long work is: a bar on a terminal, a line every ten seconds elsewhere.

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use platform::clock::Stopwatch;
use std::io::{IsTerminal, Write};
use std::time::Duration;

const LINE_EVERY: Duration = Duration::from_secs(10);

/// One stretch of work whose length is known.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    label: &'static str,
    unit: Unit,
    on_terminal: bool,
    begun: Stopwatch,
    last_line: Stopwatch,
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Rows,
}

impl Progress {
    /// Begins; `total` is 0 where the end is not known.
    pub fn start(label: &'static str, total: u64, unit: Unit) -> Progress {
        let on_terminal = std::io::stderr().is_terminal();
        let target = if on_terminal {
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
        bar.set_message(label);
        let stopwatch = Stopwatch::start();
        Progress {
            bar,
            label,
            unit,
            on_terminal,
            begun: stopwatch,
            last_line: stopwatch,
        }
    }

    /// Says how far the work is.
    pub fn set_position(&mut self, position: u64) {
        self.bar.set_position(position);
        if !self.on_terminal && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Stopwatch::start();
            tell(&self.line());
        }
    }

    /// Ends; the bar goes.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }

    fn line(&self) -> String {
        let position = self.bar.position();
        let rate = (position as f64 / self.begun.elapsed().as_secs_f64()) as u64;
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
                    .checked_div(rate_of(position, self.begun))
                    .unwrap_or_default();
                let percent = 100 * position / total;
                format!(
                    "{}: {percent} %, {done}, {rate}, {} left",
                    self.label,
                    HumanDuration(Duration::from_secs(left))
                )
            }
            _ => format!("{}: {done}, {rate}", self.label),
        }
    }
}

/// Waits for work of which nobody knows how far it is, and says how long it has taken.
pub async fn wait_with_spinner<T>(label: &'static str, work: impl Future<Output = T>) -> T {
    let on_terminal = std::io::stderr().is_terminal();
    let bar = match on_terminal {
        true => ProgressBar::new_spinner().with_message(label),
        false => ProgressBar::hidden(),
    };
    bar.enable_steady_tick(Duration::from_millis(100));
    let begun = Stopwatch::start();
    let mut work = std::pin::pin!(work);
    let outcome = loop {
        match tokio::time::timeout(LINE_EVERY, &mut work).await {
            Ok(outcome) => break outcome,
            Err(_) if on_terminal => {}
            Err(_) => tell(&format!("{label}: {} so far", HumanDuration(begun.elapsed()))),
        }
    };
    bar.finish_and_clear();
    outcome
}

/// The work goes on also where nobody reads any more.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn rate_of(position: u64, begun: Stopwatch) -> u64 {
    (position as f64 / begun.elapsed().as_secs_f64().max(0.001)) as u64
}
