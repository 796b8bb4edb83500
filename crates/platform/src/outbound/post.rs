//! POST requests to servers that a user named, over connections that are kept for the next request.
//!
//! Every connection is made to an address that was checked: the name is resolved once for it, and refused if any of its
//! addresses is not admitted. A connection that is used again leads to the same address. Redirects are not followed, proxies
//! from the environment are not used, and compressed responses are not accepted.

use super::addresses::AddressPolicy;
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::redirect::Policy;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::lookup_host;
use tokio::time::timeout;

/// How long a request may take, from the lookup of the name to the last byte of the response.
pub const POST_TIMEOUT: Duration = Duration::from_secs(15);
/// How much of a response is returned.
pub const MAX_HEAD_BYTES: usize = 1024;
/// A longer response is an error. Until then, reading it lets the connection be used again.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
/// How long a connection is kept for the next request, and how many to one server.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_IDLE_PER_HOST: usize = 8;

/// Resolves a host name to its addresses.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Sends POST requests. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Poster {
    client: reqwest::Client,
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
    pub fn new(policy: AddressPolicy) -> reqwest::Result<Poster> {
        Poster::with_lookup(policy, Arc::new(|host| Box::pin(look_up(host))))
    }

    /// Creates a poster that resolves names in another way.
    pub fn with_lookup(policy: AddressPolicy, lookup: Lookup) -> reqwest::Result<Poster> {
        let resolver = CheckedResolver { policy, lookup };
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(super::tls_config())
            .dns_resolver(resolver.clone())
            .no_proxy()
            .redirect(Policy::none())
            .http1_only()
            .referer(false)
            .user_agent("Causeway")
            .timeout(POST_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(MAX_IDLE_PER_HOST)
            .build()?;
        Ok(Poster { client, resolver })
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
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            let value = value.parse().map_err(|_| PostError::NotHttp)?;
            sent.insert(HeaderName::from_static(name), value);
        }
        let request = self
            .client
            .post(url)
            .headers(sent)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        timeout(POST_TIMEOUT, exchange(request))
            .await
            .unwrap_or(Err(PostError::Timeout))
    }
}

async fn exchange(request: reqwest::RequestBuilder) -> Result<Answer, PostError> {
    let mut response = request.send().await.map_err(|error| classify(&error))?;
    let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    if header(CONTENT_ENCODING).is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) {
        return Err(PostError::Compressed);
    }
    let retry_after = header(RETRY_AFTER).map(str::to_owned);
    let status = response.status().as_u16();
    let (mut head, mut length) = (Vec::new(), 0);
    while let Some(part) = response.chunk().await.map_err(|error| classify(&error))? {
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

/// Converts the beginning of a body to text without control characters.
fn to_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.chars().map(plain).collect()
}

fn classify(error: &reqwest::Error) -> PostError {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(known) = cause.downcast_ref::<PostError>() {
            return *known;
        }
        source = cause.source();
    }
    if error.is_timeout() {
        PostError::Timeout
    } else if error.is_connect() {
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

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, host) = (self.clone(), name.as_str().to_owned());
        Box::pin(async move {
            let found = CheckedResolver::resolve(&resolver, host).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0)));
            Ok(addresses)
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
        Poster::new(policy).unwrap()
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
        let mut endless = b"HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\n".to_vec();
        endless.resize(1 << 20, b'x');
        for (response, error) in [
            (endless, PostError::TooLong),
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
        let poster = Poster::with_lookup(PUBLIC, flipping).unwrap();
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
