//! Parses the output of `import irs --json`: one object with the number of new, changed, gone and refused
//! rows.
//!
//! A count may be a number or a list, at any depth of the object.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Upper bound for building the index of 1.8 million nonprofits on two cores.
pub(crate) const MAX_INDEX_TIME: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub(crate) struct ImportSummary {
    pub new: u64,
    pub changed: u64,
    pub gone: u64,
    pub refused: u64,
    /// Time to build the search index, if the import reported it.
    pub index_time: Option<Duration>,
}

impl ImportSummary {
    pub(crate) fn parse(output: &str) -> Result<Self> {
        let line = output
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        let value: Value = serde_json::from_str(output)
            .or_else(|_| serde_json::from_str(line))
            .with_context(|| format!("`import irs --json` printed {line:?}"))?;
        let count = |name: &str| match find(&value, &|key| key == name) {
            Some((_, Value::Number(number))) => Ok(number.as_u64().unwrap_or(0)),
            Some((_, Value::Array(list))) => Ok(list.len() as u64),
            _ => bail!("`import irs --json` has no count {name:?}: {line}"),
        };
        Ok(Self {
            new: count("new")?,
            changed: count("changed")?,
            gone: count("gone")?,
            refused: count("refused")?,
            index_time: index_time(&value),
        })
    }

    /// Returns whether the import left the directory as it was.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.new == 0 && self.changed == 0 && self.gone == 0
    }
}

/// Finds the build time of the index under a key such as `index_ms`, `index_seconds` or `indexMs`.
fn index_time(value: &Value) -> Option<Duration> {
    let is_index_time = |key: &str| key.starts_with("index") && seconds_per_unit(key).is_some();
    let (key, value) = find(value, &is_index_time)?;
    let seconds = value.as_f64()? * seconds_per_unit(key)?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn seconds_per_unit(key: &str) -> Option<f64> {
    let key = key.to_ascii_lowercase();
    if key.ends_with("ms") || key.ends_with("millis") || key.ends_with("milliseconds") {
        Some(0.001)
    } else if key.ends_with("seconds") || key.ends_with("_s") {
        Some(1.0)
    } else {
        None
    }
}

/// Finds the first key that `matches`, searching nested objects last.
fn find<'v>(value: &'v Value, matches: &dyn Fn(&str) -> bool) -> Option<(&'v str, &'v Value)> {
    let object = value.as_object()?;
    let here = object.iter().find(|(key, _)| matches(key));
    here.map(|(key, value)| (key.as_str(), value))
        .or_else(|| object.values().find_map(|inner| find(inner, matches)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_numbers_or_lists_at_any_depth() {
        let text =
            r#"{"file":"x","rows":{"new":3,"changed":0,"gone":0},"refused":[{"line":2}],"index_ms":1500}"#;
        let summary = ImportSummary::parse(text).unwrap();
        assert_eq!(
            (summary.new, summary.changed, summary.gone, summary.refused),
            (3, 0, 0, 1)
        );
        assert_eq!(summary.index_time, Some(Duration::from_millis(1500)));
        assert!(!summary.is_unchanged());
    }

    #[test]
    fn a_repeated_import_changes_nothing() {
        let summary = ImportSummary::parse(r#"{"new":0,"changed":0,"gone":0,"refused":7}"#).unwrap();
        assert!(summary.is_unchanged());
        assert_eq!(summary.index_time, None);
    }

    #[test]
    fn the_error_names_a_missing_count() {
        let error = ImportSummary::parse(r#"{"new":0,"changed":0,"refused":0}"#).unwrap_err();
        assert!(error.to_string().contains("gone"));
        assert!(ImportSummary::parse("done").is_err());
    }
}
