//! `causeway try`: a server with data and keys for developing a client, which leaves nothing behind.

use crate::cli::serve::{Demo, run_server};
use crate::config::Overrides;
use anyhow::Context;
use clap::Args;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway try --listen 127.0.0.1:4000")]
pub(super) struct Try {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    listen: String,
}

impl Try {
    /// Serves the demo directory from a temporary folder until it is interrupted. Settings of a real server, in files and
    /// the environment, do not apply.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()
            .context("cannot create a temporary folder; free disk space, or set TMPDIR")?;
        let overrides = Overrides {
            data: Some(folder.path().join("data")),
            listen: Some(self.listen),
            metrics_listen: Some("off".to_owned()),
            is_isolated: true,
            allows_private_webhooks: true,
            ..Overrides::default()
        };
        Box::pin(run_server(overrides, Demo::WithKeys)).await
    }
}
