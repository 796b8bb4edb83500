//! `causeway webhook listen`: follows the events of a server from a developer's machine, which needs no public address.

use super::stdout::Stdout;
use anyhow::{Context, bail};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use clap::Args;
use platform::clock::Clock;
use platform::outbound::addresses::AddressPolicy;
use platform::outbound::post::Poster;
use platform::tls;
use platform::webhook_signature::WebhookSecret;
use reqwest::StatusCode;
use reqwest::header::AUTHORIZATION;
use serde_json::{Map, Value};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// How long the server holds a request without an event, in seconds, and how long the answer may take.
const WAIT_SECONDS: u32 = 20;
const TIMEOUT: Duration = Duration::from_secs(40);
/// The pause after a failure, which doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(10);

#[derive(Args)]
#[command(
    after_help = "Example:\n  causeway webhook listen --server http://127.0.0.1:8080 --public-key cwpk_… --private-key cwsk_… --forward-to http://localhost:3000/hook"
)]
pub(super) struct Listen {
    /// The server whose events to follow
    #[arg(long, value_name = "URL")]
    server: String,
    /// Where to post each event
    #[arg(long, value_name = "URL")]
    forward_to: String,
    /// Only these events, separated by commas
    #[arg(long, value_name = "EVENTS")]
    events: Option<String>,
    /// A public key of your account
    #[arg(long, value_name = "KEY", env = "LISTEN_PUBLIC_KEY")]
    public_key: String,
    /// A private key of the same account
    #[arg(long, value_name = "KEY", env = "LISTEN_PRIVATE_KEY", hide_env_values = true)]
    private_key: String,
    /// The secret to sign with, so that a receiver keeps its own [default: a new one, which is printed]
    #[arg(long, value_name = "SECRET", env = "LISTEN_SECRET", hide_env_values = true)]
    secret: Option<String>,
    /// A file that remembers the last event, to go on after a restart [default: start with the next event]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// End after so many events
    #[arg(long, value_name = "COUNT", hide = true)]
    count: Option<u64>,
}

/// A page of events.
struct Page {
    events: Vec<Map<String, Value>>,
    cursor: String,
}

impl Listen {
    /// Posts events until it is interrupted.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        tls::install_provider();
        let text = self.secret.clone().unwrap_or_else(WebhookSecret::generate);
        let secret = WebhookSecret::parse(&text)
            .context("--secret is no webhook secret; it begins with whsec_, followed by base64")?;
        let server = self.server.trim_end_matches('/');
        if !server.starts_with("http://") && !server.starts_with("https://") {
            bail!("--server is not a URL; write http://127.0.0.1:8080 or https://your-server.org");
        }
        // The developer names the receiver, so it may be anywhere on this machine or in this network.
        let poster = Poster::new(AddressPolicy { allows_private: true });
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(platform::outbound::tls_config())
            .timeout(TIMEOUT)
            .build()?;
        let pair = BASE64_STANDARD.encode(format!("{}:{}", self.public_key, self.private_key));
        let authorization = format!("Basic {pair}");
        Stdout::print(&format!("Signing with {text}"))?;
        let mut cursor = self.read_state()?;
        let (mut pause, mut sent) = (FIRST_PAUSE, 0);
        loop {
            match self.fetch(&client, server, &authorization, &cursor).await {
                Ok(page) => {
                    pause = FIRST_PAUSE;
                    for event in page.events {
                        Stdout::print(&forward(&poster, &secret, &self.forward_to, event).await)?;
                        sent += 1;
                    }
                    if page.cursor != cursor {
                        if cursor == "latest" {
                            Stdout::print(&format!("Waiting for events of {server}"))?;
                        }
                        cursor = page.cursor;
                        self.write_state(&cursor)?;
                    }
                    if self.count.is_some_and(|count| sent >= count) {
                        return Ok(());
                    }
                }
                Err(FetchError::Fatal(error)) => return Err(error),
                Err(FetchError::Expired) => {
                    let _ = writeln!(
                        std::io::stderr(),
                        "the last event is no longer known; going on with new ones"
                    );
                    "latest".clone_into(&mut cursor);
                }
                Err(FetchError::Transient(error)) => {
                    let _ = writeln!(std::io::stderr(), "{error}; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(MAX_PAUSE);
                }
            }
        }
    }

    async fn fetch(
        &self,
        client: &reqwest::Client,
        server: &str,
        authorization: &str,
        cursor: &str,
    ) -> Result<Page, FetchError> {
        let mut url = format!("{server}/v0.2/events?wait={WAIT_SECONDS}&after={cursor}");
        if let Some(events) = &self.events {
            url.push_str("&type=");
            url.push_str(events);
        }
        let request = client.get(url).header(AUTHORIZATION, authorization);
        let response = request.send().await.map_err(|error| {
            FetchError::Transient(format!("cannot reach {server}: {}", error.without_url()))
        })?;
        let status = response.status();
        let text = response
            .text()
            .await
            .map_err(|_| FetchError::Transient(format!("the answer of {server} ended too early")))?;
        let mut body: Value = serde_json::from_str(&text).unwrap_or_default();
        match status {
            StatusCode::OK => {}
            StatusCode::GONE => return Err(FetchError::Expired),
            _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(FetchError::Transient(format!(
                    "{server} answered with status {status}"
                )));
            }
            _ => {
                let detail = body["detail"]
                    .as_str()
                    .unwrap_or("check --server, --public-key and --private-key");
                return Err(FetchError::Fatal(anyhow::anyhow!(
                    "{server} answered with status {status}; {detail}"
                )));
            }
        }
        let events = body["events"]
            .as_array_mut()
            .map(std::mem::take)
            .unwrap_or_default();
        let objects = events.into_iter().filter_map(|event| match event {
            Value::Object(event) => Some(event),
            _ => None,
        });
        Ok(Page {
            events: objects.collect(),
            cursor: body["cursor"].as_str().unwrap_or(cursor).to_owned(),
        })
    }

    fn read_state(&self) -> anyhow::Result<String> {
        let Some(path) = &self.state else {
            return Ok("latest".to_owned());
        };
        match std::fs::read_to_string(path) {
            Ok(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
            Ok(_) => Ok("latest".to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok("latest".to_owned()),
            Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
        }
    }

    fn write_state(&self, cursor: &str) -> anyhow::Result<()> {
        let Some(path) = &self.state else {
            return Ok(());
        };
        platform::data_folder::replace_file(path, cursor.as_bytes())
            .with_context(|| format!("could not write {}", path.display()))
    }
}

/// Why a page could not be fetched.
enum FetchError {
    /// It may work later.
    Transient(String),
    /// The cursor is not known.
    Expired,
    Fatal(anyhow::Error),
}

/// Posts an event as a webhook has it, and returns a line about it.
async fn forward(
    poster: &Poster,
    secret: &WebhookSecret,
    url: &str,
    mut event: Map<String, Value>,
) -> String {
    let id = match event.shift_remove("id") {
        Some(Value::String(id)) => id,
        _ => String::new(),
    };
    let kind = event
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let body = Value::Object(event).to_string();
    let now = Clock::default().millis() / 1_000;
    let headers = [
        ("webhook-id", id.clone()),
        ("webhook-timestamp", now.to_string()),
        ("webhook-signature", secret.sign(&id, now, body.as_bytes())),
    ];
    let outcome = match poster.post(url, &headers, body).await {
        Ok(answer) => match answer.head.lines().next() {
            Some(line) if !line.is_empty() => format!("{} {line}", answer.status),
            _ => answer.status.to_string(),
        },
        Err(error) => error.to_string(),
    };
    format!("{kind}  {id}  {outcome}")
}
