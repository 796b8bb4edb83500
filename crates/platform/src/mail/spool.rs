//! Mails that wait for the mail server, as files in the data folder: neither a mail server that is down nor a stop of
//! ours loses one.

use super::message::{Email, write};
use anyhow::Context;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::fs;

/// After so long nobody waits for a mail any more.
const KEPT: Duration = Duration::from_hours(3 * 24);
const WAITING: &str = "json";
const REFUSED: &str = "refused";

/// The folder of the mails that wait.
#[derive(Clone, Debug)]
pub struct Spool(PathBuf);

impl Spool {
    pub fn new(folder: PathBuf) -> Spool {
        Spool(folder)
    }

    /// Keeps a mail until it is removed.
    pub async fn put(&self, mail: &Email) -> anyhow::Result<()> {
        let text = serde_json::to_vec(mail)?;
        write(&self.0, WAITING, &text).await.context("it cannot be kept")
    }

    /// The mails that wait, the oldest first. Those that are too old are gone.
    pub async fn list(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut entries = match fs::read_dir(&self.0).await {
            Ok(entries) => entries,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(fault) => return Err(fault),
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if path.extension().is_none_or(|ending| ending != WAITING) {
                continue;
            }
            let age = entry.metadata().await?.modified()?.elapsed();
            match age.unwrap_or_default() > KEPT {
                true => {
                    tracing::error!(
                        days = KEPT.as_secs() / 86_400,
                        "a mail waited too long and is given up"
                    );
                    self.remove(&path).await?;
                }
                false => found.push(path),
            }
        }
        // Names begin with the time.
        found.sort();
        Ok(found)
    }

    /// A mail that waits.
    pub async fn read(&self, path: &Path) -> anyhow::Result<Email> {
        Ok(serde_json::from_slice(&fs::read(path).await?)?)
    }

    pub async fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).await
    }

    /// Keeps a mail that the mail server will never take, for the operator to look at.
    pub async fn set_aside(&self, path: &Path) -> io::Result<()> {
        fs::rename(path, path.with_extension(REFUSED)).await
    }
}
