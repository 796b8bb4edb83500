//! Follows the changes of other processes while a server runs, and whether the database responds.

use super::revision::ALL_CURRENT;
use super::{Changes, Db};
use crate::settings::DatabaseSettings;
use futures_util::future::BoxFuture;
use sqlx::SqlitePool;
use std::time::Duration;
use tokio::time::sleep;

impl Db {
    /// Records the changes of other processes, and watches whether the database responds, until the task is dropped. While
    /// it does not, queries fail at once.
    ///
    /// Servers run this; a command waits for its database. SQLite is a file: it needs no probe, and is checked for
    /// changes every `poll_interval`.
    pub fn watch<'a>(
        &'a self,
        changes: &'a Changes,
        settings: &'a DatabaseSettings,
        poll_interval: Duration,
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            match self {
                Db::Sqlite { readers, .. } => poll(readers, changes, poll_interval).await,
                Db::Postgres(postgres) => {
                    postgres.watch(changes, settings.exposed_listen_url()).await;
                }
            }
        })
    }
}

/// Checks the embedded database for changes by other processes: one statement for all topics.
async fn poll(readers: &SqlitePool, changes: &Changes, poll_interval: Duration) {
    let mut is_healthy = true;
    loop {
        match sqlx::query_as(ALL_CURRENT).fetch_all(readers).await {
            Ok(rows) => {
                changes.record_rows(rows);
                changes.record_response(true);
                is_healthy = true;
            }
            Err(error) => {
                changes.record_response(false);
                if is_healthy {
                    tracing::error!(%error, "the database cannot be checked for changes; the last state stays in use");
                }
                is_healthy = false;
            }
        }
        sleep(poll_interval).await;
    }
}
