//! `causeway anchor`

use super::output::Output;
use crate::app::App;
use access::audit::Actor;
use clap::Subcommand;
use giving::ledger::anchors::comparison::Loss;
use giving::ledger::anchors::log::Accepted;
use giving::ledger::anchors::signing::AnchorKeys;
use platform::clock::rfc3339;
use serde_json::json;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Subcommand)]
pub(super) enum Anchor {
    /// Accept that entries of the ledger, or anchors, are lost for good, for example after restoring an older copy of the
    /// database
    #[command(after_help = "Example:\n  causeway anchor accept-loss --data /var/lib/causeway")]
    AcceptLoss,
    /// Compare the ledger with its anchors and write a new one now, for a machine that has the signing key
    #[command(after_help = "Example:\n  causeway anchor write --config /etc/causeway.toml")]
    Write,
    /// Create the key that anchors are signed with, and print its public key
    #[command(after_help = "Example:\n  causeway anchor key /media/key/anchors.key")]
    Key {
        /// The file of the new key. If it exists, only its public key is printed
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

impl Anchor {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        match self {
            Anchor::AcceptLoss => {
                let accepted = app.giving.anchors.accept_loss(Actor::Command).await?;
                print_accepted(&accepted, output)
            }
            Anchor::Write => {
                app.giving.anchors.write_now().await?;
                let status = app.giving.anchors.status();
                let at = app.clock.millis() - status.age.as_millis() as i64;
                let value = json!({ "coveredAt": rfc3339(at), "missingEntries": status.missing });
                output.print(&value, || {
                    let missing = if status.missing > 0 {
                        "; entries are missing: run causeway check"
                    } else {
                        ""
                    };
                    let age = Duration::from_secs(status.age.as_secs());
                    format!("every entry of the ledger has had an anchor {age:?} ago{missing}")
                })
            }
            Anchor::Key { file } => print_key(&file, output),
        }
    }
}

/// `causeway anchor key`. Needs no store, so it runs on any machine.
pub(super) fn print_key(file: &Path, output: Output) -> anyhow::Result<()> {
    let exists = file.exists();
    let public = if exists {
        AnchorKeys::public_key_of(file)?
    } else {
        AnchorKeys::create(file)?
    };
    let value = json!({ "file": file, "publicKey": public, "created": !exists });
    output.print(&value, || {
        let created = if exists { "the key is in" } else { "created" };
        format!("{created} {}\npublic key: {public}", file.display())
    })
}

fn print_accepted(accepted: &Accepted, output: Output) -> anyhow::Result<()> {
    let range = accepted.loss.as_ref().map(Loss::range);
    let places: Vec<String> = accepted.places.iter().map(ToString::to_string).collect();
    let value = json!({
        "firstEntry": range.map(|(first, _)| first),
        "lastEntry": range.map(|(_, last)| last),
        "entries": accepted.loss.as_ref().map_or(0, Loss::count),
        "places": places,
    });
    output.print(&value, || {
        let mut text = String::new();
        if let Some((first, last)) = range {
            let _ = writeln!(
                text,
                "accepted the loss of the entries from {first} to {last}; the audit log names them"
            );
        }
        for place in &places {
            let _ = writeln!(text, "accepted: {place}");
        }
        text + "  run causeway check to verify the ledger that remains"
    })
}
