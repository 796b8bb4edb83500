//! An email, and how it is written to a file.

use serde::{Deserialize, Serialize};
use std::path::Path;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

/// An email.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Email {
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Writes an email to a file of its own: under another name first, synced and then renamed, so that a reader never
/// finds half of one.
pub async fn write(folder: &Path, ending: &str, mail: &[u8]) -> std::io::Result<()> {
    tokio::fs::create_dir_all(folder).await?;
    let name = Uuid::now_v7().simple().to_string();
    let beside = folder.join(format!("{name}.part"));
    let mut open = tokio::fs::OpenOptions::new();
    open.write(true).create_new(true);
    // Links in an email are secrets of its recipient.
    #[cfg(unix)]
    open.mode(0o600);
    let mut file = open.open(&beside).await?;
    file.write_all(mail).await?;
    file.sync_all().await?;
    tokio::fs::rename(&beside, folder.join(format!("{name}.{ending}"))).await
}
