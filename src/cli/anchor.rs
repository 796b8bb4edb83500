//! `causeway anchor`

use super::output::Output;
use crate::app::App;
use access::audit::Actor;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Anchor {
    /// Accept that entries of the ledger are lost for good, after restoring an older copy of the database
    #[command(after_help = "Example:\n  causeway anchor accept-loss --data /var/lib/causeway")]
    AcceptLoss,
}

impl Anchor {
    pub(super) async fn run(self, app: &App, output: Output) -> anyhow::Result<()> {
        let Anchor::AcceptLoss = self;
        let loss = app.giving.anchors.accept_loss(Actor::Command).await?;
        let (first, last) = loss.range();
        let value = json!({ "firstEntry": first, "lastEntry": last, "entries": loss.count() });
        output.print(&value, || {
            format!(
                "accepted the loss of the entries from {first} to {last}; the audit log names them\n  \
                 run causeway check to verify the ledger that remains"
            )
        })
    }
}
