//! The settings of a listener.

use ipnet::IpNet;
use std::time::Duration;

/// The timeouts of connections and requests, the limits on connections and memory, and the trusted proxies.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The time for a request head, from the accept or from the first byte of a later request.
    pub header_timeout: Duration,
    /// The time from the end of a response to the next request on the same connection.
    pub idle_timeout: Duration,
    /// The time from the head of a request to the head of its response.
    ///
    /// The service is expected to enforce it with a response of its own. The listener sends a 503 only if the
    /// service takes a quarter longer.
    pub request_timeout: Duration,
    /// The time for which a client may read nothing of a response.
    pub write_timeout: Duration,
    /// The time for which requests in flight may continue after a stop was requested.
    ///
    /// The default leaves the process one of the 15 seconds within which it is expected to end.
    pub stop_timeout: Duration,
    /// The maximum number of open connections.
    pub max_connections: usize,
    /// The maximum number of open connections per IPv4 address or IPv6 /64. Trusted proxies are exempt.
    pub max_connections_per_address: usize,
    /// The maximum number of bytes of responses that clients have not read yet.
    ///
    /// Over it, the connections that hold most are closed. This must be larger than the largest response.
    pub max_unsent_bytes: usize,
    /// The same per IPv4 address or IPv6 /64. Trusted proxies are exempt.
    pub max_unsent_bytes_per_address: usize,
    /// The maximum number of HTTP/2 streams that are open at once, on all connections of an IPv4 address or IPv6 /64.
    ///
    /// Over it, the connections with the most streams are closed. Trusted proxies are exempt.
    pub max_streams_per_address: usize,
    /// The networks of proxies whose `X-Forwarded-For` is trusted.
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
            max_unsent_bytes: 128 << 20,
            max_unsent_bytes_per_address: 64 << 20,
            max_streams_per_address: 1_000,
            trusted_proxies: Vec::new(),
        }
    }
}

impl ServeSettings {
    /// The time after which the listener responds to a request that the service has not timed out itself.
    pub(crate) fn response_timeout(&self) -> Duration {
        self.request_timeout + self.request_timeout / 4
    }
}
