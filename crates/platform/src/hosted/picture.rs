//! A hosted picture in the database, and the widths in which it is served.

use pictures::picture::Kind;
use std::fmt;

/// A picture in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPicture {
    pub id: String,
    pub blob: String,
    pub sha256: Vec<u8>,
    pub kind: Kind,
    pub width: u32,
    pub height: u32,
}

/// A width in which pictures are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(u32);

impl Width {
    pub const ALL: [u32; 6] = [64, 128, 256, 512, 1_024, 2_048];

    /// Parses one of [`Width::ALL`].
    pub fn parse(text: &str) -> Option<Width> {
        Width::ALL
            .into_iter()
            .find(|width| width.to_string() == text)
            .map(Width)
    }

    pub const fn pixels(self) -> u32 {
        self.0
    }

    /// Returns whether the picture is wider than this.
    pub fn narrows(self, picture: &StoredPicture) -> bool {
        self.0 < picture.width
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
