//! Who can see a fundraiser, and whether it is open.

/// The status of a fundraiser. Only operators hide one or end its review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everybody sees it. It accepts donations within its dates.
    Published,
    /// It waits for an operator to approve it. Only its owner and operators see it.
    InReview,
    /// An operator has hidden it. Only its owner and operators see it.
    Hidden,
    /// Everybody sees it, and it accepts no donations.
    Closed,
}

impl Status {
    pub const ALL: [Status; 4] = [
        Status::Published,
        Status::InReview,
        Status::Hidden,
        Status::Closed,
    ];

    /// Its name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Published => "PUBLISHED",
            Status::InReview => "IN_REVIEW",
            Status::Hidden => "HIDDEN",
            Status::Closed => "CLOSED",
        }
    }

    /// Returns the status with this name, ignoring case.
    pub fn find(name: &str) -> Option<Status> {
        Status::ALL
            .into_iter()
            .find(|status| status.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns whether everybody can see it.
    pub const fn is_public(self) -> bool {
        matches!(self, Status::Published | Status::Closed)
    }
}
