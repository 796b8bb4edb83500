//! Webhooks: endpoints, deliveries and the log of events.

mod attribution;
mod delivery;
mod endpoints;
mod events;
mod safety;

use super::fundraisers::{Organizer, basic};
use crate::client::{Client, Response};
use crate::world::World;
use access::accounts::{self, Username};
use access::keys::{KeyText, Kind, store as keys};
use axum::http::Method;
use causeway::app::App;
use giving::webhooks::deliveries::sender::Sender;
use platform::webhook_signature::{WebhookHeaders, WebhookSecret};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A message as a receiver got it.
#[derive(Clone, Debug)]
pub struct Received {
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Received {
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn verify(&self, secret: &str) -> bool {
        let headers = WebhookHeaders {
            id: self.id(),
            timestamp: &self.headers["webhook-timestamp"],
            signature: &self.headers["webhook-signature"],
        };
        let now = headers.timestamp.parse().unwrap();
        let secret = WebhookSecret::parse(secret).unwrap();
        secret.verify(headers, self.body.as_bytes(), now).is_ok()
    }
}

/// What a receiver answers, for each path.
type Answers = Arc<Mutex<HashMap<String, String>>>;

/// Stands for an answer that is not given yet.
const HELD: &str = "held";

/// An HTTP server that records what it gets. Paths that begin with `/echo` answer with what they got.
pub struct Receiver {
    pub port: u16,
    received: Arc<Mutex<Vec<(String, Received)>>>,
    answers: Answers,
}

impl Receiver {
    pub async fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Receiver {
            port: listener.local_addr().unwrap().port(),
            received: Arc::default(),
            answers: Arc::default(),
        };
        let (received, answers) = (Arc::clone(&receiver.received), Arc::clone(&receiver.answers));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&received), Arc::clone(&answers)));
            }
        });
        receiver
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Answers no request to a path until its answer is set.
    pub fn hold(&self, path: &str) {
        self.answer(path, HELD);
    }

    /// Answers requests to a path with a status line and headers from now on.
    pub fn answer(&self, path: &str, head: &str) {
        self.answers
            .lock()
            .unwrap()
            .insert(path.to_owned(), head.to_owned());
    }

    /// Takes what arrived at a path.
    pub fn take(&self, path: &str) -> Vec<Received> {
        let mut received = self.received.lock().unwrap();
        let (taken, rest) = received.drain(..).partition(|(at, _)| at == path);
        *received = rest;
        let taken: Vec<(String, Received)> = taken;
        taken.into_iter().map(|(_, received)| received).collect()
    }
}

async fn serve(mut stream: TcpStream, received: Arc<Mutex<Vec<(String, Received)>>>, answers: Answers) {
    let mut bytes = Vec::new();
    loop {
        let mut part = [0; 4096];
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            match stream.read(&mut part).await {
                Ok(length @ 1..) => bytes.extend_from_slice(&part[..length]),
                _ => return,
            }
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines();
        let path = lines.next().unwrap().split(' ').nth(1).unwrap().to_owned();
        let headers: HashMap<String, String> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let length: usize = headers["content-length"].parse().unwrap();
        while bytes.len() < end + length {
            match stream.read(&mut part).await {
                Ok(length @ 1..) => bytes.extend_from_slice(&part[..length]),
                _ => return,
            }
        }
        let body = String::from_utf8(bytes[end..end + length].to_vec()).unwrap();
        let echo = if path.starts_with("/echo") {
            body.clone()
        } else {
            String::new()
        };
        bytes.drain(..end + length);
        received
            .lock()
            .unwrap()
            .push((path.clone(), Received { headers, body }));
        let answer = loop {
            let answer = answers.lock().unwrap().get(&path).cloned();
            match answer.as_deref() {
                Some(HELD) => tokio::time::sleep(Duration::from_millis(10)).await,
                _ => break answer.unwrap_or_else(|| "204 No Content".to_owned()),
            }
        };
        let answer = format!(
            "HTTP/1.1 {answer}\r\nContent-Length: {}\r\n\r\n{echo}",
            echo.len()
        );
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A partner with keys at a server that allows endpoints on this machine, and its receiver.
pub struct Partner {
    pub app: App,
    pub organizer: Organizer,
    pub receiver: Receiver,
    sender: tokio::sync::Mutex<Sender>,
}

impl Partner {
    pub async fn new(world: &World) -> Partner {
        let organizer = Organizer::new(world).await;
        let mut config = world.app.config.clone();
        config.webhooks.allow_private = true;
        let app = App::build_with_clock(config, world.app.clock.clone())
            .await
            .unwrap();
        while app.fan_out_events().await.unwrap() {}
        let client = Client::new(&app, &world.client.key);
        Partner {
            organizer: organizer.at(&client),
            sender: app.event_sender().into(),
            receiver: Receiver::start().await,
            app,
        }
    }

    pub async fn post(&self, expected: u16, path: &str, body: &Value) -> Response {
        self.organizer
            .write(expected, &Method::POST, path, body.to_string(), &[])
            .await
    }

    pub async fn get(&self, expected: u16, path: &str) -> Response {
        self.organizer.write(expected, &Method::GET, path, "", &[]).await
    }

    /// Creates an endpoint with a path of the receiver, and with more fields.
    pub async fn create(&self, path: &str, fields: Value) -> Value {
        let mut body = json!({"url": self.receiver.url(path)});
        body.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        self.post(200, "/v0.2/webhook", &body).await.json
    }

    /// Fans out and sends what is due.
    pub async fn deliver(&self) {
        while self.app.fan_out_events().await.unwrap() {}
        while self.app.giving.webhooks.continue_replays().await.unwrap() {}
        self.sender.lock().await.send_due().await.unwrap();
    }

    /// The keys of another account.
    pub async fn stranger(&self) -> Organizer {
        let (db, now) = (&self.app.db, self.app.clock.millis());
        let username = Username::parse("eve").unwrap();
        let account = accounts::store::insert_without_password(db, &username, None, false, now).await;
        let account = account.unwrap().unwrap();
        let (public, private) = (KeyText::generate(Kind::Public), KeyText::generate(Kind::Private));
        for key in [&public, &private] {
            keys::insert(db, account, "eve", key, now).await.unwrap();
        }
        Organizer {
            client: Client::new(&self.app, public.expose()),
            basic: basic(public.expose(), private.expose()),
        }
    }
}
