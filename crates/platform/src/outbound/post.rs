//! POST requests to servers that a user named, over connections that are kept for the next request.
//!
//! Every connection is made to an address that was checked: the name is resolved once for it, and refused if any of its
//! addresses is not admitted. A connection that is used again leads to the same address. Redirects are not followed, proxies
//! from the environment are not used, and compressed responses are not accepted. What a server sends after a request is bounded
//! before it is parsed, since hyper skips any number of interim responses.

use super::addresses::AddressPolicy;
use super::bounded_io::{BoundedIo, TooMuch};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::Name;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use reqwest::Method;
use reqwest::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT,
};
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use std::vec;
use thiserror::Error;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tower::Service;
use tower::util::MapResponse;

/// How long a request may take, from the lookup of the name to the last byte of the response.
pub const POST_TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a response is returned.
pub const MAX_HEAD_BYTES: usize = 1024;
/// A longer response is an error. Until then, reading it lets the connection be used again.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
/// The same with its head, interim responses and what separates the parts of a body.
const MAX_RECEIVED_BYTES: usize = 2 * MAX_RESPONSE_BYTES;
/// How long a connection is kept for the next request, and how many to one server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_IDLE_PER_HOST: usize = 8;

/// Resolves a host name to its addresses.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

type Connection = MaybeHttpsStream<TokioIo<TcpStream>>;
type BoundedConnection = TokioIo<BoundedIo<TokioIo<Connection>>>;
type Connector =
    MapResponse<HttpsConnector<HttpConnector<CheckedResolver>>, fn(Connection) -> BoundedConnection>;

/// Sends POST requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Poster {
    client: Client<Connector, Full<Bytes>>,
    resolver: CheckedResolver,
}

/// Resolves names for connections, and refuses those with an address that is not admitted.
#[derive(Clone)]
struct CheckedResolver {
    policy: AddressPolicy,
    lookup: Lookup,
}

impl fmt::Debug for CheckedResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The header `Retry-After`, if it is text.
    pub retry_after: Option<String>,
    /// The beginning of the body as text.
    pub head: String,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PostError {
    #[error("the host name has no address")]
    NoAddress,
    #[error("the host name resolves to an address that is not public")]
    NotPublic,
    #[error("the server could not be reached, or its certificate is not valid")]
    Unreachable,
    #[error("the server did not answer within {} seconds", POST_TIMEOUT.as_secs())]
    Timeout,
    #[error("the server closed the connection, or did not send a valid HTTP response")]
    NotHttp,
    #[error("the answer is longer than {} KiB", MAX_RESPONSE_BYTES / 1024)]
    TooLong,
    #[error("the answer is compressed, which was not asked for")]
    Compressed,
}

impl Poster {
    pub fn new(policy: AddressPolicy) -> Poster {
        Poster::with_lookup(policy, Arc::new(|host| Box::pin(look_up(host))))
    }

    /// Creates a poster that resolves names in another way.
    pub fn with_lookup(policy: AddressPolicy, lookup: Lookup) -> Poster {
        let resolver = CheckedResolver { policy, lookup };
        let mut connector = HttpConnector::new_with_resolver(resolver.clone());
        connector.enforce_http(false);
        connector.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(super::tls_config())
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let bound: fn(Connection) -> BoundedConnection =
            |connection| TokioIo::new(BoundedIo::new(TokioIo::new(connection), MAX_RECEIVED_BYTES));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
            .build(MapResponse::new(connector, bound));
        Poster { client, resolver }
    }

    /// Returns whether requests to this host would be sent now: it is an admitted address, or a name with admitted addresses.
    pub async fn check_host(&self, host: &str) -> Result<(), PostError> {
        match parse_address(host) {
            Some(address) => self.resolver.admit(&[address]),
            None => timeout(POST_TIMEOUT, self.resolver.resolve(host.to_owned()))
                .await
                .unwrap_or(Err(PostError::Timeout))
                .map(drop),
        }
    }

    /// Sends a JSON body and returns the answer, whatever its status.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<Answer, PostError> {
        let url = reqwest::Url::parse(url).map_err(|_| PostError::NoAddress)?;
        let host = url.host_str().ok_or(PostError::NoAddress)?;
        // Addresses are not resolved, so the resolver does not see them.
        if let Some(address) = parse_address(host) {
            self.resolver.admit(&[address])?;
        }
        let mut request = http::Request::builder()
            .method(Method::POST)
            .uri(url.as_str())
            .header(USER_AGENT, "Causeway")
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT_ENCODING, "identity");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::from(body)).map_err(|_| PostError::NotHttp)?;
        timeout(POST_TIMEOUT, self.exchange(request))
            .await
            .unwrap_or(Err(PostError::Timeout))
    }

    async fn exchange(&self, request: http::Request<Full<Bytes>>) -> Result<Answer, PostError> {
        let response = self.client.request(request).await;
        let mut response = response.map_err(|error| classify(&error, error.is_connect()))?;
        let header = |name: HeaderName| {
            let value = response.headers().get(name);
            value.and_then(|value: &HeaderValue| value.to_str().ok())
        };
        if header(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
            return Err(PostError::Compressed);
        }
        let retry_after = header(RETRY_AFTER).map(str::to_owned);
        let status = response.status().as_u16();
        let (mut head, mut length) = (Vec::new(), 0);
        while let Some(frame) = response.body_mut().frame().await {
            let frame = frame.map_err(|error| classify(&error, false))?;
            let Ok(part) = frame.into_data() else {
                continue;
            };
            length += part.len();
            if length > MAX_RESPONSE_BYTES {
                return Err(PostError::TooLong);
            }
            let rest = MAX_HEAD_BYTES - head.len();
            head.extend_from_slice(&part[..part.len().min(rest)]);
        }
        Ok(Answer {
            status,
            retry_after,
            head: to_text(&head),
        })
    }
}

/// Converts the beginning of a body to text without control characters.
fn to_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.chars().map(plain).collect()
}

/// Finds why a request failed. Errors of the resolver and of the connection are the cause of one of the client.
fn classify(error: &(dyn Error + 'static), is_connect: bool) -> PostError {
    let mut source = Some(error);
    while let Some(cause) = source {
        if let Some(known) = cause.downcast_ref::<PostError>() {
            return *known;
        }
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if inner.and_then(|inner| inner.downcast_ref::<TooMuch>()).is_some() {
            return PostError::TooLong;
        }
        source = cause.source();
    }
    if is_connect {
        PostError::Unreachable
    } else {
        PostError::NotHttp
    }
}

/// Parses the host of a URL as an address.
fn parse_address(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(host).parse().ok()
}

async fn look_up(host: String) -> io::Result<Vec<IpAddr>> {
    let found = lookup_host((host, 0)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

impl CheckedResolver {
    async fn resolve(&self, host: String) -> Result<Vec<IpAddr>, PostError> {
        let found = (self.lookup)(host).await.map_err(|_| PostError::NoAddress)?;
        if found.is_empty() {
            return Err(PostError::NoAddress);
        }
        self.admit(&found)?;
        Ok(found)
    }

    fn admit(&self, addresses: &[IpAddr]) -> Result<(), PostError> {
        let is_admitted = addresses.iter().all(|address| self.policy.admits(*address));
        is_admitted.then_some(()).ok_or(PostError::NotPublic)
    }
}

impl Service<Name> for CheckedResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = PostError;
    type Future = BoxFuture<'static, Result<vec::IntoIter<SocketAddr>, PostError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), PostError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let (resolver, host) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = resolver.resolve(host).await?;
            let addresses: Vec<_> = found.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
            Ok(addresses.into_iter())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    const PRIVATE: AddressPolicy = AddressPolicy { allows_private: true };
    const PUBLIC: AddressPolicy = AddressPolicy {
        allows_private: false,
    };

    fn poster(policy: AddressPolicy) -> Poster {
        crate::tls::install_provider();
        Poster::new(policy)
    }

    /// A server that sends the same bytes to everybody and then closes the connection, and counts who connected.
    async fn serve(response: Vec<u8>) -> (u16, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&response).await;
            }
        });
        (port, connections)
    }

    async fn post(port: u16) -> Result<Answer, PostError> {
        let url = format!("http://127.0.0.1:{port}/hook");
        poster(PRIVATE)
            .post(&url, &[("webhook-id", "evt_1".to_owned())], "{}".to_owned())
            .await
    }

    #[tokio::test]
    async fn the_answer_has_a_status_and_the_beginning_of_the_body_as_text() {
        let (port, _) =
            serve(b"HTTP/1.1 429 X\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\na\x01\xffb".to_vec()).await;
        assert_eq!(
            post(port).await,
            Ok(Answer {
                status: 429,
                retry_after: Some("7".to_owned()),
                head: "a \u{fffd}b".to_owned()
            })
        );
        let mut long = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n".to_vec();
        long.resize(long.len() + 60_000, b'x');
        let (port, _) = serve(long).await;
        assert_eq!(post(port).await.unwrap().head.len(), MAX_HEAD_BYTES);
    }

    #[tokio::test]
    async fn hostile_answers_are_errors_and_redirects_are_not_followed() {
        let (target, connections) = serve(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).await;
        let redirect =
            format!("HTTP/1.1 307 X\r\nLocation: http://127.0.0.1:{target}/\r\nContent-Length: 0\r\n\r\n");
        let (port, _) = serve(redirect.into_bytes()).await;
        assert_eq!(post(port).await.unwrap().status, 307);
        assert_eq!(connections.load(Ordering::SeqCst), 0);
        let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100_000);
        let mut endless = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n".to_vec();
        endless.resize(1 << 20, b'x');
        for (response, error) in [
            (endless, PostError::TooLong),
            (interim, PostError::TooLong),
            (
                b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n".to_vec(),
                PostError::Compressed,
            ),
            (b"hello\r\n\r\n".to_vec(), PostError::NotHttp),
            (b"".to_vec(), PostError::NotHttp),
            (
                b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx".to_vec(),
                PostError::NotHttp,
            ),
        ] {
            let (port, _) = serve(response).await;
            assert_eq!(post(port).await, Err(error));
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        assert_eq!(post(port).await, Err(PostError::Unreachable));
    }

    #[tokio::test]
    async fn a_name_that_changes_its_address_is_never_connected_to() {
        crate::tls::install_provider();
        let (port, connections) = serve(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()).await;
        let lookups = Arc::new(AtomicUsize::new(0));
        let flipping: Lookup = {
            let lookups = Arc::clone(&lookups);
            Arc::new(move |host| {
                let is_first = lookups.fetch_add(1, Ordering::SeqCst) == 0;
                let public: IpAddr = "93.184.216.34".parse().unwrap();
                let local: IpAddr = "127.0.0.1".parse().unwrap();
                Box::pin(async move {
                    Ok(match host.as_str() {
                        "flips.example" if is_first => vec![public],
                        "mixed.example" => vec![public, local],
                        _ => vec![local],
                    })
                })
            })
        };
        let poster = Poster::with_lookup(PUBLIC, flipping);
        assert_eq!(poster.check_host("flips.example").await, Ok(()));
        for host in [
            "flips.example",
            "mixed.example",
            "local.example",
            "127.0.0.1",
            "[::1]",
            "[::ffff:127.0.0.1]",
        ] {
            let url = format!("http://{host}:{port}/");
            assert_eq!(
                poster.post(&url, &[], String::new()).await,
                Err(PostError::NotPublic),
                "{host}"
            );
        }
        assert_eq!(connections.load(Ordering::SeqCst), 0);
    }
}
