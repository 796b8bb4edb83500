//! The memory that clients hold by not reading their responses.

use super::*;
use h2::client::{ResponseFuture, SendRequest as SendHttp2};

const KIB: usize = 1024;

/// A client that grants a flow-control window of `window` bytes for each response and never more.
struct SlowReader {
    sender: SendHttp2<Bytes>,
    driver: JoinHandle<Result<(), h2::Error>>,
    responses: Vec<ResponseFuture>,
}

impl SlowReader {
    async fn connect(address: SocketAddr, window: u32) -> Self {
        let socket = TcpStream::connect(address).await.unwrap();
        let (sender, connection) = h2::client::Builder::new()
            .initial_window_size(window)
            .handshake(socket)
            .await
            .unwrap();
        Self {
            sender,
            driver: tokio::spawn(connection),
            responses: Vec::new(),
        }
    }

    /// Requests `path` without reading the response.
    async fn request(&mut self, path: &str) -> Result<(), h2::Error> {
        let mut sender = self.sender.clone().ready().await?;
        let request = Request::get(format!("http://test{path}")).body(()).unwrap();
        let (response, _) = sender.send_request(request, true)?;
        self.responses.push(response);
        Ok(())
    }

    /// Waits for the head of the last response. Its body stays on the server.
    async fn wait_for_head(&mut self) -> Result<StatusCode, h2::Error> {
        let response = self.responses.last_mut().expect("a request was sent");
        let response = timeout(TEST_TIMEOUT, response)
            .await
            .expect("a response or a close")?;
        Ok(response.status())
    }

    async fn wait_for_close(self) {
        let _ = timeout(TEST_TIMEOUT, self.driver)
            .await
            .expect("a close")
            .unwrap();
    }

    fn is_open(&self) -> bool {
        !self.driver.is_finished()
    }
}

/// Sends a request on a connection that is kept alive, and one over HTTP/2.
async fn assert_is_served(honest: &mut TcpStream, honest_http2: &mut SendRequest<Empty<Bytes>>) {
    let response = send(honest, "GET /large HTTP/1.1\r\nhost: test\r\n\r\n").await;
    assert!(response.len() > LARGE_BODY_BYTES);
    let response = honest_http2.send_request(http2_request("/large")).await.unwrap();
    assert_eq!(
        response.into_body().collect().await.unwrap().to_bytes().len(),
        LARGE_BODY_BYTES
    );
}

#[tokio::test]
async fn slow_http2_readers_of_one_address_are_cut_and_an_honest_client_is_not() {
    for window in [0, 1, 65_535] {
        let server = TestServer::start(ServeSettings {
            max_unsent_bytes: 8 * LARGE_BODY_BYTES,
            ..long_timeouts()
        })
        .await;
        let mut honest = server.connect().await;
        let (mut honest_http2, _driver) = connect_http2(server.address).await;
        let mut readers = Vec::new();
        for _ in 0..20 {
            let mut reader = SlowReader::connect(server.address, window).await;
            for _ in 0..2 {
                if reader.request("/large").await.is_err() || reader.wait_for_head().await.is_err() {
                    break;
                }
            }
            readers.push(reader);
            assert_is_served(&mut honest, &mut honest_http2).await;
        }
        let is_bounded = async {
            while readers.iter().filter(|reader| reader.is_open()).count() > 4 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(TEST_TIMEOUT, is_bounded)
            .await
            .expect("connections over the limit are cut");
        assert_is_served(&mut honest, &mut honest_http2).await;
    }
}

#[tokio::test]
async fn slow_http1_readers_are_cut_when_the_total_is_exceeded() {
    let server = TestServer::start(ServeSettings {
        max_unsent_bytes: 128 * KIB,
        ..long_timeouts()
    })
    .await;
    let mut honest = server.connect().await;
    // The socket takes some megabytes. What it does not take is one chunk of the endless body for each connection.
    let mut readers = Vec::new();
    for _ in 0..8 {
        let mut reader = server.connect().await;
        reader.write_all(ENDLESS_REQUEST.as_bytes()).await.unwrap();
        readers.push(reader);
    }
    let mut server = server;
    assert_eq!(server.next_event().await, Event::EndlessBodyDropped);
    assert!(send(&mut honest, HEALTHZ_REQUEST).await.ends_with("healthy"));
}

#[tokio::test]
async fn streams_are_limited_across_the_connections_of_one_address() {
    let mut server = TestServer::start(ServeSettings {
        max_connections_per_address: 400,
        ..long_timeouts()
    })
    .await;
    let mut modest = SlowReader::connect(server.address, 65_535).await;
    modest.request("/gate").await.unwrap();
    assert_eq!(server.next_event().await, Event::GateEntered);
    let mut greedy = Vec::new();
    for _ in 0..3 {
        let mut reader = SlowReader::connect(server.address, 65_535).await;
        for _ in 0..45 {
            let _ = reader.request("/gate").await;
        }
        greedy.push(reader);
    }
    let any_closed = async {
        while greedy.iter().all(SlowReader::is_open) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(TEST_TIMEOUT, any_closed)
        .await
        .expect("a connection with many streams is cut");
    server.gate.add_permits(200);
    assert_eq!(modest.wait_for_head().await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn an_http2_client_that_takes_nothing_of_a_finished_response_is_closed() {
    let server = TestServer::start(ServeSettings {
        write_timeout: SHORT_TIMEOUT,
        ..long_timeouts()
    })
    .await;
    // One byte of window is enough for the service to hand over the whole body.
    let mut reader = SlowReader::connect(server.address, 1).await;
    reader.request("/large").await.unwrap();
    assert_eq!(reader.wait_for_head().await.unwrap(), StatusCode::OK);
    reader.wait_for_close().await;
}

#[tokio::test]
async fn one_http2_connection_may_open_100_streams() {
    let server = TestServer::start(long_timeouts()).await;
    let mut reader = SlowReader::connect(server.address, 65_535).await;
    reader.request("/healthz").await.unwrap();
    assert_eq!(reader.wait_for_head().await.unwrap(), StatusCode::OK);
    assert_eq!(reader.sender.current_max_send_streams(), 100);
}

#[tokio::test]
async fn streams_over_the_total_are_refused_and_each_is_answered() {
    const STREAMS: usize = 25;
    let server = TestServer::start(ServeSettings {
        max_unsent_bytes: 64 * 16 * KIB,
        ..long_timeouts()
    })
    .await;
    let mut readers = Vec::new();
    for _ in 0..8 {
        readers.push(SlowReader::connect(server.address, 65_535).await);
    }
    for reader in &mut readers {
        for _ in 0..STREAMS {
            let _ = reader.request("/healthz").await;
        }
    }
    let (mut served, mut refused) = (0, 0);
    for reader in &mut readers {
        for response in reader.responses.drain(..) {
            match timeout(TEST_TIMEOUT, response)
                .await
                .expect("a response or a close")
            {
                Ok(response) if response.status() == StatusCode::OK => served += 1,
                Ok(response) => {
                    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                    refused += 1;
                }
                Err(_) => {}
            }
        }
    }
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
    let mut honest = server.connect().await;
    assert!(send(&mut honest, HEALTHZ_REQUEST).await.ends_with("healthy"));
}
