use super::*;

/// Whether the connection is closed without a word although it asked.
async fn is_turned_away(client: &mut TcpStream) -> bool {
    let _ = client.write_all(HEALTHZ.as_bytes()).await;
    let mut byte = [0];
    !matches!(
        timeout(PATIENCE, client.read(&mut byte))
            .await
            .expect("an answer or an end"),
        Ok(1)
    )
}

#[tokio::test]
async fn a_client_over_its_share_is_closed_at_once_and_comes_back_later() {
    let server = Running::start(ServeSettings {
        max_connections_per_address: 2,
        ..calm()
    })
    .await;
    let mut one = server.connect().await;
    let mut other = server.connect().await;
    assert!(ask(&mut one, HEALTHZ).await.ends_with("fine"));
    assert!(ask(&mut other, HEALTHZ).await.ends_with("fine"));
    assert!(is_turned_away(&mut server.connect().await).await);
    drop(one);
    let back = async { while is_turned_away(&mut server.connect().await).await {} };
    timeout(PATIENCE, back).await.expect("the place is free again");
    assert!(ask(&mut other, HEALTHZ).await.ends_with("fine"));
}

#[tokio::test]
async fn a_trusted_proxy_has_no_share_of_its_own_but_all_have_one_together() {
    let settings = ServeSettings {
        max_connections: 5,
        max_connections_per_address: 1,
        trusted_proxies: vec![parse_network("127.0.0.0/8").unwrap()],
        ..calm()
    };
    let server = Running::start(settings).await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        let mut client = server.connect().await;
        assert!(ask(&mut client, HEALTHZ).await.ends_with("fine"));
        clients.push(client);
    }
    assert!(is_turned_away(&mut server.connect().await).await);
}

#[tokio::test]
async fn a_spoofed_client_address_is_believed_from_a_trusted_proxy_only() {
    let request = "GET /client HTTP/1.1\r\nhost: test\r\nx-forwarded-for: 1.1.1.1, 203.0.113.9\r\n\r\n";
    let open = Running::start(calm()).await;
    assert!(
        ask(&mut open.connect().await, request)
            .await
            .ends_with("\r\n\r\n127.0.0.1")
    );
    let trusted_proxies = vec![parse_network("127.0.0.1").unwrap()];
    let behind_proxy = Running::start(ServeSettings {
        trusted_proxies,
        ..calm()
    })
    .await;
    assert!(
        ask(&mut behind_proxy.connect().await, request)
            .await
            .ends_with("\r\n\r\n203.0.113.9")
    );
}
