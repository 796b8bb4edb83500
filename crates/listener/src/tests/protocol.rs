//! HTTP/2, panics in the service, and request heads that hyper refuses.

use super::*;

async fn get_http2(sender: &mut SendRequest<Empty<Bytes>>, path: &str) -> (StatusCode, Bytes) {
    let response = timeout(TEST_TIMEOUT, sender.send_request(http2_request(path)))
        .await
        .unwrap()
        .unwrap();
    (
        response.status(),
        response.into_body().collect().await.unwrap().to_bytes(),
    )
}

#[tokio::test]
async fn http2_with_prior_knowledge_is_supported() {
    let server = TestServer::start(long_timeouts()).await;
    let (mut sender, _driver) = connect_http2(server.address).await;
    for _ in 0..3 {
        assert_eq!(
            get_http2(&mut sender, "/healthz").await,
            (StatusCode::OK, "healthy".into())
        );
    }
    assert_eq!(
        get_http2(&mut sender, "/client").await,
        (StatusCode::OK, "127.0.0.1".into())
    );
}

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let server = TestServer::start(ServeSettings {
        idle_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    let (mut sender, driver) = connect_http2(server.address).await;
    assert_eq!(get_http2(&mut sender, "/healthz").await.0, StatusCode::OK);
    timeout(TEST_TIMEOUT, driver).await.expect("a close").unwrap();
}

#[tokio::test]
async fn a_panic_in_the_service_closes_only_its_own_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(|request: Request<Incoming>| async move {
        assert!(request.uri().path() != "/panic", "panic for the test");
        Ok(Response::new(TestBody::from("healthy".to_owned())))
    });
    tokio::spawn(async move {
        serve(
            listener,
            service,
            &long_timeouts(),
            refuse,
            std::future::pending(),
        )
        .await
    });
    let mut other = TcpStream::connect(address).await.unwrap();
    assert!(send(&mut other, HEALTHZ_REQUEST).await.ends_with("healthy"));
    assert_eq!(
        send_and_read_to_close(address, b"GET /panic HTTP/1.1\r\nhost: test\r\n\r\n").await,
        ""
    );
    assert!(send(&mut other, HEALTHZ_REQUEST).await.ends_with("healthy"));
    let mut new = TcpStream::connect(address).await.unwrap();
    assert!(send(&mut new, HEALTHZ_REQUEST).await.ends_with("healthy"));
}

#[tokio::test]
async fn a_head_that_cannot_be_parsed_is_refused() {
    let server = TestServer::start(long_timeouts()).await;
    let long = "a".repeat(64 * 1024);
    let longer = "a".repeat(2 * 1024 * 1024);
    let fields = "a: b\r\n".repeat(101);
    for (request, statuses) in [
        (format!("GET /{long} HTTP/1.1\r\nhost: test\r\n\r\n"), [414, 431]),
        (
            format!("GET /{longer} HTTP/1.1\r\nhost: test\r\n\r\n"),
            [414, 431],
        ),
        (
            format!("GET /healthz HTTP/1.1\r\nhost: test\r\na: {long}\r\n\r\n"),
            [431, 431],
        ),
        (
            format!("GET /healthz HTTP/1.1\r\nhost: test\r\n{fields}\r\n"),
            [431, 431],
        ),
        (
            "GET /health z HTTP/1.1\r\nhost: test\r\n\r\n".to_owned(),
            [400, 400],
        ),
        ("\u{16}\u{3}\u{1}\r\n\r\n".to_owned(), [400, 400]),
    ] {
        let refusal = send_and_read_to_close(server.address, request.as_bytes()).await;
        let status = refusal.get(9..12).and_then(|status| status.parse::<u16>().ok());
        assert!(
            status.is_some_and(|status| statuses.contains(&status)),
            "{refusal}"
        );
        let (head, body) = refusal.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: text/x-refusal\r\n"), "{head}");
        assert!(head.contains("connection: close\r\n"), "{head}");
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{head}"
        );
        assert_eq!(body, format!("refused with {}", &refusal[9..12]));
    }
    assert!(
        send(&mut server.connect().await, HEALTHZ_REQUEST)
            .await
            .ends_with("healthy")
    );
}

#[tokio::test]
async fn a_head_below_the_size_limit_reaches_the_service() {
    let server = TestServer::start(long_timeouts()).await;
    let long = "a".repeat(60 * 1024);
    let response = send(
        &mut server.connect().await,
        &format!("GET /{long} HTTP/1.1\r\nhost: test\r\n\r\n"),
    )
    .await;
    assert!(response.starts_with("HTTP/1.1 404 "), "{response}");
}

#[tokio::test]
async fn an_empty_error_response_of_the_service_is_not_changed() {
    let server = TestServer::start(long_timeouts()).await;
    let mut client = server.connect().await;
    for _ in 0..2 {
        let response = send(&mut client, "GET /nowhere HTTP/1.1\r\nhost: test\r\n\r\n").await;
        assert!(
            response.starts_with("HTTP/1.1 404 ") && response.contains("content-length: 0\r\n"),
            "{response}"
        );
    }
}

#[tokio::test]
async fn a_client_that_pipelines_does_not_delay_others_by_more_than_a_request() {
    const COUNT_REQUEST: &str = "GET /count HTTP/1.1\r\nhost: test\r\n\r\n";
    let server = TestServer::start(long_timeouts()).await;
    let last = "GET /count HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    let mut pipelining = server.connect_and_send(&(COUNT_REQUEST.repeat(29) + last));
    let mut other = server.connect_and_send(COUNT_REQUEST);
    let response = read_response(&mut other).await;
    let served_before: usize = response.rsplit("\r\n").next().unwrap().parse().unwrap();
    assert!(served_before <= 3, "{served_before} requests were served before");
    let received = read_to_close(&mut pipelining).await;
    assert_eq!(received.matches("HTTP/1.1 200 ").count(), 30);
}
