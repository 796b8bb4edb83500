//! The settings of the database.

use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// The name under which PostgreSQL lists the connections of a command.
pub const APPLICATION_NAME: &str = "causeway";

/// Where the database is and how to connect to it.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// The URL of PostgreSQL, or `None` for SQLite in the data folder.
    pub url: Option<SecretString>,
    /// The URL for the connection that waits for notifications, if it differs: a connection pooler does not pass them on.
    pub listen_url: Option<SecretString>,
    /// The name under which PostgreSQL lists the connections; see [`for_server`](Self::for_server).
    pub application_name: String,
    pub connections: u32,
    pub acquire_timeout: Duration,
    /// How long PostgreSQL may take to respond to a probe before it counts as down.
    pub probe_timeout: Duration,
    /// How long one statement of a server that reads may take on PostgreSQL. Zero: any time.
    pub statement_timeout: Duration,
    /// How long a statement of a server may wait for a lock on PostgreSQL. Zero: any time.
    pub lock_timeout: Duration,
}

impl DatabaseSettings {
    /// Returns the URL of PostgreSQL, including the password.
    pub fn exposed_url(&self) -> Option<&str> {
        self.url.as_ref().map(ExposeSecret::expose_secret)
    }

    /// Returns the URL for notifications, including the password.
    pub(crate) fn exposed_listen_url(&self) -> Option<&str> {
        self.listen_url.as_ref().map(ExposeSecret::expose_secret)
    }
}
