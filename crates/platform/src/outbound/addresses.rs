//! Which addresses this server may connect to when a user names the host.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses are admitted besides public ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPolicy {
    /// Loopback and private networks, for development. Link-local addresses and the metadata services of cloud providers
    /// are not admitted even then.
    pub allows_private: bool,
}

impl AddressPolicy {
    /// Returns whether an address may be connected to.
    pub fn admits(self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(address) => self.admits_v4(address),
            IpAddr::V6(address) => self.admits_v6(address),
        }
    }

    fn admits_v4(self, address: Ipv4Addr) -> bool {
        is_public_v4(address) || self.allows_private && (address.is_loopback() || address.is_private())
    }

    fn admits_v6(self, address: Ipv6Addr) -> bool {
        if let Some(embedded) = embedded_v4(address) {
            return self.admits_v4(embedded);
        }
        is_public_v6(address) || self.allows_private && (address.is_loopback() || is_private_v6(address))
    }
}

/// The special-purpose addresses of the IANA registry are not public.
fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_special = matches!(
        (first, second, third),
        // This network, private networks, loopback, and all from multicast on.
        (0 | 10 | 127 | 224..=255, ..)
        | (172, 16..=31, _)
        | (192, 168, _)
        // Networks of providers (carrier-grade NAT), and link-local addresses with the metadata services.
        | (100, 64..=127, _)
        | (169, 254, _)
        // Protocol assignments, documentation, former 6to4 relays, benchmarks.
        | (192, 0, 0 | 2)
        | (192, 88, 99)
        | (198, 18 | 19, _)
        | (198, 51, 100)
        | (203, 0, 113)
    );
    !is_special
}

/// Only global unicast addresses, without those for documentation, Teredo and other protocols.
fn is_public_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8,
        [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

/// Unique local addresses, except the one of a metadata service.
fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    (0xfc00..0xfe00).contains(&first) && (first, second) != (0xfd00, 0xec2)
}

/// Returns the IPv4 address that a translator or tunnel would connect to: IPv4-mapped, IPv4-compatible, NAT64 and 6to4
/// addresses.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        // The unspecified and the loopback address are no IPv4-compatible ones.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(from(high, low))
        }
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: AddressPolicy = AddressPolicy {
        allows_private: false,
    };
    const PRIVATE: AddressPolicy = AddressPolicy { allows_private: true };

    fn admits(policy: AddressPolicy, address: &str) -> bool {
        policy.admits(address.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_admitted() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.0.1",
            "100.128.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2a00:1450:4001:82a::200e",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(admits(PUBLIC, address), "{address}");
        }
    }

    #[test]
    fn addresses_of_this_machine_its_networks_and_metadata_services_are_not() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::10.0.0.1",
            "64:ff9b::169.254.169.254",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "4000::1",
            "5f00::1",
            "fc00::1",
            "fd00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!admits(PUBLIC, address), "{address}");
        }
    }

    #[test]
    fn private_networks_are_admitted_for_development_but_metadata_services_are_not() {
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "192.168.1.1",
            "::1",
            "fd12::1",
            "::ffff:127.0.0.1",
        ] {
            assert!(admits(PRIVATE, address), "{address}");
        }
        for address in [
            "0.0.0.0",
            "169.254.169.254",
            "100.100.100.200",
            "::ffff:169.254.169.254",
            "64:ff9b::169.254.169.254",
            "fd00:ec2::254",
            "fe80::1",
            "224.0.0.1",
            "ff02::1",
            "::",
        ] {
            assert!(!admits(PRIVATE, address), "{address}");
        }
    }
}
