//! The URL at which people reach this server.

use std::fmt;
use std::sync::Arc;

/// The public URL, without a trailing slash. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(Arc<str>);

impl PublicUrl {
    /// Creates a public URL, without its trailing slashes.
    pub fn new(url: &str) -> PublicUrl {
        PublicUrl(url.trim_end_matches('/').into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether browsers reach this server over HTTPS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
