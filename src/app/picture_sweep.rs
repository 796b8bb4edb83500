//! Removes pictures that no nonprofit, fundraiser or account uses.
//!
//! Such a picture is marked first, and deleted when it has been marked for a day, under a lease that a backup also holds
//! while it copies pictures.

use super::App;
use access::accounts::public_profile::ProfilePart;
use access::accounts::store::profile;
use access::audit::Actor;
use directory::nonprofits;
use giving::fundraisers;
use platform::hosted::unused::{self, UsedPictures};
use platform::ids::AccountId;

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

    /// Removes the name or the picture of an account, and the picture itself at once, unless something else uses it.
    /// Returns `false` if the account has none.
    pub async fn remove_from_profile(
        &self,
        (account, username): (AccountId, &str),
        part: ProfilePart,
        actor: Actor,
    ) -> sqlx::Result<bool> {
        let profile = profile::find(&self.db, account).await?;
        let (subject, now) = ((account, username), self.clock.millis());
        if !profile::remove(&self.db, subject, part, actor, now).await? {
            return Ok(false);
        }
        let picture = profile.and_then(|profile| profile.picture);
        if let (ProfilePart::Picture, Some(picture)) = (part, picture)
            && !self.list_used_pictures().await?.ids().contains(picture.as_str())
        {
            self.pictures.remove(&picture).await?;
        }
        Ok(true)
    }

    async fn list_used_pictures(&self) -> sqlx::Result<UsedPictures> {
        let mut used = UsedPictures::default();
        used.by_nonprofits
            .extend(nonprofits::store::list_pictures(&self.db).await?);
        used.by_accounts
            .extend(fundraisers::store::list_covers(&self.db).await?);
        used.by_accounts.extend(profile::list_pictures(&self.db).await?);
        Ok(used)
    }
}
