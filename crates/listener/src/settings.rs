//! The settings of a listener.

use ipnet::IpNet;
use std::time::Duration;

/// The number of streams that a client may open on one connection. RFC 9113, section 6.5.2, recommends no less.
pub(crate) const MAX_HTTP2_STREAMS: u32 = 100;

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
    ///
    /// A quarter as many HTTP/2 streams may be open at once on all of them, or as many as one connection may have. Over
    /// that, the connections with the most streams are closed.
    pub max_connections_per_address: usize,
    /// The maximum number of bytes of responses that clients have not read yet.
    ///
    /// Over it, the connections that hold most are closed. One IPv4 address or IPv6 /64 may hold half of it, which must
    /// be larger than the largest response. Trusted proxies are exempt from the half.
    pub max_unsent_bytes: usize,
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
            trusted_proxies: Vec::new(),
        }
    }
}

impl ServeSettings {
    /// The time after which the listener responds to a request that the service has not timed out itself.
    pub(crate) fn response_timeout(&self) -> Duration {
        self.request_timeout + self.request_timeout / 4
    }

    /// The maximum number of unsent bytes of one client.
    pub(crate) fn max_unsent_bytes_per_client(&self) -> usize {
        self.max_unsent_bytes / 2
    }

    /// The maximum number of HTTP/2 streams that one client may have open on all of its connections.
    pub(crate) fn max_streams_per_client(&self) -> usize {
        (self.max_connections_per_address / 4).max(MAX_HTTP2_STREAMS as usize)
    }
}
