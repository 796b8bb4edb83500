//! Finds other servers that use the same PostgreSQL database, by the names of their connections.

use super::Db;
use crate::settings::DatabaseSettings;
use uuid::Uuid;

/// The beginning of the name of a server's connections. A random ID follows.
const SERVER_NAME: &str = "causeway serve ";
const COUNT_LOCK_WAITS: &str = "select count(*) from pg_stat_activity \
     where datname = current_database() and wait_event_type = 'Lock'";
const COUNT_OTHERS: &str = "select count(distinct application_name) from pg_stat_activity \
     where datname = current_database() and starts_with(application_name, $1) \
     and application_name <> current_setting('application_name')";

impl DatabaseSettings {
    /// Returns the settings of a server, whose connections other servers can tell from those of commands.
    #[must_use]
    pub fn for_server(self) -> DatabaseSettings {
        DatabaseSettings {
            application_name: format!("{SERVER_NAME}{}", Uuid::now_v7().simple()),
            ..self
        }
    }

    /// Returns the options that limit how long the statements of a server may take. Commands have none: an import or a
    /// backup takes as long as it takes.
    pub(super) fn statement_limits(&self) -> Vec<(&'static str, String)> {
        if !self.application_name.starts_with(SERVER_NAME) {
            return Vec::new();
        }
        let limits = [
            ("statement_timeout", self.statement_timeout),
            ("lock_timeout", self.lock_timeout),
        ];
        let limits = limits.into_iter().filter(|(_, limit)| !limit.is_zero());
        limits
            .map(|(name, limit)| (name, limit.as_millis().max(1).to_string()))
            .collect()
    }
}

impl Db {
    /// Returns the number of statements in this database that wait for a lock. `None` on SQLite.
    pub async fn count_lock_waits(&self) -> sqlx::Result<Option<i64>> {
        match self {
            Db::Sqlite { .. } => Ok(None),
            Db::Postgres(postgres) => {
                let count = sqlx::query_scalar(COUNT_LOCK_WAITS);
                count.fetch_one(&postgres.pool()).await.map(Some)
            }
        }
    }

    /// Returns the number of other servers that are connected to this database. SQLite is used by one server only.
    pub async fn count_other_servers(&self) -> sqlx::Result<i64> {
        match self {
            Db::Sqlite { .. } => Ok(0),
            Db::Postgres(postgres) => {
                let count = sqlx::query_scalar(COUNT_OTHERS).bind(SERVER_NAME);
                count.fetch_one(&postgres.pool()).await
            }
        }
    }
}
