//! Builds the snapshot after an import, if it is needed.

use crate::app::App;
use anyhow::anyhow;
use platform::clock::Stopwatch;
use platform::progress::wait_with_spinner;
use serde_json::{Value, json};
use std::time::Duration;

/// How long it took to get a snapshot.
pub(super) struct BuiltSnapshot {
    /// `None` if none was needed.
    pub duration: Option<Duration>,
    /// `None` if none was needed, or another server built it.
    index_duration: Option<Duration>,
}

impl BuiltSnapshot {
    /// Adds the durations to the result of a command.
    pub(super) fn add_to(&self, value: &mut Value) {
        value["snapshotSeconds"] = json!(self.duration.map(|duration| duration.as_secs_f64()));
        value["indexSeconds"] = json!(self.index_duration.map(|duration| duration.as_secs_f64()));
    }
}

/// Builds a snapshot after this number of changes, unless they are so few that running servers add them to their overlay.
pub(super) async fn build_snapshot(app: &App, changes: u64) -> anyhow::Result<BuiltSnapshot> {
    let is_needed =
        changes > app.config.directory.overlay_limit as u64 || app.directory.view().snapshot.is_none();
    if !is_needed {
        return Ok(BuiltSnapshot {
            duration: None,
            index_duration: None,
        });
    }
    let stopwatch = Stopwatch::start();
    let built = wait_with_spinner("building the snapshot", app.directory.build_after_import())
        .await
        .map_err(|error| without_snapshot(&error))?;
    // Another server may have built it; then this is how long it took to get it.
    let duration = built.as_ref().map(|built| built.duration);
    Ok(BuiltSnapshot {
        duration: Some(duration.unwrap_or_else(|| stopwatch.elapsed())),
        index_duration: built.map(|built| built.index_duration),
    })
}

/// Explains that the rows are committed, so importing again does not help.
fn without_snapshot(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(
        "the import is stored, but the directory snapshot could not be built ({error:#}); free disk space, \
         and a running server or the next import will build it"
    )
}
