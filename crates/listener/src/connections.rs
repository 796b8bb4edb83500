//! How many connections are open, in all and from each client, and no more than that.

use super::client::client_network;
use super::settings::ServeSettings;
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The open connections of one listener. Its lock is taken when a connection opens or closes, never by a request.
#[derive(Debug)]
pub(super) struct Connections {
    most: usize,
    most_per_client: usize,
    exempt: Vec<IpNet>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    all: usize,
    by_client: HashMap<IpNet, usize>,
}

impl Connections {
    pub(super) fn new(settings: &ServeSettings) -> Arc<Self> {
        Arc::new(Self {
            most: settings.max_connections,
            most_per_client: settings.max_connections_per_address,
            exempt: settings.trusted_proxies.clone(),
            open: Mutex::default(),
        })
    }

    /// A place for a connection from `peer`, until it is dropped; none where the server or the client has all
    /// it may. Proxies speak for many clients and count only in all.
    pub(super) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let peer = peer.to_canonical();
        let exempt = self.exempt.iter().any(|network| network.contains(&peer));
        let client = (!exempt).then(|| client_network(peer));
        let mut open = self.lock();
        if open.all >= self.most {
            return None;
        }
        if let Some(client) = client {
            let count = open.by_client.get(&client).copied().unwrap_or(0);
            if count >= self.most_per_client {
                return None;
            }
            open.by_client.insert(client, count + 1);
        }
        open.all += 1;
        Some(Place {
            connections: Arc::clone(self),
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One open connection's share of the caps.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    client: Option<IpNet>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.all -= 1;
        if let Some(client) = self.client
            && let Some(count) = open.by_client.get_mut(&client)
        {
            *count -= 1;
            if *count == 0 {
                open.by_client.remove(&client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(most: usize, most_per_client: usize) -> Arc<Connections> {
        Connections::new(&ServeSettings {
            max_connections: most,
            max_connections_per_address: most_per_client,
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap()],
            ..ServeSettings::default()
        })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_client_has_no_more_than_its_share_and_gets_back_what_it_closes() {
        let connections = connections(10, 2);
        let one = connections.admit(address("192.0.2.1"));
        let other = connections.admit(address("192.0.2.1"));
        assert!(one.is_some() && other.is_some());
        assert!(connections.admit(address("192.0.2.1")).is_none());
        assert!(connections.admit(address("192.0.2.2")).is_some());
        drop(one);
        assert!(connections.admit(address("192.0.2.1")).is_some());
    }

    #[test]
    fn an_ipv6_subnet_is_one_client() {
        let connections = connections(10, 1);
        let _one = connections.admit(address("2001:db8::1"));
        assert!(connections.admit(address("2001:db8::ffff:2")).is_none());
        assert!(connections.admit(address("2001:db8:0:1::1")).is_some());
    }

    #[test]
    fn proxies_count_only_in_all() {
        let connections = connections(3, 1);
        let places: Vec<_> = (0..3).map(|_| connections.admit(address("10.0.0.1"))).collect();
        assert!(places.iter().all(Option::is_some));
        assert!(connections.admit(address("10.0.0.1")).is_none());
        assert!(connections.admit(address("192.0.2.1")).is_none());
    }

    #[test]
    fn nothing_is_remembered_of_clients_that_left() {
        let connections = connections(10, 5);
        drop(connections.admit(address("192.0.2.1")));
        assert_eq!(connections.lock().all, 0);
        assert!(connections.lock().by_client.is_empty());
    }
}
