//! What `import irs --json` says it did: one object with the counts of new, changed, gone and refused rows.
//! A count may be a number or the list of what is counted, and may stand at any depth.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Building the index of 1.8 million nonprofits on two cores takes less.
pub const INDEX_BOUND: Duration = Duration::from_secs(40);

#[derive(Debug)]
pub struct Summary {
    pub new: u64,
    pub changed: u64,
    pub gone: u64,
    pub refused: u64,
    /// How long building the search index took, where the import tells.
    pub index: Option<Duration>,
}

impl Summary {
    pub fn parse(output: &str) -> Result<Self> {
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
            index: index_time(&value),
        })
    }

    pub fn changes_nothing(&self) -> bool {
        self.new == 0 && self.changed == 0 && self.gone == 0
    }
}

/// `index_ms`, `index_seconds`, `indexMs` and the like.
fn index_time(value: &Value) -> Option<Duration> {
    let timed = |key: &str| key.starts_with("index") && unit_of(key).is_some();
    let (key, value) = find(value, &timed)?;
    let seconds = value.as_f64()? * unit_of(key)?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn unit_of(key: &str) -> Option<f64> {
    let key = key.to_ascii_lowercase();
    if key.ends_with("ms") || key.ends_with("millis") || key.ends_with("milliseconds") {
        Some(0.001)
    } else if key.ends_with("seconds") || key.ends_with("_s") {
        Some(1.0)
    } else {
        None
    }
}

fn find<'v>(value: &'v Value, wanted: &dyn Fn(&str) -> bool) -> Option<(&'v str, &'v Value)> {
    let object = value.as_object()?;
    let here = object.iter().find(|(key, _)| wanted(key));
    here.map(|(key, value)| (key.as_str(), value))
        .or_else(|| object.values().find_map(|inner| find(inner, wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_as_numbers_or_lists_at_any_depth() {
        let text =
            r#"{"file":"x","rows":{"new":3,"changed":0,"gone":0},"refused":[{"line":2}],"index_ms":1500}"#;
        let summary = Summary::parse(text).unwrap();
        assert_eq!(
            (summary.new, summary.changed, summary.gone, summary.refused),
            (3, 0, 0, 1)
        );
        assert_eq!(summary.index, Some(Duration::from_millis(1500)));
        assert!(!summary.changes_nothing());
    }

    #[test]
    fn an_import_of_the_same_changes_nothing() {
        let summary = Summary::parse(r#"{"new":0,"changed":0,"gone":0,"refused":7}"#).unwrap();
        assert!(summary.changes_nothing());
        assert_eq!(summary.index, None);
    }

    #[test]
    fn a_missing_count_is_named() {
        let error = Summary::parse(r#"{"new":0,"changed":0,"refused":0}"#).unwrap_err();
        assert!(error.to_string().contains("gone"));
        assert!(Summary::parse("done").is_err());
    }
}
