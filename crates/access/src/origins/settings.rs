//! The settings of redirect origins.

use platform::public_url::PublicUrl;
use serde::Deserialize;
use std::net::SocketAddr;

/// How this server looks for the proofs of origins.
#[derive(Clone, Copy, Debug)]
pub struct OriginSettings {
    pub allow_private: AllowPrivate,
    /// The name server, or `None` for that of the system.
    pub dns_server: Option<SocketAddr>,
}

/// Whether this server connects to loopback and private addresses to look for a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AllowPrivate {
    /// Only while `public_url` is on a loopback address.
    Auto,
    Always,
    Never,
}

impl OriginSettings {
    pub fn allows_private(self, public_url: &PublicUrl) -> bool {
        match self.allow_private {
            AllowPrivate::Auto => public_url.is_loopback(),
            AllowPrivate::Always => true,
            AllowPrivate::Never => false,
        }
    }
}
