//! Determines the address of the client, directly or behind proxies.
//!
//! `X-Forwarded-For` is a claim. Each proxy appends the address it saw, so the field is read from the right: an entry
//! counts only if the hop that appended it is trusted, and the first address that is not a trusted proxy is the
//! client. Entries further to the left were sent by the client and are ignored.

use hyper::header::{HeaderMap, HeaderName};
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client that sent a request.
///
/// The listener inserts it into the extensions of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

/// Marks a request that was received from a trusted proxy.
///
/// The listener inserts it into the extensions of the request. Fields such as `X-Request-Id` can then be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedPeer;

impl ClientAddress {
    /// Determines the client of a request that was received from `peer`. IPv4-mapped IPv6 addresses are converted
    /// to IPv4.
    #[inline]
    pub fn find(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpNet]) -> Self {
        let peer = peer.to_canonical();
        if trusted_proxies.is_empty() {
            return Self(peer);
        }
        Self(find_forwarded(peer, headers, trusted_proxies))
    }
}

fn find_forwarded(peer: IpAddr, headers: &HeaderMap, trusted_proxies: &[IpNet]) -> IpAddr {
    let is_trusted = |address: IpAddr| trusted_proxies.iter().any(|network| network.contains(&address));
    let mut client = peer;
    let fields = headers.get_all(X_FORWARDED_FOR).iter().rev();
    for hop in fields.flat_map(|value| value.as_bytes().rsplit(|&byte| byte == b',')) {
        if !is_trusted(client) {
            break;
        }
        match parse_hop(hop) {
            Some(address) => client = address,
            None => break,
        }
    }
    client
}

/// Parses an address, or an address with a port as some proxies send it.
fn parse_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let address = hop
        .parse()
        .or_else(|_| hop.parse().map(|with_port: SocketAddr| with_port.ip()))
        .ok()?;
    Some(IpAddr::to_canonical(&address))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(peer: &str, forwarded_for: &[&str], trusted_proxies: &[&str]) -> IpAddr {
        let mut headers = HeaderMap::new();
        for value in forwarded_for {
            headers.append(X_FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted_proxies: Vec<IpNet> = trusted_proxies.iter().map(|text| text.parse().unwrap()).collect();
        ClientAddress::find(address(peer), &headers, &trusted_proxies).0
    }

    #[test]
    fn the_claim_of_an_untrusted_peer_is_ignored() {
        assert_eq!(client("192.0.2.1", &["203.0.113.9"], &[]), address("192.0.2.1"));
        assert_eq!(
            client("192.0.2.1", &["10.0.0.1"], &["10.0.0.0/8"]),
            address("192.0.2.1")
        );
    }

    #[test]
    fn behind_trusted_proxies_the_rightmost_other_hop_is_the_client() {
        let trusted_proxies = ["10.0.0.0/8", "::1/128"];
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9"], &trusted_proxies),
            address("203.0.113.9")
        );
        assert_eq!(
            client("::1", &["1.1.1.1, 203.0.113.9, 10.2.3.4"], &trusted_proxies),
            address("203.0.113.9")
        );
        assert_eq!(
            client(
                "10.0.0.1",
                &["1.1.1.1", "203.0.113.9", "10.2.3.4"],
                &trusted_proxies
            ),
            address("203.0.113.9")
        );
    }

    #[test]
    fn a_proxy_that_forwards_no_address_is_the_client() {
        assert_eq!(client("10.0.0.1", &[], &["10.0.0.0/8"]), address("10.0.0.1"));
        assert_eq!(
            client("10.0.0.1", &["10.9.9.9"], &["10.0.0.0/8"]),
            address("10.9.9.9")
        );
    }

    #[test]
    fn hops_before_an_invalid_one_are_ignored() {
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9, unknown"], &["10.0.0.0/8"]),
            address("10.0.0.1")
        );
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9,"], &["10.0.0.0/8"]),
            address("10.0.0.1")
        );
    }

    #[test]
    fn a_hop_may_have_a_port() {
        let trusted_proxies = ["10.0.0.0/8"];
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9:4711"], &trusted_proxies),
            address("203.0.113.9")
        );
        assert_eq!(
            client("10.0.0.1", &["[2001:db8::7]:4711"], &trusted_proxies),
            address("2001:db8::7")
        );
    }

    #[test]
    fn an_ipv4_mapped_address_counts_as_ipv4() {
        assert_eq!(
            client(
                "::ffff:10.0.0.1",
                &["203.0.113.9, ::ffff:10.0.0.2"],
                &["10.0.0.0/8"]
            ),
            address("203.0.113.9")
        );
    }

    proptest! {
        #[test]
        fn no_field_changes_the_address_of_an_untrusted_peer(value in "[ -~]{0,60}") {
            prop_assert_eq!(client("192.0.2.1", &[&value], &["10.0.0.0/8"]), address("192.0.2.1"));
        }
    }
}
