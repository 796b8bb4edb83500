//! Finds the emails in the data folder that are addressed to one person.

use crate::email_address::EmailAddress;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs;

/// Lists the files with emails to an address.
pub(super) async fn list(folder: &Path, to: &EmailAddress) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = match fs::read_dir(folder).await {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(error),
    };
    while let Some(entry) = entries.next_entry().await? {
        let path = entry.path();
        if entry.file_type().await?.is_file() && is_to(&path, to).await? {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Removes the emails to an address, and returns how many there were.
pub(super) async fn remove(folder: &Path, to: &EmailAddress) -> io::Result<usize> {
    let files = list(folder, to).await?;
    for file in &files {
        match fs::remove_file(file).await {
            // Removed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(files.len())
}

async fn is_to(path: &Path, to: &EmailAddress) -> io::Result<bool> {
    let bytes = match fs::read(path).await {
        Ok(bytes) => bytes,
        // Removed in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // A server that was killed while it wrote an email leaves a part of it.
    if path.extension().is_some_and(|extension| extension == "part") {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        return Ok(text.contains(&to.normalized()));
    }
    let recipient = recipient_header(&bytes).and_then(|recipient| EmailAddress::parse(&recipient).ok());
    Ok(recipient.is_some_and(|recipient| recipient.normalized() == to.normalized()))
}

/// Returns the value of the `To` header of an email in the format of RFC 5322.
fn recipient_header(message: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(message);
    let mut headers = text.lines().take_while(|line| !line.is_empty());
    let to = headers.find_map(|line| line.strip_prefix("To: "))?;
    Some(to.trim_matches(['<', '>', ' ']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn emails_to_one_address_are_found_and_removed() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("mail");
        let (ada, eve) = (
            EmailAddress::parse("ada@example.org").unwrap(),
            EmailAddress::parse("eve@example.org").unwrap(),
        );
        assert_eq!(list(&folder, &ada).await.unwrap(), Vec::<PathBuf>::new());
        std::fs::create_dir_all(&folder).unwrap();
        let message = |to: &str| format!("From: x@example.org\r\nTo: {to}\r\n\r\nTo: ada@example.org\r\n");
        for (name, content) in [
            ("4.eml", message("<Ada@example.org>")),
            ("5.eml", message("eve@example.org")),
            ("6.part", message("Ada@example.org")[..40].to_owned()),
            ("7.part", message("eve@example.org")[..40].to_owned()),
        ] {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let found = list(&folder, &ada).await.unwrap();
        assert_eq!(found, ["4.eml", "6.part"].map(|name| folder.join(name)));
        assert_eq!(remove(&folder, &ada).await.unwrap(), 2);
        assert_eq!(remove(&folder, &ada).await.unwrap(), 0);
        assert_eq!(list(&folder, &eve).await.unwrap().len(), 2);
    }
}
