//! The simulator as a program.

use clap::Parser;
use std::net::SocketAddr;
use std::path::PathBuf;
use stripe_simulator::{API_VERSION, Settings, Simulator};

/// Simulate Stripe for tests
#[derive(Parser)]
#[command(
    version,
    after_help = "Example: stripe-simulator --listen 127.0.0.1:12111 --webhook-url http://127.0.0.1:8080/webhooks/stripe --webhook-secret whsec_test"
)]
struct Cli {
    /// The address to listen on; port 0 chooses a free one
    #[arg(long, default_value = "127.0.0.1:12111")]
    listen: SocketAddr,
    /// The URL in links to hosted pages, if it is not the address
    #[arg(long)]
    public_url: Option<String>,
    /// Where events go, over plain HTTP
    #[arg(long)]
    webhook_url: Option<String>,
    /// The secret that signs events; several, separated by commas, during a rotation
    #[arg(long, default_value = "whsec_simulator")]
    webhook_secret: String,
    /// The secret that signs events of connected accounts; the same one if missing
    #[arg(long)]
    connect_webhook_secret: Option<String>,
    /// A key that is accepted, once for each; any secret or restricted key if missing
    #[arg(long)]
    api_key: Vec<String>,
    /// A file that keeps the state if the process is killed
    #[arg(long)]
    state: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let settings = Settings {
        listen: cli.listen,
        public_url: cli.public_url,
        webhook_url: cli.webhook_url,
        webhook_secret: cli.webhook_secret,
        connect_webhook_secret: cli.connect_webhook_secret,
        api_keys: cli.api_key,
        state_file: cli.state,
    };
    let simulator = Simulator::start(settings).await?;
    println!("Simulating Stripe {API_VERSION} on {}", simulator.url());
    simulator.run().await;
    Ok(())
}
