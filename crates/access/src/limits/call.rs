//! A call, the windows in which it counts, and the decision about it.

use super::Class;
use super::window::Verdict;
use platform::ids::{AccountId, KeyId};
use std::net::IpAddr;

/// Whose calls a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    Account(AccountId),
    Key(KeyId),
    /// The IPv4 address, or the first address of the IPv6 /64.
    Network(IpAddr),
}

impl Owner {
    /// Returns the 16 bytes that name the owner in Redis: its UUID, or its address as an IPv6 address (RFC 4291, section
    /// 2.5.5.2, for IPv4).
    pub(super) fn to_bytes(self) -> [u8; 16] {
        match self {
            Owner::Account(AccountId(id)) | Owner::Key(KeyId(id)) => id.into_bytes(),
            Owner::Network(IpAddr::V4(address)) => address.to_ipv6_mapped().octets(),
            Owner::Network(IpAddr::V6(address)) => address.octets(),
        }
    }
}

/// A call that is subject to a limit.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    pub owner: Owner,
    pub class: Class,
    /// The limit of the owner for calls of this class.
    pub per_minute: u32,
    /// The limit of the address that calls, if the owner is a key that limits addresses.
    pub address: Option<AddressLimit>,
}

/// The limit of one address for its calls with one key.
#[derive(Clone, Copy, Debug)]
pub struct AddressLimit {
    /// The IPv4 address, or the first address of the IPv6 /64.
    pub network: IpAddr,
    pub per_minute: u32,
}

/// The calls that one window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowId {
    /// The calls of an owner in a class.
    Class(Owner, Class),
    /// The calls of an address with a key, regardless of their class.
    Address(AddressId),
}

/// A keyed hash of a key and an address.
///
/// It is the same on every server and after a restart, and does not reveal the address to someone who reads the
/// database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressId(pub(super) [u8; 16]);

/// The decision about a call, with the verdict of each window in which it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The verdict about the owner.
    pub owner: Verdict,
    /// The verdict about the address, if the key limits addresses.
    pub address: Option<Verdict>,
}

impl Decision {
    /// Returns whether every window admitted the call.
    pub fn is_admitted(&self) -> bool {
        self.owner.admitted && self.address.is_none_or(|address| address.admitted)
    }

    /// Returns the number of seconds, rounded up, until every window admits a call: 0 if the call was admitted.
    pub fn retry_after(&self) -> u32 {
        let address = self.address.map_or(0, |address| address.retry_after);
        self.owner.retry_after.max(address)
    }
}
