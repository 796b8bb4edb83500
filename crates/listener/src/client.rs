//! Who calls: the address of the client, also behind proxies, and the networks an operator trusts.
//!
//! `X-Forwarded-For` is a claim. Each proxy appends the address it saw, so reading from the right, hops may be
//! believed as long as the one that wrote them is trusted; the first address that is not a proxy of ours is the
//! client. What stands further left was written by the client itself and is never looked at.

use hyper::header::{HeaderMap, HeaderName};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address of the client that sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

impl ClientAddress {
    /// The client of a request that came from `peer` with these headers.
    #[inline]
    pub fn find(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> Self {
        if trusted.is_empty() {
            return Self(peer.to_canonical());
        }
        let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(&address));
        let mut client = peer.to_canonical();
        let hops = headers.get_all(FORWARDED_FOR).iter().rev();
        for hop in hops.flat_map(|value| value.as_bytes().rsplit(|&byte| byte == b',')) {
            if !is_trusted(client) {
                break;
            }
            match parse_hop(hop) {
                Some(address) => client = address,
                None => break,
            }
        }
        Self(client)
    }
}

/// An address, or an address with a port as some proxies write it.
fn parse_hop(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let address = hop
        .parse()
        .or_else(|_| hop.parse().map(|with_port: SocketAddr| with_port.ip()))
        .ok()?;
    Some(IpAddr::to_canonical(&address))
}

/// The network that one household or machine holds: a whole /64 in IPv6, one address in IPv4.
#[inline]
pub fn client_network(address: IpAddr) -> IpNet {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Net::from(address).into(),
        IpAddr::V6(address) => Ipv6Net::new_assert(address, 64).trunc().into(),
    }
}

/// A text that names no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNetwork;

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a network: write an address like 192.0.2.1 or a range like 10.0.0.0/8 or 2001:db8::/32",
        )
    }
}

impl std::error::Error for InvalidNetwork {}

/// Reads a network that is written `10.0.0.0/8`, `2001:db8::/32` or as one bare address. IPv4 addresses that are
/// written as IPv6 count as IPv4.
pub fn parse_network(text: &str) -> Result<IpNet, InvalidNetwork> {
    let text = text.trim();
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) if bits.bytes().all(|digit| digit.is_ascii_digit()) => (address, Some(bits)),
        Some(_) => return Err(InvalidNetwork),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| InvalidNetwork)?;
    let canonical = address.to_canonical();
    let Some(bits) = bits else {
        return Ok(canonical.into());
    };
    let bits: u8 = bits.parse().map_err(|_| InvalidNetwork)?;
    let mapped_bits = if address == canonical { 0 } else { 96 };
    let bits = bits.checked_sub(mapped_bits).ok_or(InvalidNetwork)?;
    let network = IpNet::new(canonical, bits).map_err(|_| InvalidNetwork)?;
    Ok(network.trunc())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn client(peer: &str, forwarded: &[&str], trusted: &[&str]) -> IpAddr {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, value.parse().unwrap());
        }
        let trusted: Vec<IpNet> = trusted.iter().map(|text| parse_network(text).unwrap()).collect();
        ClientAddress::find(address(peer), &headers, &trusted).0
    }

    #[test]
    fn what_an_untrusted_peer_claims_is_ignored() {
        assert_eq!(client("192.0.2.1", &["203.0.113.9"], &[]), address("192.0.2.1"));
        assert_eq!(
            client("192.0.2.1", &["10.0.0.1"], &["10.0.0.0/8"]),
            address("192.0.2.1")
        );
    }

    #[test]
    fn behind_trusted_proxies_the_rightmost_other_hop_is_the_client() {
        let trusted = ["10.0.0.0/8", "::1"];
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9"], &trusted),
            address("203.0.113.9")
        );
        assert_eq!(
            client("::1", &["1.1.1.1, 203.0.113.9, 10.2.3.4"], &trusted),
            address("203.0.113.9")
        );
        assert_eq!(
            client("10.0.0.1", &["1.1.1.1", "203.0.113.9", "10.2.3.4"], &trusted),
            address("203.0.113.9")
        );
    }

    #[test]
    fn a_proxy_that_names_nobody_is_itself_the_client() {
        assert_eq!(client("10.0.0.1", &[], &["10.0.0.0/8"]), address("10.0.0.1"));
        assert_eq!(
            client("10.0.0.1", &["10.9.9.9"], &["10.0.0.0/8"]),
            address("10.9.9.9")
        );
    }

    #[test]
    fn a_hop_that_is_no_address_ends_the_walk() {
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
    fn a_hop_may_carry_a_port() {
        let trusted = ["10.0.0.0/8"];
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9:4711"], &trusted),
            address("203.0.113.9")
        );
        assert_eq!(
            client("10.0.0.1", &["[2001:db8::7]:4711"], &trusted),
            address("2001:db8::7")
        );
    }

    #[test]
    fn an_ipv4_address_in_ipv6_clothes_is_an_ipv4_address() {
        assert_eq!(
            client("::ffff:10.0.0.1", &["203.0.113.9"], &["10.0.0.0/8"]),
            address("203.0.113.9")
        );
        let network = parse_network("::ffff:10.0.0.0/104").unwrap();
        assert_eq!(network.to_string(), "10.0.0.0/8");
        assert!(parse_network("::ffff:10.0.0.0/95").is_err());
    }

    #[test]
    fn networks_are_written_as_ranges_or_bare_addresses() {
        for (text, canonical) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("::1", "::1/128"),
            (" 2001:db8::1/32 ", "2001:db8::/32"),
            ("::ffff:192.0.2.1", "192.0.2.1/32"),
            ("10.0.0.0/08", "10.0.0.0/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::/0", "::/0"),
        ] {
            assert_eq!(parse_network(text).unwrap().to_string(), canonical);
        }
        for text in [
            "",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::1/129",
            "10.0.0/8",
            "localhost",
            "10.0.0.0/+8",
            "1.2.3.4/8/8",
        ] {
            assert_eq!(parse_network(text), Err(InvalidNetwork), "{text}");
        }
    }

    #[test]
    fn one_client_is_one_ipv4_address_or_one_ipv6_subnet() {
        assert_eq!(client_network(address("192.0.2.1")).to_string(), "192.0.2.1/32");
        assert_eq!(
            client_network(address("2001:db8:1:2:3:4:5:6")).to_string(),
            "2001:db8:1:2::/64"
        );
    }

    proptest! {
        #[test]
        fn a_network_holds_the_addresses_that_share_its_leading_bits(one: u32, other: u32, bits in 0..=32_u8) {
            let network = parse_network(&format!("{}/{bits}", Ipv4Addr::from(one))).unwrap();
            let alike = (one ^ other).leading_zeros() >= u32::from(bits);
            prop_assert_eq!(network.contains(&IpAddr::V4(other.into())), alike);
            prop_assert_eq!(parse_network(&network.to_string()).unwrap(), network);
        }

        #[test]
        fn the_same_holds_for_ipv6(one: u128, flip in 0..128_u32, bits in 0..=128_u8) {
            let one = one | 1 << 127;
            let network = parse_network(&format!("{}/{bits}", Ipv6Addr::from(one))).unwrap();
            let other = IpAddr::V6((one ^ (1 << 127 >> flip)).into());
            prop_assert_eq!(network.contains(&other), flip >= u32::from(bits));
            prop_assert_eq!(parse_network(&network.to_string()).unwrap(), network);
        }

        #[test]
        fn no_header_moves_an_untrusted_peer(header in "[ -~]{0,60}") {
            prop_assert_eq!(client("192.0.2.1", &[&header], &["10.0.0.0/8"]), address("192.0.2.1"));
        }
    }
}
