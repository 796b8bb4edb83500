//! How commands print what they did.

use super::stdout::Stdout;
use anyhow::Context;
use serde::Serialize;

/// Prints the result of a command.
#[derive(Clone, Copy)]
pub struct Output {
    pub json: bool,
}

impl Output {
    /// Prints one JSON object, or the text for people.
    pub fn say(self, value: &impl Serialize, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        let said = if self.json {
            serde_json::to_string(value)?
        } else {
            text()
        };
        Stdout::print(&said).context("standard output cannot be written; check where it goes")
    }
}

/// A stored time as people and programs read it.
pub fn time(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis)
        .unwrap_or_default()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}
