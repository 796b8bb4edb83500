//! Finds the emails in the data folder that are addressed to one person: queued, set aside, or written as files.

use super::message::Email;
use crate::email_address::EmailAddress;
use std::io;
use std::path::{Path, PathBuf};
use tokio::fs;

/// Lists the files with emails to an address, in the folders of all kinds of delivery.
pub async fn list(folders: &[PathBuf], to: &EmailAddress) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for folder in folders {
        let mut entries = match fs::read_dir(folder).await {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if entry.file_type().await?.is_file() && is_to(&path, to).await? {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Removes the emails to an address, and returns how many there were.
pub async fn remove(folders: &[PathBuf], to: &EmailAddress) -> io::Result<usize> {
    let files = list(folders, to).await?;
    for file in &files {
        match fs::remove_file(file).await {
            // Delivered in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(files.len())
}

async fn is_to(path: &Path, to: &EmailAddress) -> io::Result<bool> {
    let bytes = match fs::read(path).await {
        Ok(bytes) => bytes,
        // Delivered in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // A server that was killed while it wrote an email leaves a part of it.
    if path.extension().is_some_and(|extension| extension == "part") {
        let text = String::from_utf8_lossy(&bytes).to_lowercase();
        return Ok(text.contains(&to.normalized()));
    }
    let recipient = match serde_json::from_slice::<Email>(&bytes) {
        Ok(email) => Some(email.to),
        Err(_) => recipient_header(&bytes),
    };
    let recipient = recipient.and_then(|recipient| EmailAddress::parse(&recipient).ok());
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
    async fn emails_to_one_address_are_found_and_removed_whatever_the_delivery() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("mail");
        let folders = [folder.clone(), folder.join("waiting")];
        let (ada, eve) = (
            EmailAddress::parse("ada@example.org").unwrap(),
            EmailAddress::parse("eve@example.org").unwrap(),
        );
        assert_eq!(list(&folders, &ada).await.unwrap(), Vec::<PathBuf>::new());
        std::fs::create_dir_all(folder.join("waiting")).unwrap();
        let queued = |to: &str| format!(r#"{{"to":"{to}","subject":"Hello","text":"To: ada@example.org"}}"#);
        let message = |to: &str| format!("From: x@example.org\r\nTo: {to}\r\n\r\nTo: ada@example.org\r\n");
        for (name, content) in [
            ("waiting/1.json", queued("Ada@example.org")),
            ("waiting/2.json", queued("eve@example.org")),
            ("waiting/3.refused", queued("ada@example.org")),
            ("4.eml", message("<ada@example.org>")),
            ("5.eml", message("eve@example.org")),
            ("6.part", queued("Ada@example.org")[..40].to_owned()),
            ("7.part", queued("eve@example.org")[..40].to_owned()),
        ] {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let found = list(&folders, &ada).await.unwrap();
        let names = ["4.eml", "6.part", "waiting/1.json", "waiting/3.refused"];
        assert_eq!(found, names.map(|name| folder.join(name)));
        assert_eq!(remove(&folders, &ada).await.unwrap(), 4);
        assert_eq!(remove(&folders, &ada).await.unwrap(), 0);
        assert_eq!(list(&folders, &eve).await.unwrap().len(), 3);
    }
}
