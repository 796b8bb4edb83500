//! Limits the number of open connections, in total and per client.

use crate::network::client_network;
use crate::settings::ServeSettings;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open connections of one listener.
///
/// The lock is taken when a connection opens or closes, never by a request.
#[derive(Debug)]
pub(crate) struct Connections {
    max_total: usize,
    max_per_client: usize,
    trusted_proxies: Vec<IpNet>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_client: HashMap<IpNet, usize>,
}

impl Connections {
    pub(crate) fn new(settings: &ServeSettings) -> Arc<Self> {
        Arc::new(Self {
            max_total: settings.max_connections,
            max_per_client: settings.max_connections_per_address,
            trusted_proxies: settings.trusted_proxies.clone(),
            counts: Mutex::default(),
        })
    }

    /// Admits a connection from `peer`, or returns `None` if the server or the client has reached its limit.
    ///
    /// A trusted proxy forwards the requests of many clients, so only the total limit applies to it.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let peer = peer.to_canonical();
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(&peer));
        let client = (!is_proxy).then(|| client_network(peer));
        let mut counts = self.lock();
        if counts.total >= self.max_total {
            return None;
        }
        if let Some(client) = client {
            let count = counts.by_client.get(&client).copied().unwrap_or(0);
            if count >= self.max_per_client {
                return None;
            }
            counts.by_client.insert(client, count + 1);
        }
        counts.total += 1;
        Some(ConnectionPermit {
            connections: Arc::clone(self),
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Permission for one connection to be open. Dropping it releases the connection's share of the limits.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    connections: Arc<Connections>,
    client: Option<IpNet>,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut counts = self.connections.lock();
        counts.total -= 1;
        if let Some(client) = self.client
            && let Some(count) = counts.by_client.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                counts.by_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(max_total: usize, max_per_client: usize) -> Arc<Connections> {
        Connections::new(&ServeSettings {
            max_connections: max_total,
            max_connections_per_address: max_per_client,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            ..ServeSettings::default()
        })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_client_at_its_limit_is_admitted_again_after_it_closes_a_connection() {
        let connections = connections(10, 2);
        let first = connections.admit(address("192.0.2.1"));
        let second = connections.admit(address("192.0.2.1"));
        assert!(first.is_some() && second.is_some());
        assert!(connections.admit(address("192.0.2.1")).is_none());
        assert!(connections.admit(address("192.0.2.2")).is_some());
        drop(first);
        assert!(connections.admit(address("192.0.2.1")).is_some());
    }

    #[test]
    fn an_ipv6_subnet_is_one_client() {
        let connections = connections(10, 1);
        let _permit = connections.admit(address("2001:db8::1"));
        assert!(connections.admit(address("2001:db8::ffff:2")).is_none());
        assert!(connections.admit(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn only_the_total_limit_applies_to_proxies() {
        let connections = connections(3, 1);
        let proxies = ["10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"];
        let permits = proxies.map(|proxy| connections.admit(address(proxy)));
        assert!(permits.iter().all(Option::is_some));
        assert!(connections.admit(address("10.0.0.1")).is_none());
        assert!(connections.admit(address("192.0.2.1")).is_none());
    }

    #[test]
    fn clients_without_connections_take_no_memory() {
        let connections = connections(10, 5);
        drop(connections.admit(address("192.0.2.1")));
        assert_eq!(connections.lock().total, 0);
        assert!(connections.lock().by_client.is_empty());
    }
}
