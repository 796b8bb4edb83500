//! Metrics: the table of the guide, the alert rules and the dashboard against the definitions of the code.

use causeway::app::metrics::definitions::{ALL, Kind};
use std::collections::HashSet;

/// The guide with the table of all metrics.
pub const GUIDE: &str = "docs/operate.md";

/// What the names of our metrics start with.
const PREFIXES: [&str; 2] = ["causeway_", "process_"];
/// What Prometheus appends to the name of a histogram.
const HISTOGRAM_SUFFIXES: [&str; 3] = ["_bucket", "_sum", "_count"];

/// Compares the rows of the guide with the definitions: names in both directions, and the labels.
pub fn check_guide(guide: &str) -> Vec<String> {
    let rows: Vec<(&str, Vec<&str>)> = guide.lines().filter_map(row).collect();
    let mut problems = Vec::new();
    for definition in ALL {
        match rows.iter().find(|(name, _)| *name == definition.name) {
            None => problems.push(format!("{GUIDE} does not list {}", definition.name)),
            Some((_, labels)) if labels != definition.labels => problems.push(format!(
                "{GUIDE} lists the labels {labels:?} of {}, which has {:?}",
                definition.name, definition.labels
            )),
            Some(_) => {}
        }
    }
    for (name, _) in &rows {
        if ALL.iter().all(|definition| definition.name != *name) {
            problems.push(format!("{GUIDE} lists {name}, which does not exist"));
        }
    }
    problems
}

/// The name and the labels of a row: `` | `name` | `label`, `label` | meaning | ``.
fn row(line: &str) -> Option<(&str, Vec<&str>)> {
    let mut cells = line.strip_prefix('|')?.split('|');
    let name = cells.next()?.trim().trim_matches('`');
    let is_metric = PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let labels = cells
        .next()?
        .split(',')
        .map(|label| label.trim().trim_matches('`'));
    is_metric.then(|| (name, labels.filter(|label| !label.is_empty()).collect()))
}

/// Reports metrics in the queries of a file that do not exist.
pub fn check_queries(path: &str, text: &str) -> Vec<String> {
    let known: HashSet<String> = ALL
        .iter()
        .flat_map(|definition| match definition.kind {
            Kind::Histogram => HISTOGRAM_SUFFIXES
                .map(|suffix| format!("{}{suffix}", definition.name))
                .to_vec(),
            Kind::Counter | Kind::Gauge => vec![definition.name.to_owned()],
        })
        .collect();
    let words: HashSet<&str> = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| PREFIXES.iter().any(|prefix| word.starts_with(prefix)))
        .collect();
    if words.is_empty() {
        return vec![format!("{path} queries no metric")];
    }
    let mut unknown: Vec<&str> = words.into_iter().filter(|word| !known.contains(*word)).collect();
    unknown.sort_unstable();
    unknown
        .iter()
        .map(|name| format!("{path}: there is no metric {name}"))
        .collect()
}

#[test]
fn a_wrong_metric_is_reported() {
    let good = "sum(rate(causeway_requests_total[5m])) / causeway_request_seconds_bucket";
    assert_eq!(check_queries("x", good), [""; 0]);
    for wrong in ["causeway_request_total", "causeway_request_seconds", "up"] {
        assert_eq!(check_queries("x", wrong).len(), 1, "{wrong}");
    }
    let row = "| `causeway_ready` | | Whether it is ready |\n| `causeway_gone_total` | | What was |";
    let problems = check_guide(row);
    assert_eq!(
        problems.len(),
        ALL.len(),
        "all but one are missing, and one is unknown"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("causeway_gone_total"))
    );
}
