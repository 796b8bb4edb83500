//! Prints the results of commands.

use super::stdout::Stdout;
use anyhow::Context;
use serde::Serialize;

/// Prints the result of a command.
#[derive(Clone, Copy)]
pub(super) struct Output {
    pub json: bool,
}

impl Output {
    /// Prints one JSON object or text.
    pub(super) fn print(self, value: &impl Serialize, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        let output = if self.json {
            serde_json::to_string(value)?
        } else {
            text()
        };
        Stdout::print(&output).context("could not write to standard output; check where it goes")
    }
}
