//! `causeway mcp`: the Model Context Protocol over standard input and output.

use crate::api::mcp::stdio::StdioServer;
use crate::api::openapi;
use crate::app::App;
use crate::cli::stdout::Stdout;
use anyhow::Context;
use clap::Args;
use std::io::BufRead;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway mcp --key cwpk_… --data /var/lib/causeway")]
pub(super) struct Mcp {
    /// A public key
    #[arg(long, value_name = "KEY", env = "MCP_KEY")]
    key: String,
    /// A private key of the same account, for the tool that creates fundraisers
    #[arg(long, value_name = "KEY", env = "MCP_PRIVATE_KEY", hide_env_values = true)]
    private_key: Option<String>,
}

impl Mcp {
    /// Answers one message per line until standard input ends.
    pub(super) async fn run(self, app: &App) -> anyhow::Result<()> {
        app.refresh_directory().await?;
        let api = openapi::routes().with_state(app.clone());
        let server = StdioServer::new(app.clone(), api, &self.key, self.private_key.as_deref());
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            // There is one client, which waits for its answer: nothing else has to run.
            let read = tokio::task::block_in_place(|| input.read_until(b'\n', &mut line));
            if read.context("could not read standard input")? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(message) = server.answer(&line).await {
                Stdout::print(&message.to_string()).context("could not write to standard output")?;
            }
        }
        Ok(())
    }
}
