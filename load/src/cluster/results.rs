//! The rows of the table. A measurement that fails is a row that missed its bound, and the others go on.

use anyhow::Result;

use crate::table::{Table, Verdict};

pub(super) struct Results {
    table: Table,
}

/// What a measurement found.
pub(super) struct Finding {
    pub value: String,
    pub verdict: Verdict,
}

impl Finding {
    pub(super) fn new(value: impl Into<String>, verdict: Verdict) -> Self {
        Self {
            value: value.into(),
            verdict,
        }
    }

    /// A finding that is within its bound, or not.
    pub(super) fn bounded(value: impl Into<String>, is_met: bool) -> Self {
        Self::new(value, Verdict::of(is_met))
    }
}

impl Results {
    pub(super) fn new(title: String) -> Self {
        Self {
            table: Table::new(title, &["measurement", "bound", "result"]),
        }
    }

    /// Adds a row. Without a bound it can only miss by an error.
    pub(super) fn add(&mut self, name: &str, bound: &str, finding: Result<Finding>) {
        let finding =
            finding.unwrap_or_else(|error| Finding::bounded(format!("{error:#}").replace('\n', " "), false));
        eprintln!("{name}: {} {}", finding.value, finding.verdict);
        self.table
            .add_row(&[name, bound, &finding.value], finding.verdict);
    }

    pub(super) fn into_table(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_that_fails_is_a_missed_row() {
        let mut results = Results::new("Cluster".to_owned());
        results.add("limit", "500", Ok(Finding::bounded("500", true)));
        results.add("restore", "", Err(anyhow::anyhow!("no answer\nfor a minute")));
        let table = results.into_table();
        assert_eq!(table.missed_bounds(), 1);
        assert!(table.to_string().contains("no answer for a minute"), "{table}");
    }
}
