//! `causeway history`

use super::output::Output;
use crate::app::App;
use anyhow::{Context, bail};
use clap::Args;
use directory::history::{self, HistoryEntry};
use directory::nonprofits::identifier::{Identifier, IdentifierError};
use directory::nonprofits::name;
use directory::nonprofits::store::{find_profile, find_stored};
use platform::clock::rfc3339;
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway history 53-0196605")]
pub(super) struct History {
    /// The EIN, with or without a dash, the slug or the ID of the nonprofit
    #[arg(value_name = "EIN", value_parser = parse_identifier)]
    nonprofit: Identifier,
}

fn parse_identifier(text: &str) -> Result<Identifier, &'static str> {
    match Identifier::parse(text) {
        Ok(identifier) => Ok(identifier),
        Err(IdentifierError::FormattedEin(ein)) => Ok(Identifier::Ein(ein)),
        Err(IdentifierError::Invalid) => Err("enter an EIN such as 53-0196605, a slug or an ID"),
    }
}

impl History {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let mut tx = app.db.view().await?;
        let stored = find_stored(&mut tx, &self.nonprofit).await?.context(
            "this nonprofit is not in the directory; check the EIN, or find it with causeway search",
        )?;
        let profile = find_profile(&mut tx, stored.id).await?;
        drop(tx);
        let Some(ein) = stored.ein() else {
            bail!("this nonprofit has no EIN; only nonprofits with an EIN have a history");
        };
        let name = profile
            .and_then(|profile| profile.name)
            .unwrap_or_else(|| name::readable(stored.filing().name));
        let entries = history::list(&app.db, ein).await?;
        let value = json!({
            "ein": ein.to_string(),
            "slug": stored.slug,
            "name": name,
            "history": entries.iter().map(to_json).collect::<Vec<Value>>(),
        });
        output.print(&value, || text(&name, &ein.to_string(), &entries))
    }
}

fn to_json(entry: &HistoryEntry) -> Value {
    let files = entry
        .files
        .iter()
        .map(|(name, sha256)| json!({"name": name, "sha256": sha256}));
    let changes = entry
        .changes
        .iter()
        .map(|change| json!({"field": change.field, "old": change.old, "new": change.new}));
    json!({
        "revision": entry.revision,
        "importedAt": rfc3339(entry.finished_at),
        "import": entry.kind,
        "files": files.collect::<Vec<Value>>(),
        "changes": changes.collect::<Vec<Value>>(),
    })
}

fn text(name: &str, ein: &str, entries: &[HistoryEntry]) -> String {
    if entries.is_empty() {
        return format!("no import has changed {name} ({ein}) since it was added");
    }
    let mut text = format!("{name} ({ein})");
    for entry in entries {
        let files: Vec<&str> = entry.files.iter().map(|(name, _)| name.as_str()).collect();
        let _ = write!(
            text,
            "\n{}  import {}: {}",
            rfc3339(entry.finished_at),
            entry.kind,
            files.join(", ")
        );
        for change in &entry.changes {
            let _ = match change.field.as_str() {
                history::ADDED => write!(text, "\n  added to the directory"),
                history::GONE => write!(text, "\n  no longer in the IRS files"),
                history::RETURNED => write!(text, "\n  in the IRS files again"),
                field => write!(
                    text,
                    "\n  {field}: {} → {}",
                    value(change.old.as_deref()),
                    value(change.new.as_deref())
                ),
            };
        }
    }
    text
}

fn value(value: Option<&str>) -> String {
    match value {
        Some(value) => value.replace('\n', " / "),
        None => "(none)".to_owned(),
    }
}
