//! `causeway secret`

use super::output::Output;
use crate::config::Config;
use access::accounts::two_factor::store as two_factor;
use access::audit::{Action, Actor, store as audit};
use clap::Subcommand;
use platform::clock::Clock;
use platform::db::Db;
use platform::secret::StoreSecret;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Secret {
    /// Create a new secret to replace a lost one; known donors then count as new ones, and two-factor sign-in is reset
    #[command(after_help = "Example:\n  causeway secret replace --data /var/lib/causeway")]
    Replace,
}

impl Secret {
    /// Runs without an [`App`](crate::app::App), which cannot be built while the secret is missing.
    pub(super) async fn run(self, config: &Config, output: Output) -> anyhow::Result<()> {
        let Secret::Replace = self;
        let (db, now) = (
            Db::open(&config.data, &config.database).await?,
            Clock::default().millis(),
        );
        db.identity(now).await?;
        let mut tx = db.write().await?;
        StoreSecret::replace(&mut tx, &config.secret_file).await?;
        // Codes cannot be verified without the lost secret, and their owners would be locked out.
        let reset = two_factor::reset_all(&mut tx, Actor::Command, now).await?;
        audit::record(
            &mut tx,
            &Action::new(Actor::Command, "secret replace", "secret", ""),
            now,
        )
        .await?;
        tx.commit().await?;
        db.close().await;
        let path = config.secret_file.display().to_string();
        output.print(&json!({"secretFile": path, "resetTwoFactor": reset}), || {
            format!(
                "created the secret {path}, and reset two-factor sign-in of {reset} accounts\n  copy the secret to the \
                 other servers of this database, and back it up"
            )
        })
    }
}
