//! The listener: our own accept loop, because a server that faces the open net must never wait for ever.
//!
//! Every connection has one timer that closes it when its head, its next request or its reader takes too long;
//! connections are capped in all and per client; a stop lets the requests in flight finish and then ends, stuck
//! clients or not. The path of a request takes no lock that connections share.

mod accept;
mod client;
mod connection;
mod connections;
mod deadline;
mod front;
mod refusal;
mod settings;
mod state;
mod stop;
mod stream;
mod streams;
#[cfg(test)]
mod tests;
mod timer;

pub use accept::listen;
pub use client::{ClientAddress, InvalidNetwork, client_network, parse_network};
pub use refusal::Refuse;
pub use settings::ServeSettings;

use accept::accept;
use connections::{Connections, Place};
use front::Front;
use hyper::body::{Body, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use ipnet::IpNet;
use state::{Patience, Vitals};
use std::convert::Infallible;
use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use stop::Stop;
use stream::Stream;
use streams::Streams;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet, unconstrained};
use tower_service::Service;

/// A head larger than this, address included, is refused.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// How long an idle connection is still listened to after a stop.
const PARTING: Duration = Duration::from_millis(300);

/// Serves `service` on `listener` until `stop` is ready and the requests then in flight are answered, or given up
/// after `stop_timeout`.
///
/// `service` has to be ready at any time, like a router of axum: its `poll_ready` is not called. `refuse` gives the
/// answers to requests that the service never sees, or does not answer in time.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    settings: &ServeSettings,
    refuse: Refuse,
    stop: impl Future<Output = ()>,
) -> io::Result<()>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + From<String> + Send + 'static,
{
    let server = Server::new(service, settings, refuse);
    let mut tasks = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            biased;
            () = &mut stop => break,
            Some(ended) = tasks.join_next() => note_end(ended),
            accepted = accept(&listener) => server.welcome(accepted?, &mut tasks),
        }
    }
    // Connections that the system has completed but that nobody has picked up yet would be reset.
    tokio::task::yield_now().await;
    let mut waiting = poll_fn(|cx| Poll::Ready(listener.poll_accept(cx)));
    while let Poll::Ready(Ok(accepted)) = unconstrained(&mut waiting).await {
        server.welcome(accepted, &mut tasks);
    }
    drop(listener);
    server.stop.begin();
    let all_ended = async {
        while let Some(ended) = tasks.join_next().await {
            note_end(ended);
        }
    };
    if tokio::time::timeout(settings.stop_timeout, all_ended)
        .await
        .is_err()
    {
        tracing::warn!(
            connections = tasks.len(),
            "stopped with clients that did not finish in time"
        );
    }
    Ok(())
}

fn note_end(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended in a panic");
    }
}

/// What all connections of one listener share.
struct Server<S> {
    service: S,
    settings: ServeSettings,
    protocol: Arc<Builder<Streams>>,
    connections: Arc<Connections>,
    trusted: Arc<[IpNet]>,
    nobody: Arc<[IpNet]>,
    refuse: Refuse,
    stop: Arc<Stop>,
}

impl<S, B> Server<S>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + From<String> + Send + 'static,
{
    fn new(service: S, settings: &ServeSettings, refuse: Refuse) -> Self {
        Self {
            service,
            settings: settings.clone(),
            protocol: Arc::new(protocol(settings)),
            connections: Connections::new(settings),
            trusted: settings.trusted_proxies.clone().into(),
            nobody: Arc::new([]),
            refuse,
            stop: Arc::default(),
        }
    }

    /// Serves an accepted connection in a task of its own, or closes it at once where there is no place for it.
    fn welcome(&self, (socket, peer): (TcpStream, SocketAddr), tasks: &mut JoinSet<()>) {
        if let Some(place) = self.connections.admit(peer.ip()) {
            tasks.spawn(self.connection(socket, peer, place));
        } else {
            tracing::debug!(peer = %peer.ip(), "closed a connection over the cap");
        }
    }

    fn connection(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        place: Place,
    ) -> impl Future<Output = ()> + use<S, B> {
        let vitals = Arc::new(Vitals::new(Patience::new(&self.settings), Arc::clone(&self.stop)));
        let refuse = self.refuse;
        let peer = peer.ip().to_canonical();
        let from_proxy = self.trusted.iter().any(|network| network.contains(&peer));
        let front = Front {
            service: self.service.clone(),
            peer,
            trusted: Arc::clone(if from_proxy { &self.trusted } else { &self.nobody }),
            vitals: Arc::clone(&vitals),
            answer_within: self.settings.answer_within(),
            refuse,
        };
        let protocol = Arc::clone(&self.protocol);
        let parting = PARTING.min(self.settings.stop_timeout / 4);
        async move {
            let _place = place;
            // An answer goes out whole and at once; without this the system may hold its last part back.
            let _ = socket.set_nodelay(true);
            let stream = TokioIo::new(Stream::new(socket, Arc::clone(&vitals), refuse));
            connection::attend(protocol.serve_connection(stream, front), &vitals, parting).await;
        }
    }
}

/// HTTP/1.1 and HTTP/2 with prior knowledge, within limits.
fn protocol(settings: &ServeSettings) -> Builder<Streams> {
    let mut protocol = Builder::new(Streams {
        patience: settings.answer_within().max(settings.write_timeout),
    });
    // The deadlines of `Vitals` cover the head from the first moment on; a second timer here would be made and
    // dropped for every request.
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size(MAX_HEAD_BYTES);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(128)
        .max_header_list_size(16 * 1024)
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(128)
        .max_send_buf_size(128 * 1024)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    protocol
}
