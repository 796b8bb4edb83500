//! The door: a listening socket, and the next connection on it, also after a moment in which there can be none.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// How many connections may wait to be picked up; the system may hold it lower. One that finds no room is tried
/// again by its client a whole second later.
const BACKLOG: u32 = 4096;

/// Time to wait for file handles after the system had none left for a new connection.
const PAUSE_WITHOUT_HANDLES: Duration = Duration::from_millis(100);

/// Listens on `address`. With `share_port` a second process may listen there too, so that a new server can take
/// over before the old one stops.
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

/// The next connection. Running out of file handles is a state that passes; only a listener that cannot accept
/// at all is an error.
pub(super) async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Ok(accepted) => return Ok(accepted),
            Err(error) => match Setback::of(&error) {
                Setback::Connection => {}
                Setback::Passing => {
                    tracing::warn!(%error, "cannot accept connections for a moment");
                    tokio::time::sleep(PAUSE_WITHOUT_HANDLES).await;
                }
                Setback::Fatal => return Err(error),
            },
        }
    }
}

/// What a failed accept means.
#[derive(Debug, PartialEq, Eq)]
enum Setback {
    /// This one client left before it was picked up.
    Connection,
    Passing,
    Fatal,
}

impl Setback {
    fn of(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted => Self::Connection,
            io::ErrorKind::InvalidInput => Self::Fatal,
            _ => Self::Passing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_port_is_shared_only_where_both_say_so() {
        let anywhere = "127.0.0.1:0".parse().unwrap();
        let alone = listen(anywhere, false).unwrap();
        assert_eq!(
            listen(alone.local_addr().unwrap(), true).unwrap_err().kind(),
            io::ErrorKind::AddrInUse
        );
        let shared = listen(anywhere, true).unwrap();
        assert!(listen(shared.local_addr().unwrap(), true).is_ok());
    }

    #[test]
    fn an_accept_without_file_handles_is_tried_again_after_a_pause() {
        const ENFILE: i32 = 23;
        const EMFILE: i32 = 24;
        const EINVAL: i32 = 22;
        for code in [ENFILE, EMFILE] {
            assert_eq!(Setback::of(&io::Error::from_raw_os_error(code)), Setback::Passing);
        }
        assert_eq!(
            Setback::of(&io::ErrorKind::ConnectionAborted.into()),
            Setback::Connection
        );
        assert_eq!(Setback::of(&io::Error::from_raw_os_error(EINVAL)), Setback::Fatal);
    }
}
