//! The accept loop, from the first connection to the end of the last one after a stop.

use crate::accept::accept;
use crate::connection;
use crate::connections::{ConnectionPermit, Connections};
use crate::executor::StreamExecutor;
use crate::refusal::Refuse;
use crate::service::{ConnectionService, ErasedService, erase};
use crate::settings::{MAX_HTTP2_STREAMS, ServeSettings};
use crate::state::{ConnectionState, Timeouts};
use crate::stop::StopSignal;
use crate::stream::{Lingering, MonitoredStream};
use crate::unsent::UnsentLimits;
use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use ipnet::IpNet;
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet, unconstrained};
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

/// The maximum size of a request head over HTTP/1, URL included.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The maximum size of the header fields of a request over HTTP/2.
const MAX_HTTP2_HEADER_BYTES: u32 = 16 * 1024;

/// The amount of a request body that a client may send before the service reads it, on a stream and on a connection.
/// hyper's default is 1 MiB, which thousands of connections could fill.
const HTTP2_WINDOW_BYTES: u32 = 64 * 1024;

/// The number of streams that a client may reset before they are handled. More than that end the connection
/// ("rapid reset", CVE-2023-44487).
const MAX_HTTP2_PENDING_RESETS: usize = 20;

/// The number of streams that may be reset because of a client's protocol errors before the connection ends.
const MAX_HTTP2_ERROR_RESETS: usize = 128;

/// The maximum amount of response data that is buffered for one HTTP/2 stream.
const MAX_HTTP2_SEND_BUFFER_BYTES: usize = 128 * 1024;

const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(20);
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(10);

/// The time for which an idle connection stays open after a stop.
pub(crate) const IDLE_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Serves `service` on `listener` until `stop` is ready, then finishes the requests in flight.
///
/// `stop` returns when the stop was requested, which may be earlier, if the server was drained first. Requests that are
/// still in flight `stop_timeout` after that are dropped.
///
/// `service` must always be ready, as an axum router is: its `poll_ready` is not called. `refuse` builds the
/// responses to requests that the service does not receive, and to requests that it does not answer in time.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    settings: &ServeSettings,
    refuse: Refuse,
    stop: impl Future<Output = Instant> + Send,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let server = Server::new(erase(service), settings, refuse);
    server.run(listener, pin!(stop)).await
}

fn log_panic(result: Result<(), JoinError>) {
    if let Err(error) = result
        && error.is_panic()
    {
        tracing::error!(%error, "a connection panicked");
    }
}

/// The state that all connections of one listener share.
struct Server {
    service: ErasedService,
    settings: ServeSettings,
    connections: Arc<Connections>,
    unsent: Arc<UnsentLimits>,
    lingering: Arc<Lingering>,
    trusted_proxies: Arc<[IpNet]>,
    no_proxies: Arc<[IpNet]>,
    refuse: Refuse,
    stop: Arc<StopSignal>,
}

impl Server {
    fn new(service: ErasedService, settings: &ServeSettings, refuse: Refuse) -> Self {
        Self {
            service,
            settings: settings.clone(),
            connections: Connections::new(settings),
            unsent: UnsentLimits::new(settings),
            lingering: Arc::default(),
            trusted_proxies: settings.trusted_proxies.clone().into(),
            no_proxies: Arc::new([]),
            refuse,
            stop: Arc::default(),
        }
    }

    /// Accepts connections until `stop` is ready, then waits for their end.
    fn run<'a>(
        self,
        listener: TcpListener,
        mut stop: Pin<&'a mut (dyn Future<Output = Instant> + Send + 'a)>,
    ) -> Pin<Box<dyn Future<Output = io::Result<()>> + Send + 'a>> {
        Box::pin(async move {
            let mut tasks = JoinSet::new();
            let requested_at = loop {
                tokio::select! {
                    biased;
                    requested_at = &mut stop => break requested_at,
                    Some(result) = tasks.join_next() => log_panic(result),
                    accepted = accept(&listener) => self.spawn_connection(accepted?, &mut tasks),
                }
            };
            // Closing the listener would reset the connections that the system has established and that are not accepted yet.
            tokio::task::yield_now().await;
            let mut waiting = poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)));
            while let Poll::Ready(Ok(accepted)) = unconstrained(&mut waiting).await {
                self.spawn_connection(accepted, &mut tasks);
            }
            drop(listener);
            self.stop.set();
            let all_ended = async {
                while let Some(result) = tasks.join_next().await {
                    log_panic(result);
                }
            };
            if timeout_at(requested_at + self.settings.stop_timeout, all_ended)
                .await
                .is_err()
            {
                tracing::warn!(
                    connections = tasks.len(),
                    "dropped the connections that did not finish in time"
                );
            }
            Ok(())
        })
    }

    /// Spawns a task that serves an accepted connection, or closes the connection if a limit is reached.
    fn spawn_connection(&self, (socket, peer): (TcpStream, SocketAddr), tasks: &mut JoinSet<()>) {
        if let Some(permit) = self.connections.admit(peer.ip()) {
            tasks.spawn(self.serve_connection(socket, peer, permit));
        } else {
            tracing::debug!(peer = %peer.ip(), "closed a connection over the limit");
        }
    }

    fn serve_connection(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        permit: ConnectionPermit,
    ) -> impl Future<Output = ()> + use<> {
        let refuse = self.refuse;
        let peer = peer.ip().to_canonical();
        let is_proxy = self.trusted_proxies.iter().any(|network| network.contains(&peer));
        let unsent = self.unsent.open(peer, is_proxy);
        let state = Arc::new(ConnectionState::new(
            Timeouts::new(&self.settings),
            Arc::clone(unsent.counter()),
            Arc::clone(&self.stop),
        ));
        let lingering = Arc::clone(&self.lingering);
        let trusted_proxies = if is_proxy {
            &self.trusted_proxies
        } else {
            &self.no_proxies
        };
        let service = ConnectionService {
            service: Arc::clone(&self.service),
            peer,
            trusted_proxies: Arc::clone(trusted_proxies),
            state: Arc::clone(&state),
            response_timeout: self.settings.response_timeout(),
            refuse,
        };
        let protocol = protocol(StreamExecutor {
            stall_timeout: self.settings.response_timeout().max(self.settings.write_timeout),
            state: Arc::clone(&state),
        });
        let idle_grace_period = IDLE_GRACE_PERIOD.min(self.settings.stop_timeout / 4);
        async move {
            let (_permit, _unsent) = (permit, unsent);
            // Nagle's algorithm would hold back the last part of a response.
            let _ = socket.set_nodelay(true);
            let stream = TokioIo::new(MonitoredStream::new(
                socket,
                Arc::clone(&state),
                refuse,
                lingering,
            ));
            let connection = protocol.serve_connection(stream, service);
            connection::drive(connection, &state, idle_grace_period).await;
        }
    }
}

/// Configures HTTP/1.1 and HTTP/2 with prior knowledge.
fn protocol(executor: StreamExecutor) -> Builder<StreamExecutor> {
    let mut protocol = Builder::new(executor);
    // `ConnectionState` has a deadline for the head from the accept on. hyper's own timeout would create and drop a
    // timer for every request.
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_HTTP2_STREAMS)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .max_header_list_size(MAX_HTTP2_HEADER_BYTES)
        .max_pending_accept_reset_streams(MAX_HTTP2_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_HTTP2_ERROR_RESETS)
        .max_send_buf_size(MAX_HTTP2_SEND_BUFFER_BYTES)
        .keep_alive_interval(HTTP2_PING_INTERVAL)
        .keep_alive_timeout(HTTP2_PING_TIMEOUT);
    protocol
}
