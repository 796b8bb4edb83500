//! The rows of nonprofits and of their profiles.

use super::ein::Ein;
use super::filing::Filing;
use platform::db::from_row;
use uuid::Uuid;

/// One row of `nonprofits`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredNonprofit {
    pub id: Uuid,
    pub ein: Option<i64>,
    pub slug: String,
    /// See [`Filing`].
    pub filed: String,
    /// Did it come out of a file of the IRS?
    pub listed: bool,
    pub gone_at: Option<i64>,
}

from_row!(StoredNonprofit {
    id,
    ein,
    slug,
    filed,
    listed,
    gone_at
});

impl StoredNonprofit {
    /// What was filed of it.
    pub fn filing(&self) -> Filing<'_> {
        Filing::read(&self.filed)
    }

    /// The EIN, where there is one.
    pub fn ein(&self) -> Option<Ein> {
        self.ein.and_then(|ein| Ein::new(u32::try_from(ein).ok()?))
    }
}

/// One row of `profiles`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub nonprofit_id: Uuid,
    pub name: Option<String>,
    /// One a line.
    pub aliases: Option<String>,
    pub description: Option<String>,
    pub description_long: Option<String>,
    pub website_url: Option<String>,
    /// Where it takes gifts itself; only the pages of giving need it.
    pub donate_url: Option<String>,
    /// Names with a blank between them.
    pub causes: Option<String>,
    pub country: Option<String>,
    pub logo: Option<String>,
    pub cover: Option<String>,
}

from_row!(Profile {
    nonprofit_id,
    name,
    aliases,
    description,
    description_long,
    website_url,
    donate_url,
    causes,
    country,
    logo,
    cover,
});
