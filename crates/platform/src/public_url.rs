//! The URL at which people reach this server.

use std::fmt;
use std::net::IpAddr;
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

    /// Returns its host: a name or an address, without a port.
    pub fn host(&self) -> &str {
        let rest = self.0.split_once("://").map_or(&*self.0, |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        match authority.strip_prefix('[') {
            Some(address) => address.split(']').next().unwrap_or_default(),
            None => authority.split(':').next().unwrap_or_default(),
        }
    }

    /// Returns whether its host is a loopback address, which only this machine can reach, as in development.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    }

    /// Returns whether browsers reach this server over HTTPS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// Returns whether this is plain HTTP on a loopback address, which only this machine can reach.
    pub fn is_plain_loopback(&self) -> bool {
        let Some(rest) = self.0.strip_prefix("http://") else {
            return false;
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, _)) => host,
            None => authority.split(':').next().unwrap_or_default(),
        };
        host.eq_ignore_ascii_case("localhost")
            || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_this_machine_are_loopback() {
        for url in [
            "http://127.0.0.1:8080",
            "http://localhost",
            "https://LOCALHOST:1/x",
            "http://[::1]:8080",
        ] {
            assert!(PublicUrl::new(url).is_loopback(), "{url}");
        }
        for url in [
            "http://causeway.test",
            "http://10.0.0.1",
            "https://localhost.example.org",
            "http://[2a00::1]",
        ] {
            assert!(!PublicUrl::new(url).is_loopback(), "{url}");
        }
    }
}
