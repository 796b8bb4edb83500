//! Queues emails for the mail server as files in the data folder, so that neither an outage of the mail server nor a
//! restart loses one.

use super::message::{Email, write};
use anyhow::Context;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::fs;

/// How long an email is retried before it is discarded.
const MAX_AGE: Duration = Duration::from_hours(3 * 24);
const QUEUED_EXTENSION: &str = "json";
const REJECTED_EXTENSION: &str = "refused";

/// The folder of the queued emails.
#[derive(Clone, Debug)]
pub struct Spool(PathBuf);

impl Spool {
    pub fn new(folder: PathBuf) -> Spool {
        Spool(folder)
    }

    /// Queues an email.
    pub async fn put(&self, email: &Email) -> anyhow::Result<()> {
        let json = serde_json::to_vec(email)?;
        write(&self.0, QUEUED_EXTENSION, &json)
            .await
            .context("could not queue it")
    }

    /// Lists the queued emails, oldest first, and discards those that are too old.
    pub async fn list(&self) -> io::Result<Vec<PathBuf>> {
        let mut queued = Vec::new();
        let mut entries = match fs::read_dir(&self.0).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(queued),
            Err(error) => return Err(error),
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if path
                .extension()
                .is_none_or(|extension| extension != QUEUED_EXTENSION)
            {
                continue;
            }
            let age = entry.metadata().await?.modified()?.elapsed();
            if age.unwrap_or_default() > MAX_AGE {
                tracing::error!(
                    days = MAX_AGE.as_secs() / 86_400,
                    "could not deliver an email in time; it is discarded"
                );
                self.remove(&path).await?;
            } else {
                queued.push(path);
            }
        }
        // File names start with the time.
        queued.sort();
        Ok(queued)
    }

    /// Reads a queued email.
    pub async fn read(&self, path: &Path) -> anyhow::Result<Email> {
        Ok(serde_json::from_slice(&fs::read(path).await?)?)
    }

    pub async fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).await
    }

    /// Sets an email aside that the mail server rejected for good, so that the operator can look at it.
    pub async fn set_aside(&self, path: &Path) -> io::Result<()> {
        fs::rename(path, path.with_extension(REJECTED_EXTENSION)).await
    }
}
