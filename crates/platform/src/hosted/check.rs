//! Checks that the blob of every hosted picture exists and has not changed.

use super::Pictures;
use super::picture::StoredPicture;
use super::store;
use sha2::{Digest, Sha256};

/// The result of a check.
#[derive(Debug, Default)]
pub struct PictureCheck {
    /// The number of pictures that were checked.
    pub pictures: u64,
    /// The first `MAX_DIFFERENCES` errors, one sentence each.
    pub differences: Vec<String>,
}

const MAX_DIFFERENCES: usize = 100;

/// Reads the blob of every picture and compares its hash with the stored one.
pub async fn check(pictures: &Pictures) -> anyhow::Result<PictureCheck> {
    let mut check = PictureCheck::default();
    let mut last_id = String::new();
    loop {
        let page = store::list_after(pictures.db(), &last_id).await?;
        let Some(last) = page.last() else {
            break;
        };
        last_id.clone_from(&last.id);
        for picture in &page {
            check.pictures += 1;
            let error = find_error(pictures, picture).await?;
            if let Some(error) = error.filter(|_| check.differences.len() < MAX_DIFFERENCES) {
                check.differences.push(format!("{} {error}", picture.id));
            }
        }
    }
    Ok(check)
}

async fn find_error(pictures: &Pictures, picture: &StoredPicture) -> anyhow::Result<Option<String>> {
    let blob = &picture.blob;
    Ok(match pictures.blobs().find(blob).await? {
        None => Some(format!("has lost its blob {blob}")),
        Some(bytes) if Sha256::digest(&bytes)[..] != picture.sha256 => {
            Some(format!("has changed: the SHA-256 of {blob} does not match"))
        }
        Some(_) => None,
    })
}
