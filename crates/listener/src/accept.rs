//! Opens the listening socket and accepts connections on it.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// The number of connections that may wait to be accepted. The system may use a lower limit. A client whose
/// connection does not fit tries again only after a second.
const BACKLOG: u32 = 4096;

/// The pause before the next attempt after a temporary error, such as running out of file descriptors.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Listens on `address`.
///
/// With `share_port`, a second process may listen on the same port, so that a new server can take over before the
/// old one stops.
pub fn listen(address: SocketAddr, share_port: bool) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    if share_port {
        socket.set_reuseport(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Accepts the next connection, retrying after temporary errors.
///
/// Returns an error only if the listener cannot accept connections at all.
pub(crate) async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) => match AcceptError::classify(&error) {
                AcceptError::ClientGone => {}
                AcceptError::Temporary => {
                    tracing::warn!(%error, "failed to accept a connection; retrying");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                AcceptError::Fatal => return Err(error),
            },
        }
    }
}

/// The kinds of errors that `accept` distinguishes.
#[derive(Debug, PartialEq, Eq)]
enum AcceptError {
    /// The client left before its connection was accepted.
    ClientGone,
    Temporary,
    Fatal,
}

impl AcceptError {
    fn classify(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted => Self::ClientGone,
            io::ErrorKind::InvalidInput => Self::Fatal,
            _ => Self::Temporary,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_is_shared_only_if_both_listeners_allow_it() {
        let any_port = "127.0.0.1:0".parse().unwrap();
        let exclusive = listen(any_port, false).unwrap();
        assert_eq!(
            listen(exclusive.local_addr().unwrap(), true).unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
        let shared = listen(any_port, true).unwrap();
        assert!(listen(shared.local_addr().unwrap(), true).is_ok());
    }

    #[test]
    fn running_out_of_file_descriptors_is_a_temporary_error() {
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        const EINVAL: i32 = 22;
        for code in [ENFILE, EMFILE] {
            assert_eq!(
                AcceptError::classify(&io::Error::from_raw_os_error(code)),
                AcceptError::Temporary
            );
        }
        assert_eq!(
            AcceptError::classify(&io::ErrorKind::ConnectionAborted.into()),
            AcceptError::ClientGone
        );
        assert_eq!(
            AcceptError::classify(&io::Error::from_raw_os_error(EINVAL)),
            AcceptError::Fatal
        );
    }
}
