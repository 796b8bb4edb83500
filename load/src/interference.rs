//! Measures how much CPU time other processes used during a benchmark.
//!
//! Ratios compensate for a slow machine but not for a busy one. If other processes used much CPU time, the
//! table says so.

use std::time::Duration;
use std::{fs, process};

use crate::cores::Cores;

/// Above this fraction of CPU time, the note recommends repeating the benchmark.
const MAX_FRACTION: f64 = 0.05;

/// Clock ticks since boot of a core, or of all cores, and of the benchmarked processes.
#[derive(Clone, Copy, Default)]
struct Ticks {
    total: u64,
    busy: u64,
    own: u64,
}

/// Compares the CPU time of a core with that of the benchmarked processes.
pub(crate) struct CpuMonitor {
    name: &'static str,
    /// The name of the line in `/proc/stat`, such as `cpu0`, or `cpu` for all cores.
    stat_line: String,
    processes: Vec<u32>,
    start: Option<Ticks>,
}

impl CpuMonitor {
    /// Monitors the core of the server and the core of this program.
    pub(crate) fn for_cores(cores: Cores, servers: &[u32]) -> [Self; 2] {
        [
            Self::new(
                "the server's core",
                format!("cpu{}", cores.server_core),
                servers.to_vec(),
            ),
            Self::new(
                "this program's core",
                format!("cpu{}", cores.client_core),
                vec![process::id()],
            ),
        ]
    }

    /// Monitors all cores. Commands that this program waits for count as benchmarked processes.
    pub(crate) fn for_machine() -> [Self; 1] {
        [Self::new("the machine", "cpu".to_owned(), vec![process::id()])]
    }

    fn new(name: &'static str, stat_line: String, processes: Vec<u32>) -> Self {
        let start = ticks(&stat_line, &processes);
        Self {
            name,
            stat_line,
            processes,
            start,
        }
    }

    fn other_fraction(&self) -> Option<f64> {
        other_fraction(self.start?, ticks(&self.stat_line, &self.processes)?)
    }
}

/// Returns the sentence to print below the table.
pub(crate) fn note(monitors: &[CpuMonitor]) -> String {
    let fractions: Vec<(&str, f64)> = monitors
        .iter()
        .filter_map(|monitor| Some((monitor.name, monitor.other_fraction()?)))
        .collect();
    if fractions.is_empty() {
        return "The CPU time used by other processes is unknown.".to_owned();
    }
    let parts: Vec<String> = fractions
        .iter()
        .map(|(name, fraction)| format!("{:.0}% of {name}", fraction * 100.0))
        .collect();
    let advice = if fractions.iter().any(|(_, fraction)| *fraction > MAX_FRACTION) {
        "; repeat the benchmark on an idle machine"
    } else {
        ""
    };
    format!("Other processes used {}{advice}.", parts.join(" and "))
}

/// Returns the fraction of CPU time that other processes used from `start` to `now`, or `None` before the
/// first tick.
fn other_fraction(start: Ticks, now: Ticks) -> Option<f64> {
    let total = now.total.saturating_sub(start.total);
    let own = now.own.saturating_sub(start.own);
    let other = now.busy.saturating_sub(start.busy).saturating_sub(own);
    (total > 0).then(|| other as f64 / total as f64)
}

fn ticks(stat_line: &str, processes: &[u32]) -> Option<Ticks> {
    let mut ticks = core_ticks(&fs::read_to_string("/proc/stat").ok()?, stat_line)?;
    for id in processes {
        ticks.own += process_ticks(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    }
    Some(ticks)
}

/// Returns the CPU time that a process has used so far, in user mode and in the kernel.
pub(crate) fn cpu_time(id: u32) -> Option<Duration> {
    // Ticks of proc(5), which are a hundredth of a second on Linux.
    let ticks = process_ticks(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    Some(Duration::from_millis(ticks * 10))
}

/// Parses the line `name` of `/proc/stat`, whose fields are user, nice, system, idle, iowait, irq, softirq
/// and steal (proc(5)).
///
/// Interrupts do not count as busy: those of the benchmark's own traffic are not attributed to any process.
fn core_ticks(stat: &str, name: &str) -> Option<Ticks> {
    let line = stat.lines().find(|line| line.split(' ').next() == Some(name))?;
    let fields: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|field| field.parse().ok())
        .collect();
    let total = fields.get(..8)?.iter().sum();
    Some(Ticks {
        total,
        busy: fields[0] + fields[1] + fields[2] + fields[7],
        own: 0,
    })
}

/// Parses the user and system time of a process and of the children it has waited for from `/proc/PID/stat`.
///
/// The process name may contain spaces and parentheses, so the fields are counted from the last parenthesis.
fn process_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let times: Vec<u64> = rest
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse().ok())
        .collect();
    (times.len() == 4).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_read_from_the_line_of_the_core() {
        let stat = "cpu  10 0 10 70 0 5 5 0 0 0\ncpu1 4 1 3 50 2 1 1 6 0 0\ncpu10 9 9 9 9 9 9 9 9 0 0\n";
        let ticks = core_ticks(stat, "cpu1").unwrap();
        assert_eq!((ticks.total, ticks.busy), (68, 14));
        assert_eq!(core_ticks(stat, "cpu").unwrap().total, 100);
        assert!(core_ticks(stat, "cpu2").is_none());
    }

    #[test]
    fn a_process_name_may_contain_parentheses() {
        let stat = "42 (odd) name) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 3 2 20 0 1 0 100 1000 10";
        assert_eq!(process_ticks(stat), Some(17));
    }

    #[test]
    fn busy_time_minus_own_time_belongs_to_other_processes() {
        let ticks = |total, busy, own| Ticks { total, busy, own };
        let fraction = other_fraction(ticks(100, 50, 10), ticks(300, 200, 60)).unwrap();
        assert!((fraction - 0.5).abs() < f64::EPSILON);
        assert_eq!(other_fraction(ticks(1, 1, 1), ticks(1, 1, 1)), None);
        assert_eq!(other_fraction(ticks(0, 0, 0), ticks(10, 5, 6)), Some(0.0));
    }
}
