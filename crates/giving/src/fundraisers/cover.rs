//! Who can see an uploaded cover picture.

use platform::ids::AccountId;

/// The visibility of a hosted picture, which depends on the fundraisers that have it as their cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverVisibility {
    /// No fundraiser has this cover.
    Unused,
    /// A fundraiser with this cover is public.
    Public,
    /// Every fundraiser with this cover is hidden or in review. Contains their owners.
    Withheld(Vec<AccountId>),
}

impl CoverVisibility {
    /// Returns the visibility of a cover. `fundraisers` are the owners of the fundraisers that have it, and whether each
    /// fundraiser is public.
    pub(super) fn of(fundraisers: &[(AccountId, bool)]) -> CoverVisibility {
        if fundraisers.is_empty() {
            CoverVisibility::Unused
        } else if fundraisers.iter().any(|(_, is_public)| *is_public) {
            CoverVisibility::Public
        } else {
            CoverVisibility::Withheld(fundraisers.iter().map(|(owner, _)| *owner).collect())
        }
    }
}
