//! Uploaded cover pictures: who can see them, and which part of them.

use platform::ids::AccountId;

/// The part of a picture that stays visible where it is cropped: how far from the left and from the top, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    x: u8,
    y: u8,
}

impl Default for Focus {
    fn default() -> Focus {
        Focus { x: 50, y: 50 }
    }
}

impl Focus {
    /// The percentages that can be chosen, so that a style sheet can have a class for each.
    pub const STEPS: [u8; 5] = [0, 25, 50, 75, 100];

    /// Returns `None` if a percentage is not one of [`Focus::STEPS`].
    pub fn new(x: u8, y: u8) -> Option<Focus> {
        let is_step = |percent: u8| Focus::STEPS.contains(&percent);
        (is_step(x) && is_step(y)).then_some(Focus { x, y })
    }

    /// Parses the stored form, such as `25 50`.
    pub(super) fn parse(text: &str) -> Option<Focus> {
        let (x, y) = text.split_once(' ')?;
        Focus::new(x.parse().ok()?, y.parse().ok()?)
    }

    /// Returns the stored form. `None` for the center.
    pub(super) fn to_stored(self) -> Option<String> {
        (self != Focus::default()).then(|| format!("{} {}", self.x, self.y))
    }

    /// Returns the percentage from the left.
    pub fn x(self) -> u8 {
        self.x
    }

    /// Returns the percentage from the top.
    pub fn y(self) -> u8 {
        self.y
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_focus_is_read_as_it_was_written_and_the_center_is_not_stored() {
        for x in Focus::STEPS {
            for y in Focus::STEPS {
                let focus = Focus::new(x, y).unwrap();
                let read = focus.to_stored().map(|text| Focus::parse(&text));
                assert_eq!(read.unwrap_or(Some(Focus::default())), Some(focus));
            }
        }
        assert_eq!(Focus::default().to_stored(), None);
        for invalid in ["", "50", "50 51", "-1 0", "0 0 0"] {
            assert_eq!(Focus::parse(invalid), None, "{invalid}");
        }
    }
}
