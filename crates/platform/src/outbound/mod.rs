//! Connections to servers that a user named: only to public addresses, and within bounds of time and size.
//!
//! A name is resolved once, every address it has must be public, and the connection goes to one of these addresses. So a
//! name that resolves to another address a moment later has no effect. Redirects are not followed, and
//! proxies from the environment are not used.

pub mod addresses;
mod bounded_io;
pub mod post;
pub mod txt;

use addresses::AddressPolicy;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// How long a request may take, from the lookup of the name to the last byte.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// How many bytes of a response are read, headers included.
const MAX_RESPONSE_BYTES: u64 = 64 * 1024;

/// Trusts the certificate authorities that Mozilla trusts.
static TLS: LazyLock<Arc<ClientConfig>> = LazyLock::new(|| {
    let roots: RootCertStore = webpki_roots::TLS_SERVER_ROOTS.iter().cloned().collect();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
});

/// Returns the TLS settings for connections to other servers.
pub fn tls_config() -> ClientConfig {
    ClientConfig::clone(&TLS)
}

/// What to request.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a> {
    pub is_https: bool,
    /// A host name.
    pub host: &'a str,
    pub port: u16,
    /// Starts with a slash.
    pub path: &'a str,
}

/// Why a request failed.
#[derive(Debug, Error)]
pub enum FetchError {
    #[error("the host name has no address")]
    NoAddress,
    #[error("the host name resolves to an address that is not public")]
    NotPublic,
    #[error("the server could not be reached")]
    Unreachable,
    #[error("the server did not answer within {} seconds", REQUEST_TIMEOUT.as_secs())]
    Timeout,
    #[error("the server did not send a valid HTTP response")]
    NotHttp,
    #[error("the server answered with status {0} instead of 200")]
    Status(u16),
}

/// Requests a file and returns its content. Only the status 200 is a success.
pub async fn fetch(location: Location<'_>, policy: AddressPolicy) -> Result<Vec<u8>, FetchError> {
    timeout(REQUEST_TIMEOUT, request(location, policy))
        .await
        .unwrap_or(Err(FetchError::Timeout))
}

async fn request(location: Location<'_>, policy: AddressPolicy) -> Result<Vec<u8>, FetchError> {
    let found = lookup_host((location.host, location.port)).await;
    let addresses: Vec<_> = found.map_err(|_| FetchError::NoAddress)?.collect();
    if addresses.is_empty() {
        return Err(FetchError::NoAddress);
    }
    if !addresses.iter().all(|address| policy.admits(address.ip())) {
        return Err(FetchError::NotPublic);
    }
    let stream = TcpStream::connect(&*addresses).await;
    let stream = stream.map_err(|_| FetchError::Unreachable)?;
    if location.is_https {
        let name = ServerName::try_from(location.host.to_owned()).map_err(|_| FetchError::NoAddress)?;
        let connector = TlsConnector::from(Arc::clone(&TLS));
        let stream = connector.connect(name, stream).await;
        exchange(stream.map_err(|_| FetchError::Unreachable)?, location).await
    } else {
        exchange(stream, location).await
    }
}

/// Sends the request and reads the response until the server closes the connection or has sent enough. HTTP/1.0, so that
/// the body is not sent in chunks.
async fn exchange<S>(mut stream: S, location: Location<'_>) -> Result<Vec<u8>, FetchError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let default_port = if location.is_https { 443 } else { 80 };
    let host = match location.port {
        port if port == default_port => location.host.to_owned(),
        port => format!("{}:{port}", location.host),
    };
    let request = format!(
        "GET {} HTTP/1.0\r\nHost: {host}\r\nUser-Agent: causeway\r\nAccept: text/plain\r\nConnection: close\r\n\r\n",
        location.path
    );
    let sent = stream.write_all(request.as_bytes()).await;
    sent.map_err(|_| FetchError::Unreachable)?;
    let mut response = Vec::new();
    // Many servers close TLS connections without a close notification, which is an error after all bytes are
    // read.
    let _ = stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut response).await;
    parse(&response)
}

/// Returns the body of a response with the status 200.
fn parse(response: &[u8]) -> Result<Vec<u8>, FetchError> {
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    let (head, body) = response.split_at(end.ok_or(FetchError::NotHttp)? + 4);
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let status = std::str::from_utf8(line)
        .ok()
        .and_then(|line| line.strip_prefix("HTTP/1."))
        .and_then(|rest| rest.get(2..5))
        .and_then(|status| status.parse().ok());
    match status {
        Some(200) => Ok(body.to_vec()),
        Some(status) => Err(FetchError::Status(status)),
        None => Err(FetchError::NotHttp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    const PRIVATE: AddressPolicy = AddressPolicy { allows_private: true };
    const PUBLIC: AddressPolicy = AddressPolicy {
        allows_private: false,
    };

    /// A server that sends the same bytes to everybody, and counts who connected.
    async fn serve(response: Vec<u8>) -> (u16, Arc<std::sync::atomic::AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&response).await;
            }
        });
        (port, connections)
    }

    fn location(port: u16, is_https: bool) -> Location<'static> {
        Location {
            is_https,
            host: "127.0.0.1",
            port,
            path: "/.well-known/causeway.txt",
        }
    }

    #[tokio::test]
    async fn a_file_is_read_and_redirects_are_not_followed() {
        let (port, _) = serve(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\ntoken\n".to_vec()).await;
        assert_eq!(fetch(location(port, false), PRIVATE).await.unwrap(), b"token\n");
        let redirect = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n";
        let (port, _) = serve(redirect.to_vec()).await;
        let error = fetch(location(port, false), PRIVATE).await.unwrap_err();
        assert!(matches!(error, FetchError::Status(302)), "{error}");
        for nonsense in [
            "",
            "hello",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 2x0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n",
        ] {
            let (port, _) = serve(nonsense.into()).await;
            let error = fetch(location(port, false), PRIVATE).await.unwrap_err();
            assert!(matches!(error, FetchError::NotHttp), "{nonsense:?}: {error}");
        }
    }

    #[tokio::test]
    async fn a_private_address_is_never_connected_to() {
        let (port, connections) = serve(b"HTTP/1.1 200 OK\r\n\r\nsecret".to_vec()).await;
        for host in ["127.0.0.1", "localhost", "::1", "0.0.0.0", "::ffff:127.0.0.1"] {
            let location = Location {
                host,
                ..location(port, false)
            };
            let error = fetch(location, PUBLIC).await.unwrap_err();
            assert!(matches!(error, FetchError::NotPublic), "{host}: {error}");
        }
        assert_eq!(connections.load(std::sync::atomic::Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn a_response_is_cut_and_a_certificate_is_required() {
        let mut endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        endless.resize(1_000_000, b'x');
        let (port, _) = serve(endless).await;
        let body = fetch(location(port, false), PRIVATE).await.unwrap();
        assert!(body.len() < 65_536, "{}", body.len());
        let (port, _) = serve(b"HTTP/1.1 200 OK\r\n\r\ntoken".to_vec()).await;
        let error = fetch(location(port, true), PRIVATE).await.unwrap_err();
        assert!(matches!(error, FetchError::Unreachable), "{error}");
    }
}
