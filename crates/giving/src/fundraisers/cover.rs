//! Who may see an uploaded cover picture.

use platform::ids::AccountId;

/// The visibility of a hosted picture, as far as the fundraisers with that cover decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverVisibility {
    /// No fundraiser has this cover.
    Unused,
    /// A fundraiser with this cover is public.
    Public,
    /// Every fundraiser with this cover is hidden or in review. These are their owners.
    Withheld(Vec<AccountId>),
}

impl CoverVisibility {
    /// Returns the visibility of the cover of some fundraisers, each given as its owner and whether it is public.
    pub fn of(fundraisers: &[(AccountId, bool)]) -> CoverVisibility {
        if fundraisers.is_empty() {
            CoverVisibility::Unused
        } else if fundraisers.iter().any(|(_, is_public)| *is_public) {
            CoverVisibility::Public
        } else {
            CoverVisibility::Withheld(fundraisers.iter().map(|(owner, _)| *owner).collect())
        }
    }
}
