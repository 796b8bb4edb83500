//! Proving that every hosted picture is there as it was stored.

use super::Pictures;
use super::picture::StoredPicture;
use super::store;
use sha2::{Digest, Sha256};

/// What was compared, and what is broken.
#[derive(Debug, Default)]
pub struct PictureCheck {
    pub pictures: u64,
    /// One sentence each; a hundred at the most of each kind.
    pub differences: Vec<String>,
}

const MOST_DIFFERENCES: usize = 100;

/// Reads the blob of every picture and compares it with what was written down when it was stored.
pub async fn check(pictures: &Pictures) -> anyhow::Result<PictureCheck> {
    let mut proof = PictureCheck::default();
    let mut last = String::new();
    loop {
        let page = store::list_after(pictures.db(), &last).await?;
        let Some(end) = page.last() else {
            break;
        };
        last.clone_from(&end.id);
        for picture in &page {
            proof.pictures += 1;
            let fault = fault(pictures, picture).await?;
            if let Some(fault) = fault.filter(|_| proof.differences.len() < MOST_DIFFERENCES) {
                proof.differences.push(format!("{} {fault}", picture.id));
            }
        }
    }
    Ok(proof)
}

async fn fault(pictures: &Pictures, picture: &StoredPicture) -> anyhow::Result<Option<String>> {
    let blob = &picture.blob;
    Ok(match pictures.blobs().find(blob).await? {
        None => Some(format!("has lost its blob {blob}")),
        Some(bytes) if Sha256::digest(&bytes)[..] != picture.sha256 => {
            Some(format!("is not as it was stored: {blob} has another SHA-256"))
        }
        Some(_) => None,
    })
}
