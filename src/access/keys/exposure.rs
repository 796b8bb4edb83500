//! A private key that was seen in an address is flagged, once; its caller is refused either way.

use super::SentKey;
use super::store;
use crate::access::keys::warnings::warn_owners;
use crate::app::App;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// So long a caller waits for the flag; a store that takes longer is not waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// One flag is written at a time, so that a key that is sent all the time costs one write.
#[derive(Debug, Default)]
pub struct Exposures(Mutex<()>);

/// Flags a key that is known and not flagged yet.
pub async fn note(app: &App, text: SentKey<'_>) {
    match app.keys.find(text).await {
        Ok(Some(key)) if !key.exposed => {
            let noted = tokio::spawn(flag(app.clone(), text.hash()));
            _ = timeout(PATIENCE, noted).await;
        }
        Ok(_) => {}
        Err(fault) => tracing::error!(%fault, "a private key in an address could not be looked up"),
    }
}

async fn flag(app: App, hash: [u8; 32]) {
    let one_at_a_time = app.exposures.0.lock().await;
    if app.keys.known_private(&hash).is_some_and(|key| key.exposed) {
        return;
    }
    match store::expose(&app.db, hash, app.clock.millis()).await {
        Ok(is_new) => {
            if let Err(fault) = app.keys.refresh().await {
                tracing::error!(%fault, "the keys could not be read again");
            }
            drop(one_at_a_time);
            if is_new {
                tracing::warn!("a private key was sent in an address and is flagged as exposed");
                warn_owners(&app).await;
            }
        }
        Err(fault) => tracing::error!(%fault, "an exposed private key could not be flagged"),
    }
}
