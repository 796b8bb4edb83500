//! An email, and how to write one to a file.

use crate::data_folder;
use std::path::Path;
use tokio::io::AsyncWriteExt;
use uuid::Uuid;

/// An email.
#[derive(Clone, Debug)]
pub struct Email {
    pub to: String,
    pub subject: String,
    pub text: String,
    /// Where the recipient stops emails like this one, with one click. `None` for emails that always come.
    pub unsubscribe_url: Option<String>,
}

impl Email {
    /// Creates an email that always comes, such as a receipt or a security notice.
    pub fn new(to: impl Into<String>, subject: impl Into<String>, text: impl Into<String>) -> Email {
        Email {
            to: to.into(),
            subject: subject.into(),
            text: text.into(),
            unsubscribe_url: None,
        }
    }
}

/// Writes an email to a new file in a folder. The file is synced and then renamed, so that a reader never finds an
/// incomplete one.
pub(super) async fn write(folder: &Path, extension: &str, email: &[u8]) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        data_folder::create_folder(parent)?;
    }
    data_folder::create_folder(folder)?;
    let name = Uuid::now_v7().simple().to_string();
    let partial = folder.join(format!("{name}.part"));
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create_new(true);
    // The links in an email are secrets of its recipient.
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(&partial).await?;
    file.write_all(email).await?;
    file.sync_all().await?;
    tokio::fs::rename(&partial, folder.join(format!("{name}.{extension}"))).await
}
