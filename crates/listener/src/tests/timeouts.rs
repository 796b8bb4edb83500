use super::*;

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let server = Running::start(ServeSettings {
        header_timeout: SHORT,
        ..calm()
    })
    .await;
    assert_eq!(rest(&mut server.connect().await).await, "");
}

#[tokio::test]
async fn a_head_that_drips_is_closed_however_it_drips() {
    let server = Running::start(ServeSettings {
        header_timeout: SHORT,
        ..calm()
    })
    .await;
    for beginning in ["G", "PRI * HTTP/2.0\r\n", "GET /healthz HTTP/1.1\r\n"] {
        let (mut from, mut to) = server.connect().await.into_split();
        let dripping = async {
            to.write_all(beginning.as_bytes()).await?;
            for letter in b"a: b\r\n".iter().cycle() {
                to.write_all(&[*letter]).await?;
                tokio::time::sleep(SHORT / 20).await;
            }
            io::Result::Ok(())
        };
        let mut received = Vec::new();
        let closing = from.read_to_end(&mut received);
        let closed = async {
            tokio::select! {
                _ = dripping => {}
                _ = closing => {}
            }
        };
        timeout(PATIENCE, closed)
            .await
            .expect("a dripping connection is closed");
    }
}

#[tokio::test]
async fn an_idle_connection_is_closed_after_its_answers() {
    let server = Running::start(ServeSettings {
        idle_timeout: SHORT,
        ..calm()
    })
    .await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        assert!(ask(&mut client, HEALTHZ).await.ends_with("fine"));
    }
    assert_eq!(rest(&mut client).await, "");
}

#[tokio::test]
async fn a_second_head_that_drips_is_closed_before_the_idle_time() {
    let server = Running::start(ServeSettings {
        header_timeout: SHORT,
        ..calm()
    })
    .await;
    let mut client = server.connect().await;
    assert!(ask(&mut client, HEALTHZ).await.ends_with("fine"));
    client.write_all(b"GET /healthz").await.unwrap();
    assert_eq!(rest(&mut client).await, "");
}

#[tokio::test]
async fn a_connection_in_use_outlives_its_timeouts() {
    let short = ServeSettings {
        header_timeout: SHORT,
        idle_timeout: SHORT,
        write_timeout: SHORT,
        ..calm()
    };
    let mut server = Running::start(short).await;
    let mut client = server.connect().await;
    client
        .write_all(b"GET /gate HTTP/1.1\r\nhost: test\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(server.next_word().await, "entered");
    tokio::time::sleep(SHORT * 2).await;
    server.gate.add_permits(1);
    assert!(answer(&mut client).await.ends_with("passed"));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_dropped() {
    let mut server = Running::start(ServeSettings {
        write_timeout: SHORT,
        ..calm()
    })
    .await;
    let mut client = server.connect().await;
    client
        .write_all(b"GET /flood HTTP/1.1\r\nhost: test\r\n\r\n")
        .await
        .unwrap();
    assert_eq!(server.next_word().await, "given up");
}

#[tokio::test]
async fn an_http2_client_that_grants_no_window_is_dropped() {
    let settings = ServeSettings {
        write_timeout: SHORT,
        request_timeout: SHORT,
        ..calm()
    };
    let mut server = Running::start(settings).await;
    let (mut sender, _connection) = limits::http2(server.address).await;
    let request = Request::get("http://test/flood")
        .body(http_body_util::Empty::new())
        .unwrap();
    let response = timeout(PATIENCE, sender.send_request(request))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(server.next_word().await, "given up");
}

#[tokio::test]
async fn a_handler_that_does_not_answer_is_given_up_with_a_503() {
    let server = Running::start(ServeSettings {
        request_timeout: SHORT,
        ..calm()
    })
    .await;
    let mut client = server.connect().await;
    let late = ask(&mut client, "GET /never HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(
        late.starts_with("HTTP/1.1 503 ") && late.ends_with("refused with 503"),
        "{late}"
    );
    assert!(ask(&mut client, HEALTHZ).await.ends_with("fine"));
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = Running::start(ServeSettings {
        request_timeout: SHORT,
        ..calm()
    })
    .await;
    let request = b"POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 10\r\n\r\nab";
    let late = exchange(server.address, request).await;
    assert!(late.starts_with("HTTP/1.1 503 "), "{late}");
}
