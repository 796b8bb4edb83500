//! Tests of the listener on real sockets.
//!
//! Only the timeout under test is short; the others are so long that they cannot end a connection. Where a short
//! timeout must not pass, the test does not depend on the speed of the machine.

mod connection_limits;
mod early_response;
mod protocol;
mod smuggling;
mod stop;
mod timeouts;
mod unsent;

use crate::client::ClientAddress;
use crate::server::serve;
use crate::settings::ServeSettings;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::client::conn::http2::SendRequest;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tower::service_fn;

/// The time after which a test fails because an expected event does not happen.
const TEST_TIMEOUT: Duration = Duration::from_mins(1);

/// The value of a timeout that is under test.
const SHORT_TIMEOUT: Duration = Duration::from_millis(250);

const HEALTHZ_REQUEST: &str = "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n";
const GATE_REQUEST: &str = "GET /gate HTTP/1.1\r\nhost: test\r\n\r\n";
const ENDLESS_REQUEST: &str = "GET /endless HTTP/1.1\r\nhost: test\r\n\r\n";

/// The size of the response to `/large`.
const LARGE_BODY_BYTES: usize = 256 * 1024;

/// Returns settings under which no timeout passes during a test.
fn long_timeouts() -> ServeSettings {
    ServeSettings {
        header_timeout: TEST_TIMEOUT * 3,
        idle_timeout: TEST_TIMEOUT * 3,
        request_timeout: TEST_TIMEOUT * 3,
        write_timeout: TEST_TIMEOUT * 3,
        stop_timeout: TEST_TIMEOUT * 3,
        ..ServeSettings::default()
    }
}

/// A running listener.
struct TestServer {
    address: SocketAddr,
    /// Stops the server as of this time.
    stop: oneshot::Sender<Instant>,
    task: JoinHandle<io::Result<()>>,
    /// Each permit lets one `/gate` request finish.
    gate: Arc<Semaphore>,
    events: mpsc::UnboundedReceiver<Event>,
}

/// An event that a handler reports to its test.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    GateEntered,
    EndlessBodyDropped,
}

impl TestServer {
    async fn start(settings: ServeSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<Instant>();
        let gate = Arc::new(Semaphore::new(0));
        let (event_sender, events) = mpsc::unbounded_channel();
        let handler = Handler {
            gate: Arc::clone(&gate),
            count: Arc::default(),
            events: event_sender,
        };
        let service = service_fn(move |request| handler.clone().handle(request));
        let stop_signal = async { stopped.await.unwrap_or_else(|_| Instant::now()) };
        let task =
            tokio::spawn(async move { serve(listener, service, &settings, refuse, stop_signal).await });
        Self {
            address,
            stop,
            task,
            gate,
            events,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Connects and sends `request` before the server can accept the connection, so that no timeout passes while
    /// the client is still sending: the calls block the thread that the server runs on.
    fn connect_and_send(&self, request: &str) -> TcpStream {
        let mut client = std::net::TcpStream::connect(self.address).unwrap();
        io::Write::write_all(&mut client, request.as_bytes()).unwrap();
        client.set_nonblocking(true).unwrap();
        TcpStream::from_std(client).unwrap()
    }

    async fn next_event(&mut self) -> Event {
        timeout(TEST_TIMEOUT, self.events.recv())
            .await
            .expect("an event within the timeout")
            .unwrap()
    }
}

/// Waits until the server ends by itself.
async fn join(task: JoinHandle<io::Result<()>>) {
    timeout(TEST_TIMEOUT, task)
        .await
        .expect("the server ends")
        .unwrap()
        .unwrap();
}

/// The service under test.
#[derive(Clone)]
struct Handler {
    gate: Arc<Semaphore>,
    /// The number of `/count` requests so far.
    count: Arc<AtomicUsize>,
    events: mpsc::UnboundedSender<Event>,
}

impl Handler {
    async fn handle(self, request: Request<Incoming>) -> Result<Response<TestBody>, Infallible> {
        let text = match request.uri().path() {
            "/healthz" => "healthy".to_owned(),
            "/count" => self.count.fetch_add(1, Ordering::Relaxed).to_string(),
            "/never" => std::future::pending().await,
            "/client" => request.extensions().get::<ClientAddress>().unwrap().0.to_string(),
            "/echo" => match request.into_body().collect().await {
                Ok(body) => String::from_utf8(body.to_bytes().to_vec()).unwrap(),
                Err(_) => return Ok(empty_response(StatusCode::BAD_REQUEST)),
            },
            "/gate" => {
                self.events.send(Event::GateEntered).unwrap();
                self.gate.acquire().await.unwrap().forget();
                "passed".to_owned()
            }
            "/large" => "~".repeat(LARGE_BODY_BYTES),
            "/too-large" => return Ok(empty_response(StatusCode::PAYLOAD_TOO_LARGE)),
            "/endless" => return Ok(Response::new(TestBody::endless(self.events))),
            _ => return Ok(empty_response(StatusCode::NOT_FOUND)),
        };
        Ok(Response::new(text.into()))
    }
}

fn empty_response(status: StatusCode) -> Response<TestBody> {
    let mut response = Response::new(String::new().into());
    *response.status_mut() = status;
    response
}

fn refuse(status: StatusCode) -> Response<String> {
    let mut response = Response::new(format!("refused with {}", status.as_u16()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/x-refusal"));
    response
}

/// A body with a text, or one that never ends.
struct TestBody {
    text: Full<Bytes>,
    endless: Option<ReportDrop>,
}

impl TestBody {
    fn endless(events: mpsc::UnboundedSender<Event>) -> Self {
        Self {
            text: Full::default(),
            endless: Some(ReportDrop(events)),
        }
    }
}

impl From<String> for TestBody {
    fn from(text: String) -> Self {
        Self {
            text: Full::from(text),
            endless: None,
        }
    }
}

impl Body for TestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        static CHUNK: [u8; 16 * 1024] = [b'~'; 16 * 1024];
        if self.endless.is_some() {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&CHUNK)))));
        }
        Pin::new(&mut self.text).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.endless.is_none() && self.text.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.endless.is_some() {
            SizeHint::default()
        } else {
            self.text.size_hint()
        }
    }
}

/// Reports when the endless body that owns it is dropped.
struct ReportDrop(mpsc::UnboundedSender<Event>);

impl Drop for ReportDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Event::EndlessBodyDropped);
    }
}

/// Sends `request` on a new connection and reads until the server closes it.
async fn send_and_read_to_close(address: SocketAddr, request: &[u8]) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before it has read everything.
    let _ = client.write_all(request).await;
    read_to_close(&mut client).await
}

/// Reads until the server closes the connection.
async fn read_to_close(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(TEST_TIMEOUT, client.read_to_end(&mut bytes))
        .await
        .expect("the server closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Sends `request` and reads its response. The connection stays open.
async fn send(client: &mut TcpStream, request: &str) -> String {
    client.write_all(request.as_bytes()).await.unwrap();
    read_response(client).await
}

/// Reads one response with a `content-length`.
async fn read_response(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        if let Some(response) = complete_response(&bytes) {
            return response;
        }
        let count = timeout(TEST_TIMEOUT, client.read_buf(&mut bytes))
            .await
            .expect("a response within the timeout")
            .unwrap();
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
    }
}

/// Returns the response if all of it has been received.
fn complete_response(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length = head.split_once("content-length: ")?.1.split("\r\n").next()?;
    let is_complete = body.len() >= length.parse::<usize>().ok()?;
    is_complete.then_some(text)
}

/// Connects over HTTP/2 with prior knowledge. The second value is the task that drives the connection.
async fn connect_http2(address: SocketAddr) -> (SendRequest<Empty<Bytes>>, JoinHandle<()>) {
    let socket = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (sender, connection) = hyper::client::conn::http2::handshake(TokioExecutor::new(), socket)
        .await
        .unwrap();
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    (sender, driver)
}

/// Returns a `GET` request to send over HTTP/2.
fn http2_request(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://test{path}"))
        .body(Empty::new())
        .unwrap()
}
