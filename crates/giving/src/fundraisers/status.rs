//! The status of a fundraiser.

/// Who can see a fundraiser, and whether it accepts donations. Only operators hide one or end its review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everyone can see it. It accepts donations within its dates.
    Published,
    /// It is waiting for an operator to approve it. Only its owner and operators can see it.
    InReview,
    /// An operator has hidden it. Only its owner and operators can see it.
    Hidden,
    /// Everyone can see it, but it accepts no donations.
    Closed,
}

impl Status {
    /// Its name in the output of commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Published => "PUBLISHED",
            Status::InReview => "IN_REVIEW",
            Status::Hidden => "HIDDEN",
            Status::Closed => "CLOSED",
        }
    }

    /// Returns whether everyone can see it.
    pub(super) const fn is_public(self) -> bool {
        matches!(self, Status::Published | Status::Closed)
    }
}
