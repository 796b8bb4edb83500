//! What the listener and the request log promise about unusual requests: hosts, line ends, early responses, request IDs,
//! and the header that keeps browsers on HTTPS.

use crate::wait::TIMEOUT;
use crate::world::World;
use causeway::app::App;
use causeway::config::Config;
use causeway::http::refusal::refusals;
use causeway::server::routes::router;
use listener::{listen, parse_network, serve};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::SocketAddr;
use tokio::task::{JoinHandle, spawn_blocking};

on_both_databases!(
    a_request_with_an_ambiguous_head_is_a_problem,
    a_client_that_sends_20_mib_reads_the_413,
    only_a_server_with_an_https_url_tells_browsers_to_use_https,
    only_the_request_id_of_a_trusted_proxy_is_kept,
);

/// The app of a story behind its own listener.
struct Served {
    app: App,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Served {
    async fn start(world: &World, change: impl FnOnce(&mut Config)) -> Served {
        let mut config = world.app.config.clone();
        change(&mut config);
        let app = App::build(config).await.unwrap();
        let listener = listen("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let address = listener.local_addr().unwrap();
        let served = app.clone();
        let task = tokio::spawn(async move {
            let (settings, refuse) = (&served.config.serve, refusals(&served.config.public_url));
            serve(
                listener,
                router(served.clone()),
                settings,
                refuse,
                std::future::pending(),
            )
            .await
            .unwrap();
        });
        Served { app, address, task }
    }

    /// Sends everything before it reads anything, and reads until the server closes the connection.
    async fn send(&self, request: Vec<u8>) -> Response {
        let address = self.address;
        let text = spawn_blocking(move || {
            let mut client = std::net::TcpStream::connect(address).unwrap();
            client.set_read_timeout(Some(TIMEOUT)).unwrap();
            client.set_write_timeout(Some(TIMEOUT)).unwrap();
            client
                .write_all(&request)
                .expect("the server reads all of the request");
            let mut response = String::new();
            client
                .read_to_string(&mut response)
                .expect("the server sends a response");
            response
        });
        let text = text.await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        Response {
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Sends a GET request with additional fields, each ending in CRLF.
    async fn get(&self, path: &str, fields: &str) -> Response {
        let head = format!("GET {path} HTTP/1.1\r\nhost: causeway.test\r\nconnection: close\r\n{fields}\r\n");
        self.send(head.into_bytes()).await
    }

    async fn stop(self) {
        self.task.abort();
        self.app.db.close().await;
    }
}

struct Response {
    head: String,
    body: String,
}

impl Response {
    fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

async fn a_request_with_an_ambiguous_head_is_a_problem(world: &World) {
    let served = Served::start(world, |_| ()).await;
    for head in [
        "GET /v0.2/causes HTTP/1.1\r\nconnection: close\r\n\r\n",
        "GET /v0.2/causes HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /v0.2/causes HTTP/1.1\nhost: a\r\n\r\n",
        "GET /v0.2/causes HTTP/1.1\r\nhost: a\r\naccept: */*\n\r\n",
        "GET / HTTP/1.1\n\n",
    ] {
        let response = served.send(head.into()).await;
        assert!(response.head.starts_with("http/1.1 400 "), "{}", response.head);
        assert_eq!(response.header("content-type"), Some("application/problem+json"));
        let problem: Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(problem["code"], "invalid_request", "{head:?}");
        assert_eq!(problem["requestId"].as_str(), response.header("x-request-id"));
    }
    let old = served.send("GET /healthz HTTP/1.0\r\n\r\n".into()).await;
    assert!(old.head.starts_with("http/1.0 200 "), "{}", old.head);
    served.stop().await;
}

async fn a_client_that_sends_20_mib_reads_the_413(world: &World) {
    let served = Served::start(world, |_| ()).await;
    let length = 20 << 20;
    for path in ["/v0.2/fundraiser", "/dashboard/sign-in"] {
        let mut request = format!(
            "POST {path} HTTP/1.1\r\nhost: causeway.test\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.resize(request.len() + length, b' ');
        let response = served.send(request).await;
        assert!(
            response.head.starts_with("http/1.1 413 "),
            "{path}: {}",
            response.head
        );
    }
    served.stop().await;
}

async fn only_a_server_with_an_https_url_tells_browsers_to_use_https(world: &World) {
    let paths = [
        "/healthz",
        "/readyz",
        "/readyz/write",
        "/",
        "/nowhere",
        "/v0.2/causes",
        "/assets/nothing",
    ];
    for (url, expected) in [
        ("https://give.example.org", Some("max-age=31536000")),
        ("http://127.0.0.1:8080", None),
    ] {
        let served = Served::start(world, |config| url.clone_into(&mut config.public_url)).await;
        for path in paths {
            let response = served.get(path, "").await;
            assert_eq!(
                response.header("strict-transport-security"),
                expected,
                "{url}{path}"
            );
        }
        let refused = served.get("/", "host: second\r\n").await;
        assert!(refused.head.starts_with("http/1.1 400 "), "{}", refused.head);
        assert_eq!(refused.header("strict-transport-security"), expected);
        served.stop().await;
    }
}

async fn only_the_request_id_of_a_trusted_proxy_is_kept(world: &World) {
    let longest = "a".repeat(128);
    for is_trusted in [false, true] {
        let served = Served::start(world, |config| {
            if is_trusted {
                config.serve.trusted_proxies = vec![parse_network("127.0.0.1").unwrap()];
            }
        })
        .await;
        for id in ["edge-7.a_b", &longest] {
            let response = served
                .get("/v0.2/nowhere", &format!("x-request-id: {id}\r\n"))
                .await;
            let problem: Value = serde_json::from_str(&response.body).unwrap();
            assert_eq!(problem["requestId"].as_str(), response.header("x-request-id"));
            assert_eq!(response.header("x-request-id") == Some(id), is_trusted);
        }
        let too_long = format!("{longest}a");
        for id in ["", "a b", "a\"b", "<b>", &too_long] {
            let response = served
                .get("/v0.2/nowhere", &format!("x-request-id: {id}\r\n"))
                .await;
            let own = response.header("x-request-id").unwrap();
            assert_eq!(own.len(), 16, "{id:?} became {own:?}");
        }
        served.stop().await;
    }
}
