//! What Linux knows about this process, under the names that all Prometheus clients use.

use super::definitions::{
    PROCESS_CPU, PROCESS_FDS, PROCESS_MAX_FDS, PROCESS_RESIDENT, PROCESS_START, PROCESS_VIRTUAL,
};
use super::registry::Registry;
use metrics::Gauge;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The unit of times in `/proc`, the same on all architectures that Linux calls 64-bit.
const TICKS_PER_SECOND: f64 = 100.0;
/// The fields of `/proc/self/stat`, counted from the state of the process, which follows its name.
const USER_TICKS: usize = 11;
const SYSTEM_TICKS: usize = 12;
const VIRTUAL_BYTES: usize = 20;

/// The metrics of the process. Where there is no `/proc`, they are not exported.
pub struct ProcessMetrics(Option<Gauges>);

struct Gauges {
    resident: Gauge,
    virtual_memory: Gauge,
    open_fds: Gauge,
    max_fds: Gauge,
}

impl ProcessMetrics {
    /// Registers the metrics. `now` is the start of the process, in milliseconds since the Unix epoch: a process in a
    /// sandbox may not learn from `/proc` when the machine was booted, which the start there is relative to.
    pub fn new(registry: &Registry, now: i64) -> ProcessMetrics {
        registry.gauge(PROCESS_START).set(now as f64 / 1_000.0);
        let gauges = || Gauges {
            resident: registry.gauge(PROCESS_RESIDENT),
            virtual_memory: registry.gauge(PROCESS_VIRTUAL),
            open_fds: registry.gauge(PROCESS_FDS),
            max_fds: registry.gauge(PROCESS_MAX_FDS),
        };
        ProcessMetrics(Path::new("/proc/self/stat").exists().then(gauges))
    }

    /// Sets the gauges, renders the page, and appends the CPU time: counters of the registry are whole numbers.
    pub fn render_with(&self, render: impl FnOnce() -> String) -> String {
        let cpu = self.0.as_ref().and_then(Gauges::update);
        let mut page = render();
        if let Some(seconds) = cpu {
            let (name, help) = (PROCESS_CPU.name, PROCESS_CPU.help);
            let _ = writeln!(
                page,
                "# HELP {name} {help}\n# TYPE {name} counter\n{name} {seconds}\n"
            );
        }
        page
    }
}

impl Gauges {
    /// Sets all gauges, and returns the CPU time in seconds.
    fn update(&self) -> Option<f64> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        let numbers = numbers(&stat);
        let number = |field: usize| numbers.get(field).copied().unwrap_or_default();
        self.virtual_memory.set(number(VIRTUAL_BYTES));
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        self.resident
            .set(value_after(&status, "VmRSS:").unwrap_or_default() * 1_024.0);
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        self.max_fds
            .set(value_after(&limits, "Max open files").unwrap_or_default());
        self.open_fds
            .set(fs::read_dir("/proc/self/fd").map_or(0.0, |entries| entries.count() as f64));
        Some((number(USER_TICKS) + number(SYSTEM_TICKS)) / TICKS_PER_SECOND)
    }
}

/// Returns the fields of `/proc/self/stat` after the name, which is in parentheses and may contain spaces and
/// parentheses itself. The state, which is a letter, counts as 0.
fn numbers(stat: &str) -> Vec<f64> {
    let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
    fields
        .split_whitespace()
        .map(|field| field.parse().unwrap_or_default())
        .collect()
}

/// Returns the first number after a label at the start of a line.
fn value_after(text: &str, label: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(label))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_may_contain_spaces_and_parentheses() {
        let stat =
            "7 (a) b (c) S 1 7 7 0 -1 4194560 10 20 30 40 150 50 0 0 20 0 4 0 98765 123456789 321 rest";
        let numbers = numbers(stat);
        let number = |field: usize| numbers.get(field).copied();
        assert_eq!(
            (number(USER_TICKS), number(SYSTEM_TICKS)),
            (Some(150.0), Some(50.0))
        );
        assert_eq!(number(VIRTUAL_BYTES), Some(123_456_789.0));
        assert_eq!(
            value_after("VmPeak:\t 9 kB\nVmRSS:\t  12 kB\n", "VmRSS:"),
            Some(12.0)
        );
        assert_eq!(value_after("Max open files   unlimited", "Max open files"), None);
    }
}
