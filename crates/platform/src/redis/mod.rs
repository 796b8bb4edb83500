//! The connection to Redis or Valkey, in which servers share their limits.
//!
//! Redis is never needed to answer a request: a caller that gets [`Away`] decides by itself. The first request that fails
//! or gets no response in time closes the connection, and from then on requests return [`Away`] at once, so an
//! outage delays requests only once. One task connects again.

mod connection;
mod servers;

pub use redis::Script;
pub use servers::Servers;

use connection::Connection;
use metrics::Gauge;
use redis::{FromRedisValue, RedisResult, cmd};
use secrecy::{ExposeSecret, SecretString};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{OnceCell, watch};
use tokio::time::{Instant, sleep, timeout};

/// The interval between two probes of a connection that nobody may be using.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// The pause before the first attempt to connect again.
const MIN_PAUSE: Duration = Duration::from_millis(250);
/// The longest pause between two attempts, which is reached if the connection keeps failing.
const MAX_PAUSE: Duration = Duration::from_secs(8);
/// A connection that lasted this long resets the pause.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// How long connecting may take, including the lookup of a master or the topology of a cluster.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How much later than another server this one may notice that Redis has returned.
pub const MAX_LAG: Duration = MAX_PAUSE.saturating_add(CONNECT_TIMEOUT);
/// The number of parts in which a timeout is waited for; see [`wait`].
const TIMEOUT_PARTS: u32 = 5;

/// Writes a key that expires: fails on a replica, without memory, and where scripts are not allowed.
const PROBE_SCRIPT: &str = "return redis.call('SET', KEYS[1], '1', 'PX', 1000)";
const PROBE_KEY: &str = "causeway:probe";

/// Where Redis is, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct RedisSettings {
    /// The URL, or `None` if limits are not shared.
    pub url: Option<SecretString>,
    /// How long a request waits for a response.
    pub timeout: Duration,
}

/// Redis has not responded. The caller decides by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Away;

/// A connection to Redis that recovers from failures. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Redis(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    servers: Servers,
    timeout: Duration,
    link: watch::Sender<Link>,
    is_started: OnceCell<()>,
    /// 1 while connected, else 0.
    up: Gauge,
}

/// The current connection, if any.
#[derive(Debug, Default)]
struct Link {
    /// Counts the connections, so that a late failure of an old one does not close a new one.
    generation: u64,
    connection: Option<Connection>,
    /// Whether the last connection or the last attempt to connect has failed.
    has_failed: bool,
    /// When Redis responded after a failure.
    returned_at: Option<Instant>,
}

impl Redis {
    /// Checks the settings. Connects when [`connect`](Self::connect) or the first request needs it. Returns `None`
    /// without a URL.
    pub fn new(settings: &RedisSettings, up: impl FnOnce() -> Gauge) -> anyhow::Result<Option<Redis>> {
        let Some(url) = &settings.url else {
            return Ok(None);
        };
        Ok(Some(Redis(Arc::new(Inner {
            servers: Servers::parse(url.expose_secret())?,
            timeout: settings.timeout,
            link: watch::Sender::default(),
            is_started: OnceCell::new(),
            up: up(),
        }))))
    }

    /// Connects for the first time, and starts the task that connects again after a failure. Logs a failure.
    pub async fn connect(&self) {
        let start = async || {
            match self.0.open().await {
                Ok(()) => tracing::info!("connected to Redis; all servers share their limits"),
                Err(error) => log_away(&error),
            }
            tokio::spawn(watch(Arc::downgrade(&self.0), self.0.link.subscribe()));
        };
        self.0.is_started.get_or_init(start).await;
    }

    /// Connects once, and returns why it fails.
    pub async fn test(&self) -> Result<(), String> {
        self.0.open().await
    }

    /// Returns whether Redis responded to the last request or probe.
    pub fn is_up(&self) -> bool {
        self.0.link.borrow().connection.is_some()
    }

    /// Returns whether Redis responded after a failure within the last `duration`.
    pub fn has_returned_within(&self, duration: Duration) -> bool {
        let returned_at = self.0.link.borrow().returned_at;
        returned_at.is_some_and(|returned_at| returned_at.elapsed() < duration)
    }

    /// Returns how long a request waits for a response.
    pub fn timeout(&self) -> Duration {
        self.0.timeout
    }

    /// Runs a script. It is sent only if Redis does not know it.
    pub async fn run_script<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[i64],
    ) -> Result<T, Away> {
        let mut invocation = script.prepare_invoke();
        invocation.key(keys).arg(arguments);
        self.request(async |mut connection: Connection| invocation.invoke_async(&mut connection).await)
            .await
    }

    /// Returns whether a key exists.
    pub async fn exists(&self, key: &str) -> Result<bool, Away> {
        let command = cmd("EXISTS").arg(key).to_owned();
        self.request(async |mut connection: Connection| command.query_async(&mut connection).await)
            .await
    }

    async fn request<T>(&self, send: impl AsyncFnOnce(Connection) -> RedisResult<T>) -> Result<T, Away> {
        self.connect().await;
        let mut link = self.0.link.subscribe();
        let (generation, connection) = {
            let link = link.borrow_and_update();
            (link.generation, link.connection.clone().ok_or(Away)?)
        };
        let error = tokio::select! {
            response = wait(self.0.timeout, send(connection)) => match response {
                Ok(response) => return Ok(response),
                Err(error) => error,
            },
            // Another request has found that the connection does not work.
            _ = link.changed() => return Err(Away),
        };
        if self.0.close(generation) {
            log_away(&error);
        }
        Err(Away)
    }
}

impl Inner {
    /// Connects, and checks that scripts can write.
    async fn open(&self) -> Result<(), String> {
        let connection = async {
            let mut connection = self.servers.connect().await?;
            probe(&mut connection).await?;
            RedisResult::Ok(connection)
        };
        let connection = match timeout(CONNECT_TIMEOUT, connection).await {
            Ok(connection) => connection.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no connection within {CONNECT_TIMEOUT:?}")),
        };
        self.up.set(f64::from(u8::from(connection.is_ok())));
        let connection = connection.inspect_err(|_| {
            self.link.send_if_modified(|link| {
                link.has_failed = true;
                // Nobody needs to know at once.
                false
            });
        })?;
        self.link.send_modify(|link| {
            if std::mem::take(&mut link.has_failed) {
                link.returned_at = Some(Instant::now());
            }
            link.generation += 1;
            link.connection = Some(connection);
        });
        Ok(())
    }

    /// Closes a connection that does not work. Returns `false` if it was closed before.
    fn close(&self, generation: u64) -> bool {
        let is_closed = self.link.send_if_modified(|link| {
            let is_closed = link.generation == generation && link.connection.take().is_some();
            link.has_failed |= is_closed;
            is_closed
        });
        if is_closed {
            self.up.set(0.0);
        }
        is_closed
    }

    /// Probes the current connection, which may have failed while nobody used it.
    async fn check(&self) {
        let (generation, connection) = {
            let link = self.link.borrow();
            (link.generation, link.connection.clone())
        };
        let Some(mut connection) = connection else {
            return;
        };
        if let Err(error) = wait(CONNECT_TIMEOUT, probe(&mut connection)).await
            && self.close(generation)
        {
            log_away(&error);
        }
    }
}

/// Keeps the connection working until the last [`Redis`] is dropped.
async fn watch(inner: Weak<Inner>, mut link: watch::Receiver<Link>) {
    let mut pause = MIN_PAUSE;
    loop {
        let connected_at = Instant::now();
        loop {
            let closed = link.wait_for(|link| link.connection.is_none());
            let closed = timeout(PROBE_INTERVAL, closed).await;
            match closed.map(|closed| closed.is_ok()) {
                Ok(true) => break,
                Ok(false) => return,
                Err(_) => match inner.upgrade() {
                    Some(inner) => inner.check().await,
                    None => return,
                },
            }
        }
        // A server that was only restarted accepts connections at once.
        let mut next_pause = pause;
        if connected_at.elapsed() > STABLE_AFTER {
            (pause, next_pause) = (MIN_PAUSE, Duration::ZERO);
        }
        loop {
            sleep(next_pause).await;
            next_pause = pause;
            let Some(inner) = inner.upgrade() else {
                return;
            };
            if inner.open().await.is_ok() {
                break;
            }
        }
        pause = (2 * pause).min(MAX_PAUSE);
        tracing::info!("Redis responds again; all servers share their limits");
    }
}

async fn probe(connection: &mut Connection) -> RedisResult<()> {
    let mut command = cmd("EVAL");
    command.arg(PROBE_SCRIPT).arg(1).arg(PROBE_KEY);
    command.query_async(connection).await
}

/// Waits for a response, and returns an error as text.
///
/// The time is counted in parts. If this process itself was stalled, for example because it had no CPU time, only one
/// of them is over afterwards, and the response that has arrived in the meantime is read.
async fn wait<T>(limit: Duration, response: impl Future<Output = RedisResult<T>>) -> Result<T, String> {
    let mut response = pin!(response);
    for _ in 0..TIMEOUT_PARTS {
        if let Ok(response) = timeout(limit / TIMEOUT_PARTS, &mut response).await {
            return response.map_err(|error| error.to_string());
        }
    }
    Err(format!("no response within {limit:?}"))
}

fn log_away(error: &str) {
    tracing::warn!(
        error,
        "Redis does not respond; until it does, each server applies the limits by itself"
    );
}
