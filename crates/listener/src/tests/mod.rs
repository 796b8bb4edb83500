//! The listener on real sockets. Only the timeout under test is short; nothing else can end a connection.

mod caps;
mod limits;
mod smuggling;
mod stop;
mod timeouts;

use super::{ClientAddress, ServeSettings, parse_network, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tower::service_fn;

/// What a test may wait for a thing that must happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// The timeout under test.
const SHORT: Duration = Duration::from_millis(250);

const HEALTHZ: &str = "GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n";

fn calm() -> ServeSettings {
    ServeSettings {
        header_timeout: PATIENCE * 3,
        idle_timeout: PATIENCE * 3,
        request_timeout: PATIENCE * 3,
        write_timeout: PATIENCE * 3,
        stop_timeout: PATIENCE * 3,
        ..ServeSettings::default()
    }
}

/// A server under test, and what its handlers tell.
struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<io::Result<()>>,
    /// Lets one `/gate` request through for each permit.
    gate: Arc<Semaphore>,
    /// A word for each `/gate` that began and each `/flood` that was given up.
    told: mpsc::UnboundedReceiver<&'static str>,
}

impl Running {
    async fn start(settings: ServeSettings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let gate = Arc::new(Semaphore::new(0));
        let (tell, told) = mpsc::unbounded_channel();
        let routes = Routes {
            gate: Arc::clone(&gate),
            tell,
        };
        let service = service_fn(move |request| routes.clone().answer(request));
        let stop_signal = async {
            let _ = stopped.await;
        };
        let server =
            tokio::spawn(async move { serve(listener, service, &settings, refuse, stop_signal).await });
        Self {
            address,
            stop,
            server,
            gate,
            told,
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    async fn next_word(&mut self) -> &'static str {
        timeout(PATIENCE, self.told.recv())
            .await
            .expect("a word in time")
            .unwrap()
    }
}

/// The handlers under test.
#[derive(Clone)]
struct Routes {
    gate: Arc<Semaphore>,
    tell: mpsc::UnboundedSender<&'static str>,
}

impl Routes {
    async fn answer(self, request: Request<Incoming>) -> Result<Response<TestBody>, Infallible> {
        let text = match request.uri().path() {
            "/healthz" => "fine".to_owned(),
            "/never" => std::future::pending().await,
            "/client" => request.extensions().get::<ClientAddress>().unwrap().0.to_string(),
            "/echo" => match request.into_body().collect().await {
                Ok(body) => String::from_utf8(body.to_bytes().to_vec()).unwrap(),
                Err(_) => return Ok(empty(StatusCode::BAD_REQUEST)),
            },
            "/gate" => {
                self.tell.send("entered").unwrap();
                self.gate.acquire().await.unwrap().forget();
                "passed".to_owned()
            }
            "/flood" => {
                return Ok(Response::new(TestBody {
                    text: Full::default(),
                    flood: Some(Flood(self.tell)),
                }));
            }
            _ => return Ok(empty(StatusCode::NOT_FOUND)),
        };
        Ok(Response::new(text.into()))
    }
}

fn empty(status: StatusCode) -> Response<TestBody> {
    let mut response = Response::new(String::new().into());
    *response.status_mut() = status;
    response
}

/// What the listener says to requests that never reach the handlers.
fn refuse(status: StatusCode) -> Response<String> {
    let mut response = Response::new(format!("refused with {}", status.as_u16()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("text/x-refusal"));
    response
}

/// A text, or what goes on without end.
struct TestBody {
    text: Full<Bytes>,
    flood: Option<Flood>,
}

impl From<String> for TestBody {
    fn from(text: String) -> Self {
        Self {
            text: Full::from(text),
            flood: None,
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
        static WATER: [u8; 16 * 1024] = [b'~'; 16 * 1024];
        if self.flood.is_some() {
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&WATER)))));
        }
        Pin::new(&mut self.text).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.flood.is_none() && self.text.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match &self.flood {
            Some(_) => SizeHint::default(),
            None => self.text.size_hint(),
        }
    }
}

/// A part of a body without end; it tells when it is dropped.
struct Flood(mpsc::UnboundedSender<&'static str>);

impl Drop for Flood {
    fn drop(&mut self) {
        let _ = self.0.send("given up");
    }
}

/// Sends `request` and reads what comes until the server closes.
async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut client = TcpStream::connect(address).await.unwrap();
    let _ = client.write_all(request).await;
    rest(&mut client).await
}

/// What the server sends until it closes the connection.
async fn rest(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(PATIENCE, client.read_to_end(&mut bytes))
        .await
        .expect("the server closes the connection");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One answer on a connection that stays open.
async fn answer(client: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let whole = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head
            .split_once("content-length: ")?
            .1
            .split("\r\n")
            .next()?
            .parse::<usize>()
            .ok()?;
        (body.len() >= length).then_some(text)
    };
    loop {
        if let Some(text) = whole(&bytes) {
            return text;
        }
        let count = timeout(PATIENCE, client.read_buf(&mut bytes))
            .await
            .expect("an answer in time")
            .unwrap();
        assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
    }
}

async fn ask(client: &mut TcpStream, request: &str) -> String {
    client.write_all(request.as_bytes()).await.unwrap();
    answer(client).await
}
