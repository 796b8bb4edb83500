//! The listener on real sockets. Only the timeout under test is short; nothing else can end a connection.

mod caps;
mod limits;
mod smuggling;
mod stop;
mod timeouts;

use super::{ServeSettings, serve};
use crate::http::client::ClientAddress;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::routing::{get, post};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

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
        let router = router(Arc::clone(&gate), tell);
        let server = tokio::spawn(async move {
            serve(listener, router, &settings, async {
                let _ = stopped.await;
            })
            .await
        });
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

fn router(gate: Arc<Semaphore>, tell: mpsc::UnboundedSender<&'static str>) -> Router {
    let tell_flood = tell.clone();
    Router::new()
        .route("/healthz", get(|| async { "fine" }))
        .route("/never", get(std::future::pending::<()>))
        .route(
            "/client",
            get(|client: ClientAddress| async move { client.0.to_string() }),
        )
        .route("/echo", post(|body: String| async move { body }))
        .route(
            "/gate",
            get(move || async move {
                tell.send("entered").unwrap();
                gate.acquire().await.unwrap().forget();
                "passed"
            }),
        )
        .route(
            "/flood",
            get(move || async move { Response::new(Body::new(Flood(tell_flood))) }),
        )
}

/// A body without end that tells when it is dropped.
struct Flood(mpsc::UnboundedSender<&'static str>);

impl http_body::Body for Flood {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        static WATER: [u8; 16 * 1024] = [b'~'; 16 * 1024];
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(&WATER)))))
    }
}

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
