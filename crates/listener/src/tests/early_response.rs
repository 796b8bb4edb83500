//! Responses that are sent before the client has sent all of its request.

use super::*;
use std::io::{Read, Write};

/// Sends `body_length` bytes after `head` before it reads anything, as a simple client does.
fn send_all_then_read(address: SocketAddr, head: &str, body_length: usize) -> io::Result<String> {
    let mut client = std::net::TcpStream::connect(address)?;
    client.set_read_timeout(Some(TEST_TIMEOUT))?;
    client.set_write_timeout(Some(TEST_TIMEOUT))?;
    client.write_all(head.as_bytes())?;
    let piece = vec![b'~'; 64 * 1024];
    let mut left = body_length;
    while left > 0 {
        let count = client.write(&piece[..left.min(piece.len())])?;
        left -= count;
    }
    let mut received = String::new();
    client.read_to_string(&mut received)?;
    Ok(received)
}

#[tokio::test]
async fn a_client_that_sends_20_mib_reads_the_early_response() {
    const BODY_LENGTH: usize = 20 << 20;
    let server = TestServer::start(long_timeouts()).await;
    let address = server.address;
    let lengths = [
        format!("content-length: {BODY_LENGTH}\r\n\r\n"),
        format!("transfer-encoding: chunked\r\n\r\n{BODY_LENGTH:x}\r\n"),
    ];
    for length in lengths {
        for _ in 0..5 {
            let head = format!("POST /too-large HTTP/1.1\r\nhost: test\r\n{length}");
            let received =
                tokio::task::spawn_blocking(move || send_all_then_read(address, &head, BODY_LENGTH))
                    .await
                    .unwrap()
                    .expect("the client can send everything and read the response");
            assert!(received.starts_with("HTTP/1.1 413 "), "{received}");
        }
    }
}

#[tokio::test]
async fn a_client_that_sends_without_end_is_cut_off() {
    let server = TestServer::start(long_timeouts()).await;
    let address = server.address;
    let head = format!(
        "POST /too-large HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n",
        u64::MAX / 2
    );
    let sent = tokio::task::spawn_blocking(move || send_all_then_read(address, &head, usize::MAX));
    let error = timeout(TEST_TIMEOUT, sent)
        .await
        .expect("a close")
        .unwrap()
        .unwrap_err();
    assert!(
        matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        ),
        "{error}"
    );
}

#[tokio::test]
async fn a_client_that_stops_sending_is_closed_in_time() {
    let server = TestServer::start(long_timeouts()).await;
    let mut client = server.connect().await;
    let request = "POST /too-large HTTP/1.1\r\nhost: test\r\ncontent-length: 1000\r\n\r\n~";
    client.write_all(request.as_bytes()).await.unwrap();
    let mut received = Vec::new();
    timeout(TEST_TIMEOUT, client.read_to_end(&mut received))
        .await
        .expect("the server sends its response and stops sending")
        .unwrap();
    assert!(received.starts_with(b"HTTP/1.1 413 "));
    // The server is still reading. It stops after a few seconds, and then a write fails.
    let write_until_error = async {
        while client.write_all(b"~").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(TEST_TIMEOUT, write_until_error).await.expect("a close");
}
