//! How much of a core other work took while something was measured. A ratio forgives a slow machine, not a busy one:
//! where others took much, latencies are theirs and not the server's, and the table says so.

use std::{fs, process};

use crate::cores::Cores;

/// Above this share the reader is told to repeat the measurement.
const MUCH: f64 = 0.05;

/// Ticks of a core (or of all of them) and of the processes under measurement, since some start.
#[derive(Clone, Copy, Default)]
struct Ticks {
    all: u64,
    busy: u64,
    ours: u64,
}

pub struct Watch {
    name: &'static str,
    line: String,
    processes: Vec<u32>,
    start: Option<Ticks>,
}

impl Watch {
    /// The core of the server and the core of this program.
    pub fn both_cores(cores: Cores, servers: &[u32]) -> [Self; 2] {
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

    /// All cores; ours is what this program and the commands it waits for use.
    pub fn machine() -> [Self; 1] {
        [Self::new("the machine", "cpu".to_owned(), vec![process::id()])]
    }

    fn new(name: &'static str, line: String, processes: Vec<u32>) -> Self {
        let start = ticks(&line, &processes);
        Self {
            name,
            line,
            processes,
            start,
        }
    }

    fn others(&self) -> Option<f64> {
        others(self.start?, ticks(&self.line, &self.processes)?)
    }
}

/// What to write under the table.
pub fn note(watches: &[Watch]) -> String {
    let shares: Vec<(&str, f64)> = watches
        .iter()
        .filter_map(|watch| Some((watch.name, watch.others()?)))
        .collect();
    if shares.is_empty() {
        return "How much other work disturbed this is not known.".to_owned();
    }
    let parts: Vec<String> = shares
        .iter()
        .map(|(name, share)| format!("{:.0} % of {name}", share * 100.0))
        .collect();
    let advice = if shares.iter().any(|(_, share)| *share > MUCH) {
        ": repeat on an idle machine"
    } else {
        ""
    };
    format!("Meanwhile other work took {}{advice}.", parts.join(" and "))
}

/// The share of the time from `start` to `now` that went to others; `None` before the first tick.
fn others(start: Ticks, now: Ticks) -> Option<f64> {
    let all = now.all.saturating_sub(start.all);
    let ours = now.ours.saturating_sub(start.ours);
    let others = now.busy.saturating_sub(start.busy).saturating_sub(ours);
    (all > 0).then(|| others as f64 / all as f64)
}

fn ticks(line: &str, processes: &[u32]) -> Option<Ticks> {
    let mut ticks = core_ticks(&fs::read_to_string("/proc/stat").ok()?, line)?;
    for id in processes {
        ticks.ours += process_ticks(&fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?;
    }
    Some(ticks)
}

/// Fields of proc(5): user nice system idle iowait irq softirq steal. Interrupts are left out of busy, because
/// those of our own traffic are charged to nobody.
fn core_ticks(stat: &str, name: &str) -> Option<Ticks> {
    let line = stat.lines().find(|line| line.split(' ').next() == Some(name))?;
    let fields: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|field| field.parse().ok())
        .collect();
    let all = fields.get(..8)?.iter().sum();
    Some(Ticks {
        all,
        busy: fields[0] + fields[1] + fields[2] + fields[7],
        ours: 0,
    })
}

/// User and system time of a process and of the children it has waited for. The name before may hold anything,
/// also blanks and brackets, so counting starts at the last bracket.
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
    fn the_ticks_of_one_core_are_not_those_of_another() {
        let stat = "cpu  10 0 10 70 0 5 5 0 0 0\ncpu1 4 1 3 50 2 1 1 6 0 0\ncpu10 9 9 9 9 9 9 9 9 0 0\n";
        let ticks = core_ticks(stat, "cpu1").unwrap();
        assert_eq!((ticks.all, ticks.busy), (68, 14));
        assert_eq!(core_ticks(stat, "cpu").unwrap().all, 100);
        assert!(core_ticks(stat, "cpu2").is_none());
    }

    #[test]
    fn a_process_with_an_odd_name_is_read_all_the_same() {
        let stat = "42 (odd) name) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 3 2 20 0 1 0 100 1000 10";
        assert_eq!(process_ticks(stat), Some(17));
    }

    #[test]
    fn what_others_took_is_what_is_busy_and_not_ours() {
        let ticks = |all, busy, ours| Ticks { all, busy, ours };
        let share = others(ticks(100, 50, 10), ticks(300, 200, 60)).unwrap();
        assert!((share - 0.5).abs() < f64::EPSILON);
        assert_eq!(others(ticks(1, 1, 1), ticks(1, 1, 1)), None);
        assert_eq!(others(ticks(0, 0, 0), ticks(10, 5, 6)), Some(0.0));
    }
}
