//! Limits the memory that clients hold by not reading their responses.
//!
//! A response is in memory from the moment the service returns it until the client has taken its last byte. A client
//! decides when that is: over HTTP/1 by not reading the socket, over HTTP/2 by granting no flow-control window. Each
//! connection counts its own bytes and reports them after it was polled, so that the responses that are sent at once,
//! which are nearly all, never touch a counter that connections share. HTTP/2 streams are reported as they open.
//!
//! When the total or the sum of one client is over its limit, the connection that holds most is cut, then the next one,
//! until three quarters of the limit are left. If new requests were refused instead, those who hold the memory would keep
//! everyone else out. A client that reads what it asked for holds next to nothing and is not
//! affected. A client that has opened too many streams may open a few per connection for a while: otherwise each new
//! connection would take the place of an older one, and the server would compute every response.
//!
//! A connection that is cut holds its memory until its tasks have run. If thousands of streams are waiting to be served,
//! that is after them. So a connection with many streams is served only as long as there is room beside the connections
//! that were cut. Otherwise its new streams are refused as they open, before they get a task.

use crate::network::client_network;
use crate::settings::ServeSettings;
use crate::stop::StopSignal;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The bytes that an open HTTP/2 stream counts in addition to its response, for its task, its head and its
/// protocol state.
pub(crate) const STREAM_BYTES: usize = 16 * 1024;

/// For this long after a client had too many streams open, each of its connections may have `FEW_STREAMS` open.
const RESTRICTION_TIME: Duration = Duration::from_secs(5);
pub(crate) const FEW_STREAMS: usize = 4;

/// How often the memory of the connections that were cut is added up at most, in microseconds.
const RELEASE_CHECK_INTERVAL: u64 = 1_000;

/// The value of a time that is not set.
const NEVER: u64 = u64::MAX;

/// The unsent responses of all connections of one listener, and their limits.
#[derive(Debug)]
pub(crate) struct UnsentLimits {
    max_bytes: usize,
    max_bytes_per_client: usize,
    max_streams_per_client: usize,
    /// The instant from which the times of connections are measured.
    started_at: Instant,
    bytes: AtomicUsize,
    /// What the connections that were cut held when that was last added up.
    unreleased_bytes: AtomicUsize,
    /// When it was last added up, in microseconds.
    release_checked_at: AtomicU64,
    /// The connections that were cut and still hold memory.
    unreleased: Mutex<Vec<Arc<Unsent>>>,
    /// Taken when a connection opens or closes, and when a limit is exceeded.
    groups: Mutex<Groups>,
}

#[derive(Debug, Default)]
struct Groups {
    by_key: HashMap<GroupKey, Group>,
    last_proxy_connection: u64,
}

/// The connections whose bytes are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GroupKey {
    Client(IpNet),
    /// One connection of a trusted proxy, which carries the requests of many clients. Only the total limit applies.
    ProxyConnection(u64),
}

#[derive(Debug)]
struct Group {
    sums: Arc<GroupSums>,
    connections: Vec<Arc<Unsent>>,
}

#[derive(Debug, Default)]
struct GroupSums {
    bytes: AtomicUsize,
    streams: AtomicUsize,
    /// Until when connections may have few streams, in microseconds. Zero if there was no reason yet.
    restricted_until: AtomicU64,
}

impl GroupSums {
    fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    fn streams(&self) -> usize {
        self.streams.load(Relaxed)
    }
}

impl UnsentLimits {
    pub(crate) fn new(settings: &ServeSettings) -> Arc<Self> {
        Self::with_maxima(
            settings.max_unsent_bytes,
            settings.max_unsent_bytes_per_client(),
            settings.max_streams_per_client(),
        )
    }

    fn with_maxima(
        max_bytes: usize,
        max_bytes_per_client: usize,
        max_streams_per_client: usize,
    ) -> Arc<Self> {
        Arc::new(Self {
            max_bytes,
            max_bytes_per_client,
            max_streams_per_client,
            started_at: Instant::now(),
            bytes: AtomicUsize::new(0),
            unreleased_bytes: AtomicUsize::new(0),
            release_checked_at: AtomicU64::new(0),
            unreleased: Mutex::default(),
            groups: Mutex::default(),
        })
    }

    /// Starts to count for a new connection from `peer`.
    pub(crate) fn open(self: &Arc<Self>, peer: IpAddr, is_proxy: bool) -> OpenUnsent {
        let mut groups = self.lock();
        let key = if is_proxy {
            groups.last_proxy_connection += 1;
            GroupKey::ProxyConnection(groups.last_proxy_connection)
        } else {
            GroupKey::Client(client_network(peer))
        };
        let group = groups.by_key.entry(key).or_insert_with(|| Group {
            sums: Arc::default(),
            connections: Vec::new(),
        });
        let unsent = Arc::new(Unsent {
            bytes: AtomicUsize::new(0),
            streams: AtomicUsize::new(0),
            has_progressed: AtomicBool::new(false),
            stalled_since: AtomicU64::new(NEVER),
            last_report: AtomicUsize::new(0),
            reported: Mutex::default(),
            cut: StopSignal::default(),
            key,
            sums: Arc::clone(&group.sums),
            limits: Arc::clone(self),
        });
        group.connections.push(Arc::clone(&unsent));
        OpenUnsent(unsent)
    }

    /// Cuts connections if a limit is exceeded.
    fn enforce(&self, key: GroupKey, sums: &GroupSums) {
        if let GroupKey::Client(client) = key {
            if sums.bytes() > self.max_bytes_per_client {
                let cut = self.cut_in_group(
                    key,
                    self.max_bytes_per_client,
                    GroupSums::bytes,
                    Unsent::held_bytes,
                );
                log_cut(cut, Some(client), "held too many bytes of unsent responses");
            }
            if sums.streams() > self.max_streams_per_client {
                let cut = self.cut_in_group(
                    key,
                    self.max_streams_per_client,
                    GroupSums::streams,
                    Unsent::open_streams,
                );
                if cut > 0 {
                    let restricted_until = self.now() + RESTRICTION_TIME.as_micros() as u64;
                    sums.restricted_until.store(restricted_until, Relaxed);
                }
                log_cut(cut, Some(client), "had too many streams open");
            }
        }
        if self.bytes.load(Relaxed) > self.max_bytes {
            let cut = self.cut_largest_groups();
            log_cut(cut, None, "held most of the bytes of unsent responses");
        }
    }

    /// Cuts connections of a group until three quarters of `limit` are left, if its `sum` is over the limit once it is
    /// up to date.
    fn cut_in_group(
        &self,
        key: GroupKey,
        limit: usize,
        sum: impl Fn(&GroupSums) -> usize,
        size: impl Fn(&Unsent) -> usize,
    ) -> usize {
        let groups = self.lock();
        let Some(group) = groups.by_key.get(&key) else {
            return 0;
        };
        group.update_sums();
        if sum(&group.sums) <= limit {
            return 0;
        }
        let target = three_quarters(limit);
        group.cut_largest(size, |sums| sum(sums) <= target)
    }

    /// Halves the largest group until three quarters of the total limit are left, if the total is over the limit once it
    /// is up to date.
    fn cut_largest_groups(&self) -> usize {
        let target = three_quarters(self.max_bytes);
        let groups = self.lock();
        groups.by_key.values().for_each(Group::update_sums);
        if self.bytes.load(Relaxed) <= self.max_bytes {
            return 0;
        }
        let mut cut = 0;
        while self.bytes.load(Relaxed) > target {
            let largest = groups.by_key.values().max_by_key(|group| group.sums.bytes());
            let Some(largest) = largest else { break };
            let half = largest.sums.bytes() / 2;
            let cut_here = largest.cut_largest(Unsent::held_bytes, |sums| {
                self.bytes.load(Relaxed) <= target || sums.bytes() <= half
            });
            if cut_here == 0 {
                break;
            }
            cut += cut_here;
        }
        cut
    }

    /// Returns whether there is room for another response beside those of the connections that were cut.
    fn has_room(&self) -> bool {
        let is_full = || {
            let unreleased = self.unreleased_bytes.load(Relaxed);
            unreleased > 0 && self.bytes.load(Relaxed) + unreleased > self.max_bytes
        };
        if is_full() {
            let (now, checked_at) = (self.now(), self.release_checked_at.load(Relaxed));
            if now.saturating_sub(checked_at) >= RELEASE_CHECK_INTERVAL {
                self.update_unreleased(&mut self.lock_unreleased());
            }
        }
        !is_full()
    }

    /// Adds up what the connections that were cut still hold.
    fn update_unreleased(&self, connections: &mut Vec<Arc<Unsent>>) {
        connections.retain(|unsent| unsent.held_bytes() > 0);
        let bytes = connections.iter().map(|unsent| unsent.held_bytes()).sum();
        self.unreleased_bytes.store(bytes, Relaxed);
        self.release_checked_at.store(self.now(), Relaxed);
    }

    fn lock_unreleased(&self) -> MutexGuard<'_, Vec<Arc<Unsent>>> {
        self.unreleased.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time in microseconds.
    fn now(&self) -> u64 {
        self.started_at.elapsed().as_micros() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Groups> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn three_quarters(limit: usize) -> usize {
    limit - limit / 4
}

fn log_cut(connections: usize, client: Option<IpNet>, reason: &'static str) {
    if connections > 0 {
        let client = client.map(tracing::field::display);
        tracing::warn!(connections, client, "closed connections that {reason}");
    }
}

impl Group {
    /// Brings the sums up to date: a stream that ends on its own does not wake the task that reports for its connection.
    fn update_sums(&self) {
        self.connections.iter().for_each(|unsent| unsent.update_sums());
    }

    /// Cuts the connections of the largest `size` until there are enough. Of two of the same size, the one that has not
    /// read for longer goes first.
    fn cut_largest(&self, size: impl Fn(&Unsent) -> usize, is_enough: impl Fn(&GroupSums) -> bool) -> usize {
        let mut largest: Vec<_> = self
            .connections
            .iter()
            .map(|unsent| (Reverse(size(unsent)), unsent.stalled_since.load(Relaxed), unsent))
            .filter(|(Reverse(size), ..)| *size > 0)
            .collect();
        largest.sort_unstable_by_key(|(size, stalled_since, _)| (*size, *stalled_since));
        let mut cut = 0;
        for (.., unsent) in largest {
            if is_enough(&self.sums) {
                break;
            }
            cut += usize::from(unsent.cut());
        }
        cut
    }
}

/// The unsent responses of one connection.
///
/// Bytes and streams are counted as they come and go, by the tasks of the connection alone.
#[derive(Debug)]
pub(crate) struct Unsent {
    bytes: AtomicUsize,
    streams: AtomicUsize,
    /// Whether the client has taken bytes since the last report.
    has_progressed: AtomicBool,
    /// When the client last took bytes, in microseconds, or `NEVER` if it has taken all.
    stalled_since: AtomicU64,
    /// The bytes of the last report.
    last_report: AtomicUsize,
    reported: Mutex<Reported>,
    cut: StopSignal,
    key: GroupKey,
    sums: Arc<GroupSums>,
    limits: Arc<UnsentLimits>,
}

/// What a connection has added to the sums that connections share.
#[derive(Debug, Default)]
struct Reported {
    bytes: usize,
    streams: usize,
    has_ended: bool,
}

impl Unsent {
    #[inline]
    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Relaxed);
    }

    #[inline]
    pub(crate) fn remove_bytes(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Counts a new stream. It is reported at once: one read from the socket can open a hundred, and those over the limit
    /// need not be served.
    #[inline]
    pub(crate) fn add_stream(self: &Arc<Self>) {
        let streams = self.streams.fetch_add(1, Relaxed) + 1;
        if streams > FEW_STREAMS && self.is_restricted() {
            self.cut();
        } else {
            self.report();
        }
    }

    fn is_restricted(&self) -> bool {
        let restricted_until = self.sums.restricted_until.load(Relaxed);
        restricted_until != 0
            && matches!(self.key, GroupKey::Client(_))
            && self.limits.now() < restricted_until
    }

    #[inline]
    pub(crate) fn remove_stream(&self) {
        self.streams.fetch_sub(1, Relaxed);
    }

    /// Records that the client has taken bytes of a response.
    #[inline]
    pub(crate) fn record_progress(&self) {
        if !self.has_progressed.load(Relaxed) {
            self.has_progressed.store(true, Relaxed);
        }
    }

    /// Returns the signal that ends the connection because it holds too much.
    #[inline]
    pub(crate) fn cut_signal(&self) -> &StopSignal {
        &self.cut
    }

    /// Returns since when the client has not taken any byte of the responses that wait for it.
    #[inline]
    pub(crate) fn stalled_since(&self) -> Option<Instant> {
        match self.stalled_since.load(Relaxed) {
            NEVER => None,
            micros => Some(self.limits.started_at + Duration::from_micros(micros)),
        }
    }

    /// Adds what has changed to the shared sums and enforces the limits. Called after the connection was polled.
    #[inline]
    pub(crate) fn report(&self) {
        let held = self.held_bytes();
        if held != 0 || self.last_report.load(Relaxed) != 0 {
            self.report_held(held);
        }
    }

    fn report_held(&self, held: usize) {
        if self.bytes.load(Relaxed) == 0 {
            self.stalled_since.store(NEVER, Relaxed);
        } else if self.has_progressed.swap(false, Relaxed) || self.stalled_since.load(Relaxed) == NEVER {
            self.stalled_since.store(self.limits.now(), Relaxed);
        }
        if self.last_report.load(Relaxed) != held {
            self.update_sums();
            self.limits.enforce(self.key, &self.sums);
        }
    }

    /// Replaces what this connection has added to the shared sums by what it holds now.
    fn update_sums(&self) {
        let mut reported = self.lock();
        if reported.has_ended {
            return;
        }
        let (bytes, streams) = (self.held_bytes(), self.open_streams());
        self.last_report.store(bytes, Relaxed);
        change(&self.sums.bytes, reported.bytes, bytes);
        change(&self.limits.bytes, reported.bytes, bytes);
        change(&self.sums.streams, reported.streams, streams);
        reported.bytes = bytes;
        reported.streams = streams;
    }

    /// Returns whether another response may be computed: always if the connection has few streams.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.open_streams() <= FEW_STREAMS || self.limits.has_room()
    }

    /// Ends the connection. Returns whether it had not ended before.
    fn cut(self: &Arc<Self>) -> bool {
        let was_open = self.end();
        if was_open {
            let mut unreleased = self.limits.lock_unreleased();
            unreleased.push(Arc::clone(self));
            self.limits.update_unreleased(&mut unreleased);
            self.cut.set();
        }
        was_open
    }

    /// Takes what was reported out of the shared sums. Returns whether this was the first call.
    fn end(&self) -> bool {
        let mut reported = self.lock();
        if reported.has_ended {
            return false;
        }
        change(&self.sums.bytes, reported.bytes, 0);
        change(&self.limits.bytes, reported.bytes, 0);
        change(&self.sums.streams, reported.streams, 0);
        reported.has_ended = true;
        true
    }

    fn held_bytes(&self) -> usize {
        self.bytes.load(Relaxed) + self.open_streams() * STREAM_BYTES
    }

    pub(crate) fn open_streams(&self) -> usize {
        self.streams.load(Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Reported> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn change(sum: &AtomicUsize, from: usize, to: usize) {
    if to >= from {
        sum.fetch_add(to - from, Relaxed);
    } else {
        sum.fetch_sub(from - to, Relaxed);
    }
}

/// The counter of an open connection. Dropping it takes the connection out of the sums.
#[derive(Debug)]
pub(crate) struct OpenUnsent(Arc<Unsent>);

impl OpenUnsent {
    pub(crate) fn counter(&self) -> &Arc<Unsent> {
        &self.0
    }
}

impl Drop for OpenUnsent {
    fn drop(&mut self) {
        self.0.end();
        let mut groups = self.0.limits.lock();
        if let Some(group) = groups.by_key.get_mut(&self.0.key) {
            group.connections.retain(|unsent| !Arc::ptr_eq(unsent, &self.0));
            if group.connections.is_empty() {
                groups.by_key.remove(&self.0.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    /// Opens a connection that holds `bytes`.
    fn hold(limits: &Arc<UnsentLimits>, peer: &str, bytes: usize) -> OpenUnsent {
        let open = limits.open(peer.parse().unwrap(), false);
        open.counter().add_bytes(bytes);
        open.counter().report();
        open
    }

    fn is_cut(open: &OpenUnsent) -> bool {
        open.counter().cut_signal().is_set()
    }

    #[test]
    fn the_limits_of_a_client_are_derived_from_two_settings() {
        let limits = UnsentLimits::new(&ServeSettings::default());
        assert_eq!(limits.max_bytes, 128 << 20);
        assert_eq!(limits.max_bytes_per_client, 64 << 20);
        assert_eq!(limits.max_streams_per_client, 1_000);
        let limits = UnsentLimits::new(&ServeSettings {
            max_connections_per_address: 8,
            ..ServeSettings::default()
        });
        assert_eq!(limits.max_streams_per_client, 100);
    }

    #[tokio::test]
    async fn the_connection_that_holds_most_is_cut_first() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 100 * KIB, 10);
        let small = hold(&limits, "192.0.2.1", 10 * KIB);
        let large = hold(&limits, "192.0.2.1", 60 * KIB);
        let other_client = hold(&limits, "192.0.2.2", 90 * KIB);
        assert!(!is_cut(&large));
        let last = hold(&limits, "192.0.2.1", 31 * KIB);
        assert!(is_cut(&large));
        assert!(!is_cut(&small) && !is_cut(&last) && !is_cut(&other_client));
        assert_eq!(limits.bytes.load(Relaxed), 131 * KIB);
    }

    #[tokio::test]
    async fn the_client_that_holds_most_is_cut_first_when_the_total_is_exceeded() {
        let limits = UnsentLimits::with_maxima(100 * KIB, 80 * KIB, 10);
        let honest = hold(&limits, "192.0.2.1", 20 * KIB);
        let slow: Vec<_> = (0..8).map(|_| hold(&limits, "192.0.2.9", 9 * KIB)).collect();
        assert!(!slow.iter().any(is_cut));
        let last = hold(&limits, "192.0.2.9", 9 * KIB);
        assert!(!is_cut(&honest));
        assert!(slow.iter().chain([&last]).any(is_cut));
        assert!(limits.bytes.load(Relaxed) <= 75 * KIB);
    }

    #[tokio::test]
    async fn streams_are_limited_across_the_connections_of_a_client() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 1000 * KIB, 10);
        let honest = limits.open("192.0.2.1".parse().unwrap(), false);
        honest.counter().add_stream();
        honest.counter().report();
        let greedy = limits.open("192.0.2.1".parse().unwrap(), false);
        for _ in 0..9 {
            greedy.counter().add_stream();
        }
        greedy.counter().report();
        assert!(!is_cut(&greedy));
        greedy.counter().add_stream();
        greedy.counter().report();
        assert!(is_cut(&greedy) && !is_cut(&honest));
    }

    #[tokio::test(start_paused = true)]
    async fn after_too_many_streams_each_connection_may_open_a_few_for_a_while() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 1000 * KIB, 10);
        let open_streams = |count: usize| {
            let open = limits.open("192.0.2.1".parse().unwrap(), false);
            (0..count).for_each(|_| open.counter().add_stream());
            open
        };
        let honest = open_streams(1);
        assert!(!is_cut(&open_streams(9)));
        assert!(is_cut(&open_streams(10)));
        assert!(is_cut(&open_streams(FEW_STREAMS + 1)));
        let few = open_streams(FEW_STREAMS);
        assert!(!is_cut(&few) && !is_cut(&honest));
        tokio::time::advance(RESTRICTION_TIME).await;
        drop(few);
        assert!(!is_cut(&open_streams(FEW_STREAMS + 1)));
    }

    #[tokio::test]
    async fn streams_that_have_ended_unreported_do_not_restrict_a_client() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 1000 * KIB, 10);
        let open = || limits.open("192.0.2.1".parse().unwrap(), false);
        let (first, second) = (open(), open());
        (0..9).for_each(|_| first.counter().add_stream());
        (0..9).for_each(|_| first.counter().remove_stream());
        (0..=FEW_STREAMS).for_each(|_| second.counter().add_stream());
        assert!(!is_cut(&first) && !is_cut(&second));
        assert!(!second.counter().is_restricted());
    }

    #[tokio::test]
    async fn bytes_that_were_sent_unreported_cut_no_connection() {
        for (max_bytes, max_bytes_per_client) in [(1000 * KIB, 100 * KIB), (100 * KIB, 1000 * KIB)] {
            let limits = UnsentLimits::with_maxima(max_bytes, max_bytes_per_client, 10);
            let first = hold(&limits, "192.0.2.1", 60 * KIB);
            first.counter().remove_bytes(30 * KIB);
            let second = hold(&limits, "192.0.2.1", 50 * KIB);
            assert!(!is_cut(&first) && !is_cut(&second));
            assert_eq!(limits.bytes.load(Relaxed), 80 * KIB);
        }
    }

    #[tokio::test]
    async fn only_the_total_limit_applies_to_proxies() {
        let limits = UnsentLimits::with_maxima(100 * KIB, 10 * KIB, 1);
        let proxy = |bytes| {
            let open = limits.open("10.0.0.1".parse().unwrap(), true);
            open.counter().add_bytes(bytes);
            open.counter().report();
            open
        };
        let (small, large) = (proxy(30 * KIB), proxy(60 * KIB));
        assert!(!is_cut(&small) && !is_cut(&large));
        let last = proxy(20 * KIB);
        assert!(is_cut(&large) && !is_cut(&small) && !is_cut(&last));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_stalls_while_its_client_takes_nothing() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 1000 * KIB, 10);
        let open = hold(&limits, "192.0.2.1", KIB);
        let started = Instant::now();
        assert_eq!(open.counter().stalled_since(), Some(started));
        tokio::time::advance(Duration::from_secs(5)).await;
        open.counter().report();
        assert_eq!(open.counter().stalled_since(), Some(started));
        open.counter().record_progress();
        open.counter().report();
        assert_eq!(open.counter().stalled_since(), Some(Instant::now()));
        open.counter().remove_bytes(KIB);
        open.counter().report();
        assert_eq!(open.counter().stalled_since(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_no_room_until_connections_that_were_cut_have_released_their_memory() {
        let limits = UnsentLimits::with_maxima(200 * KIB, 200 * KIB, 10);
        let slow: Vec<_> = (1..=4)
            .map(|number| hold(&limits, &format!("192.0.2.{number}"), 40 * KIB))
            .collect();
        let honest = limits.open("192.0.2.9".parse().unwrap(), false);
        honest.counter().add_stream();
        let other = limits.open("192.0.2.9".parse().unwrap(), false);
        assert!(limits.has_room());
        let last = hold(&limits, "192.0.2.5", 40 * KIB);
        let cut: Vec<_> = slow.iter().chain([&last]).filter(|open| is_cut(open)).collect();
        other.counter().streams.store(FEW_STREAMS + 1, Relaxed);
        assert!(!cut.is_empty() && !other.counter().has_room());
        assert!(honest.counter().has_room(), "it has a single stream");
        for open in cut {
            open.counter().remove_bytes(40 * KIB);
        }
        tokio::time::advance(Duration::from_micros(RELEASE_CHECK_INTERVAL)).await;
        assert!(other.counter().has_room());
    }

    #[tokio::test]
    async fn closed_connections_leave_nothing_behind() {
        let limits = UnsentLimits::with_maxima(1000 * KIB, 1000 * KIB, 10);
        let open = hold(&limits, "192.0.2.1", KIB);
        let proxy = limits.open("10.0.0.1".parse().unwrap(), true);
        drop((open, proxy));
        assert_eq!(limits.bytes.load(Relaxed), 0);
        assert!(limits.lock().by_key.is_empty());
    }
}
