use super::*;
use http_body_util::Empty;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};

/// A client of HTTP/2 with prior knowledge; the handle drives its connection.
pub(super) async fn http2(address: SocketAddr) -> (SendRequest<Empty<Bytes>>, JoinHandle<()>) {
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), socket)
        .await
        .unwrap();
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    (sender, driver)
}

async fn get_http2(sender: &mut SendRequest<Empty<Bytes>>, path: &str) -> (StatusCode, Bytes) {
    let request = Request::get(format!("http://test{path}"))
        .body(Empty::new())
        .unwrap();
    let response = timeout(PATIENCE, sender.send_request(request))
        .await
        .unwrap()
        .unwrap();
    (
        response.status(),
        response.into_body().collect().await.unwrap().to_bytes(),
    )
}

#[tokio::test]
async fn http2_with_prior_knowledge_is_spoken() {
    let server = Running::start(calm()).await;
    let (mut sender, _driver) = http2(server.address).await;
    for _ in 0..3 {
        assert_eq!(
            get_http2(&mut sender, "/healthz").await,
            (StatusCode::OK, "fine".into())
        );
    }
    assert_eq!(
        get_http2(&mut sender, "/client").await,
        (StatusCode::OK, "127.0.0.1".into())
    );
}

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let server = Running::start(ServeSettings {
        idle_timeout: SHORT,
        ..calm()
    })
    .await;
    let (mut sender, driver) = http2(server.address).await;
    assert_eq!(get_http2(&mut sender, "/healthz").await.0, StatusCode::OK);
    timeout(PATIENCE, driver).await.expect("closed").unwrap();
}

#[tokio::test]
async fn a_panic_outside_the_layer_ends_its_connection_and_no_other() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(|request: Request<Incoming>| async move {
        assert!(request.uri().path() != "/panic", "on purpose");
        Ok(Response::new(TestBody::from("fine".to_owned())))
    });
    tokio::spawn(async move { serve(listener, service, &calm(), refuse, std::future::pending()).await });
    let mut bystander = TcpStream::connect(address).await.unwrap();
    assert!(ask(&mut bystander, HEALTHZ).await.ends_with("fine"));
    assert_eq!(
        exchange(address, b"GET /panic HTTP/1.1\r\nhost: test\r\n\r\n").await,
        ""
    );
    assert!(ask(&mut bystander, HEALTHZ).await.ends_with("fine"));
    assert!(
        ask(&mut TcpStream::connect(address).await.unwrap(), HEALTHZ)
            .await
            .ends_with("fine")
    );
}

#[tokio::test]
async fn heads_that_cannot_be_read_are_refused() {
    let server = Running::start(calm()).await;
    let long = "a".repeat(64 * 1024);
    let longer = "a".repeat(2 * 1024 * 1024);
    let fields = "a: b\r\n".repeat(101);
    for (request, statuses) in [
        (
            format!("GET /v0.2/nonprofit/{long} HTTP/1.1\r\nhost: test\r\n\r\n"),
            [414, 431],
        ),
        (
            format!("GET /v0.2/nonprofit/{longer} HTTP/1.1\r\nhost: test\r\n\r\n"),
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
        let refused = exchange(server.address, request.as_bytes()).await;
        let status = refused.get(9..12).and_then(|status| status.parse::<u16>().ok());
        assert!(
            status.is_some_and(|status| statuses.contains(&status)),
            "{refused}"
        );
        let (head, body) = refused.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: text/x-refusal\r\n"), "{head}");
        assert!(head.contains("connection: close\r\n"), "{head}");
        assert!(
            head.contains(&format!("content-length: {}\r\n", body.len())),
            "{head}"
        );
        assert_eq!(body, format!("refused with {}", &refused[9..12]));
    }
    assert!(ask(&mut server.connect().await, HEALTHZ).await.ends_with("fine"));
}

#[tokio::test]
async fn a_head_below_the_limit_reaches_the_service() {
    let server = Running::start(calm()).await;
    let long = "a".repeat(60 * 1024);
    let answer = ask(
        &mut server.connect().await,
        &format!("GET /{long} HTTP/1.1\r\nhost: test\r\n\r\n"),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}

#[tokio::test]
async fn an_answer_that_looks_like_a_refusal_passes_as_it_is() {
    let server = Running::start(calm()).await;
    let mut client = server.connect().await;
    for _ in 0..2 {
        let missing = ask(&mut client, "GET /nowhere HTTP/1.1\r\nhost: test\r\n\r\n").await;
        assert!(
            missing.starts_with("HTTP/1.1 404 ") && missing.contains("content-length: 0\r\n"),
            "{missing}"
        );
    }
}
