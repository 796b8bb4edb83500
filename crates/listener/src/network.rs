//! Parses the networks that an operator trusts, and decides which addresses count as one client.

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::fmt;
use std::net::IpAddr;

/// The prefix length of the smallest network that a provider assigns to one IPv6 customer.
const IPV6_CLIENT_PREFIX: u8 = 64;

/// The prefix length of `::ffff:0:0/96`, which contains the IPv4-mapped IPv6 addresses (RFC 4291, section 2.5.5.2).
const IPV4_MAPPED_PREFIX: u8 = 96;

/// Returns the network that counts as one client: a single IPv4 address, or an IPv6 /64, since a customer can use
/// any address in it.
#[inline]
pub fn client_network(address: IpAddr) -> IpNet {
    match address.to_canonical() {
        IpAddr::V4(address) => Ipv4Net::from(address).into(),
        IpAddr::V6(address) => Ipv6Net::new_assert(address, IPV6_CLIENT_PREFIX).trunc().into(),
    }
}

/// Parses a network such as `10.0.0.0/8` or `2001:db8::/32`, or a single address.
///
/// Bits after the prefix are cleared. IPv4-mapped IPv6 addresses are converted to IPv4.
pub fn parse_network(text: &str) -> Result<IpNet, InvalidNetwork> {
    let text = text.trim();
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) if prefix.bytes().all(|byte| byte.is_ascii_digit()) => {
            (address, Some(prefix))
        }
        Some(_) => return Err(InvalidNetwork),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| InvalidNetwork)?;
    let canonical = address.to_canonical();
    let Some(prefix) = prefix else {
        return Ok(canonical.into());
    };
    let prefix: u8 = prefix.parse().map_err(|_| InvalidNetwork)?;
    let removed = if address == canonical {
        0
    } else {
        IPV4_MAPPED_PREFIX
    };
    let prefix = prefix.checked_sub(removed).ok_or(InvalidNetwork)?;
    let network = IpNet::new(canonical, prefix).map_err(|_| InvalidNetwork)?;
    Ok(network.trunc())
}

/// The error returned for text that is not a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidNetwork;

impl fmt::Display for InvalidNetwork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a network: use an address such as 192.0.2.1, or a range such as 10.0.0.0/8 or 2001:db8::/32",
        )
    }
}

impl std::error::Error for InvalidNetwork {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_network_is_a_range_or_a_single_address() {
        for (text, canonical) in [
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("10.0.0.0/08", "10.0.0.0/8"),
            ("127.0.0.1", "127.0.0.1/32"),
            ("::1", "::1/128"),
            (" 2001:db8::1/32 ", "2001:db8::/32"),
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
    fn an_ipv4_mapped_network_becomes_an_ipv4_network() {
        for (text, canonical) in [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:192.0.2.1", "192.0.2.1/32"),
        ] {
            assert_eq!(parse_network(text).unwrap().to_string(), canonical);
        }
        assert_eq!(parse_network("::ffff:10.0.0.0/95"), Err(InvalidNetwork));
    }

    #[test]
    fn a_client_is_one_ipv4_address_or_one_ipv6_subnet() {
        for (text, network) in [
            ("192.0.2.1", "192.0.2.1/32"),
            ("::ffff:192.0.2.1", "192.0.2.1/32"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ] {
            assert_eq!(client_network(address(text)).to_string(), network);
        }
    }

    proptest! {
        #[test]
        fn an_ipv4_network_contains_the_addresses_that_share_its_prefix(one: u32, other: u32, prefix in 0..=32_u8) {
            let network = parse_network(&format!("{}/{prefix}", Ipv4Addr::from(one))).unwrap();
            let shares_prefix = (one ^ other).leading_zeros() >= u32::from(prefix);
            prop_assert_eq!(network.contains(&IpAddr::V4(other.into())), shares_prefix);
            prop_assert_eq!(parse_network(&network.to_string()).unwrap(), network);
        }

        #[test]
        fn an_ipv6_network_contains_the_addresses_that_share_its_prefix(
            one: u128,
            flipped_bit in 0..128_u32,
            prefix in 0..=128_u8,
        ) {
            // The first bit keeps the address out of the IPv4-mapped range.
            let one = one | 1 << 127;
            let network = parse_network(&format!("{}/{prefix}", Ipv6Addr::from(one))).unwrap();
            let other = IpAddr::V6((one ^ (1 << 127 >> flipped_bit)).into());
            prop_assert_eq!(network.contains(&other), flipped_bit >= u32::from(prefix));
            prop_assert_eq!(parse_network(&network.to_string()).unwrap(), network);
        }
    }
}
