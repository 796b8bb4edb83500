//! How operators have restricted an account.

/// How operators have restricted an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not at all.
    Good,
    /// One of its keys is blocked, even if its owner has revoked that key since.
    KeyBlocked,
    Suspended,
    /// Its owner has deleted it.
    Deleted,
}

impl Standing {
    /// Returns whether the account may change what it owns.
    pub fn may_write(self) -> bool {
        matches!(self, Standing::Good | Standing::KeyBlocked)
    }
}
