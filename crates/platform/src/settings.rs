//! The settings of the database.

use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;

/// Where the store is and how it is reached.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// The URL of PostgreSQL; `None` is SQLite in the data folder.
    pub url: Option<SecretString>,
    pub connections: u32,
    pub acquire_timeout: Duration,
}

impl DatabaseSettings {
    /// The URL of PostgreSQL, password included.
    pub fn exposed_url(&self) -> Option<&str> {
        self.url.as_ref().map(ExposeSecret::expose_secret)
    }
}
