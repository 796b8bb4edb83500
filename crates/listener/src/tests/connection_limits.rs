//! The limits on open connections, and the client address behind proxies.

use super::*;
use crate::network::parse_network;

/// Returns whether the server closes the connection without a response.
async fn is_closed(client: &mut TcpStream) -> bool {
    let _ = client.write_all(HEALTHZ_REQUEST.as_bytes()).await;
    let mut byte = [0];
    !matches!(
        timeout(TEST_TIMEOUT, client.read(&mut byte))
            .await
            .expect("a response or a close"),
        Ok(1)
    )
}

#[tokio::test]
async fn a_client_over_its_limit_is_closed_at_once_and_may_reconnect_later() {
    let server = TestServer::start(ServeSettings {
        max_connections_per_address: 2,
        ..long_timeouts()
    })
    .await;
    let mut first = server.connect().await;
    let mut second = server.connect().await;
    assert!(send(&mut first, HEALTHZ_REQUEST).await.ends_with("healthy"));
    assert!(send(&mut second, HEALTHZ_REQUEST).await.ends_with("healthy"));
    assert!(is_closed(&mut server.connect().await).await);
    drop(first);
    let reconnect = async { while is_closed(&mut server.connect().await).await {} };
    timeout(TEST_TIMEOUT, reconnect)
        .await
        .expect("the client can connect again");
    assert!(send(&mut second, HEALTHZ_REQUEST).await.ends_with("healthy"));
}

#[tokio::test]
async fn only_the_total_limit_applies_to_a_trusted_proxy() {
    let settings = ServeSettings {
        max_connections: 5,
        max_connections_per_address: 1,
        trusted_proxies: vec![parse_network("127.0.0.0/8").unwrap()],
        ..long_timeouts()
    };
    let server = TestServer::start(settings).await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        let mut client = server.connect().await;
        assert!(send(&mut client, HEALTHZ_REQUEST).await.ends_with("healthy"));
        clients.push(client);
    }
    assert!(is_closed(&mut server.connect().await).await);
}

#[tokio::test]
async fn a_forwarded_client_address_is_accepted_only_from_a_trusted_proxy() {
    let request = "GET /client HTTP/1.1\r\nhost: test\r\nx-forwarded-for: 1.1.1.1, 203.0.113.9\r\n\r\n";
    let direct = TestServer::start(long_timeouts()).await;
    assert!(
        send(&mut direct.connect().await, request)
            .await
            .ends_with("\r\n\r\n127.0.0.1")
    );
    let trusted_proxies = vec![parse_network("127.0.0.1").unwrap()];
    let behind_proxy = TestServer::start(ServeSettings {
        trusted_proxies,
        ..long_timeouts()
    })
    .await;
    assert!(
        send(&mut behind_proxy.connect().await, request)
            .await
            .ends_with("\r\n\r\n203.0.113.9")
    );
}
