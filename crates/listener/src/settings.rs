//! The settings of a listener.

use ipnet::IpNet;
use std::time::Duration;

/// How long clients may take, and how many there may be.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// From the connection, or the first byte of a later request, to the end of its head.
    pub header_timeout: Duration,
    /// From the end of an answer to the next request on the same connection.
    pub idle_timeout: Duration,
    /// From the head of a request to the head of its answer. The router's own layer is to answer what takes
    /// longer; a request that outlives that by a quarter gets a 503 from the listener itself.
    pub request_timeout: Duration,
    /// How long a client may read nothing of its answer.
    pub write_timeout: Duration,
    /// How long requests in flight may go on after a stop. The default leaves a second of the fifteen that we
    /// promise for the rest of the process.
    pub stop_timeout: Duration,
    pub max_connections: usize,
    /// Per IPv4 address or IPv6 /64; trusted proxies are exempt.
    pub max_connections_per_address: usize,
    /// Peers whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_mins(1),
            request_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            stop_timeout: Duration::from_secs(14),
            max_connections: 10_000,
            max_connections_per_address: 4_000,
            trusted_proxies: Vec::new(),
        }
    }
}

impl ServeSettings {
    /// When a request is given up that the router's own layer did not end.
    pub(super) fn answer_within(&self) -> Duration {
        self.request_timeout + self.request_timeout / 4
    }
}
