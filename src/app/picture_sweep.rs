//! Removes pictures that no nonprofit, fundraiser or account uses.

use super::App;
use access::accounts::public_profile;
use directory::nonprofits;
use giving::fundraisers;
use platform::hosted::unused;
use std::collections::HashSet;

/// What a sweep removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptPictures {
    /// Pictures that nothing has used for a day.
    pub pictures: usize,
    /// Blobs of removed pictures and of interrupted uploads.
    pub blobs: usize,
}

impl App {
    /// Removes unused pictures, and the blobs that no picture refers to. Does nothing while another server does so, or
    /// while a backup copies pictures.
    pub async fn sweep_pictures(&self) -> anyhow::Result<SweptPictures> {
        let Some(lease) = unused::try_lease(&self.db).await? else {
            return Ok(SweptPictures::default());
        };
        let sweep = async {
            let pictures = self
                .pictures
                .remove_unused(&self.list_used_pictures().await?)
                .await?;
            let blobs = self.pictures.sweep().await?;
            anyhow::Ok(SweptPictures { pictures, blobs })
        };
        let swept = lease.hold(sweep).await;
        lease.release().await?;
        swept
    }

    async fn list_used_pictures(&self) -> sqlx::Result<HashSet<String>> {
        let mut used = HashSet::new();
        used.extend(nonprofits::store::list_pictures(&self.db).await?);
        used.extend(fundraisers::store::list_covers(&self.db).await?);
        used.extend(public_profile::store::list_pictures(&self.db).await?);
        Ok(used)
    }
}
