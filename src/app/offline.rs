//! The start of a server while PostgreSQL is down: it answers from the last snapshot with the last known keys, and connects
//! when PostgreSQL responds.
//!
//! Until then, the breaker of a `Db` without connections is open, so that every query fails at once. Connecting runs pending
//! migrations as a normal start does, compares the ID of the store, and hands the new pool to that `Db`. Only then do the
//! other background jobs start.

use crate::app::{App, OpenedStore};
use crate::config::Config;
use access::keys::saved::{self, SavedKeys};
use anyhow::Context;
use platform::clock::Clock;
use platform::db::{Db, is_away};
use platform::secret::StoreSecret;
use thiserror::Error;

/// The reason why a server that started without its store could not connect to it.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// It would serve the directory and the keys of another store.
    #[error(
        "the database is not the one that the saved snapshot and keys belong to; start the server again to serve this database"
    )]
    OtherStore,
    /// Trying again may help.
    #[error("{0:#}")]
    Failed(#[from] anyhow::Error),
}

impl App {
    /// Builds the state of a server. If PostgreSQL is down, it is built from the last snapshot and the last known keys.
    ///
    /// # Errors
    ///
    /// If something else is wrong, such as the password, or there is no usable snapshot or no saved keys.
    pub async fn start(config: Config, clock: Clock) -> anyhow::Result<App> {
        match App::build_with_clock(config.clone(), clock.clone()).await {
            Err(error) if is_away(&error) => match App::build_offline(config, clock).await? {
                Some(app) => {
                    let error = format!("{error:#}");
                    tracing::error!(
                        error,
                        "started without the database: this server only reads, from its last snapshot, until the database responds"
                    );
                    Ok(app)
                }
                None => Err(error),
            },
            built => built,
        }
    }

    /// Returns `None` if nothing usable was saved.
    async fn build_offline(config: Config, clock: Clock) -> anyhow::Result<Option<App>> {
        let path = saved::path(&config.data);
        let saved = match SavedKeys::read(&path) {
            Ok(Some(saved)) => saved,
            Ok(None) => return Ok(None),
            Err(error) => {
                tracing::error!(file = %path.display(), %error, "the saved keys cannot be used");
                return Ok(None);
            }
        };
        let Some(db) = Db::disconnected(&config.database)? else {
            return Ok(None);
        };
        let secret = StoreSecret::read_unchecked(&config.secret_file)?;
        let opened = OpenedStore {
            db,
            id: saved.store,
            secret,
            saved_keys: Some(saved),
        };
        let app = App::assemble(config, clock, opened).await?;
        Ok(app.directory.has_snapshot().then_some(app))
    }

    /// Connects a server that started without its store: checks that it is the same store, and runs pending migrations.
    pub async fn connect(&self) -> Result<(), ConnectError> {
        let config = &self.config;
        let db = Db::open(&config.data, &config.database).await?;
        let id = db
            .identity(self.clock.millis())
            .await
            .map_err(anyhow::Error::from)?;
        if id != self.store {
            db.close().await;
            return Err(ConnectError::OtherStore);
        }
        let secret = StoreSecret::open(&db, &config.secret_file).await?;
        if !secret.is_same(&self.secret) {
            let changed = "the secret was replaced; start the server again to use the new one";
            return Err(anyhow::anyhow!(changed).into());
        }
        db.follow_clock(&self.clock)
            .await
            .context("could not read the clock")?;
        self.db.adopt(&db);
        self.access
            .keys
            .refresh()
            .await
            .context("could not read the keys")?;
        self.availability.set_connected();
        Ok(())
    }
}
