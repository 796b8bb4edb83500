//! Warns an operator whose servers share a database, but not everything else that they have to share.

use crate::app::App;
use crate::config::Config;

/// What several servers of a database need in common, and is not set: the setting, and what happens without it.
pub fn unshared_settings(config: &Config) -> Vec<(&'static str, &'static str)> {
    let mut unshared = Vec::new();
    if config.redis.url.is_none() {
        unshared.push((
            "redis_url",
            "each of them admits as many calls as the limits allow",
        ));
    }
    if config.blobs_url.is_empty() {
        unshared.push((
            "blobs_url",
            "each of them has only the pictures that were uploaded to it",
        ));
    }
    unshared
}

/// Logs a warning for each setting without which this server and others on its database do not work together.
pub async fn warn_if_unshared(app: &App) {
    let servers = match app.db.count_other_servers().await {
        Ok(servers) => servers,
        Err(error) => {
            tracing::warn!(%error, "could not find out whether other servers use the database");
            return;
        }
    };
    if servers > 0 {
        for (setting, consequence) in unshared_settings(&app.config) {
            tracing::warn!(
                servers,
                setting,
                "other servers use the same database, but {setting} is not set: {consequence}; \
                 set it to the same value on all servers"
            );
        }
    }
}
