//! Exports spans to an OpenTelemetry collector: OTLP over HTTP in its JSON encoding.
//!
//! Of the OpenTelemetry crates, which take long to build, only one format and one POST request would be used.
//! Without a collector there is neither a layer nor a task. <https://opentelemetry.io/docs/specs/otlp/>

use crate::app::traces::{Attribute, Message, Span, SpanKind};
use anyhow::Context;
use metrics::Counter;
use platform::outbound;
use platform::tls;
use reqwest::header::CONTENT_TYPE;
use serde_json::{Value, json};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;
use uuid::Uuid;

/// How long the first span of a batch waits for others.
const BATCH_INTERVAL: Duration = Duration::from_secs(5);
/// The number of spans after which a batch is exported at once.
const MAX_BATCH_SIZE: usize = 512;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Exports spans.
#[derive(Debug)]
pub struct Exporter {
    client: reqwest::Client,
    url: String,
    /// What all spans have in common.
    resource: Value,
    exported: Counter,
    dropped: Counter,
    is_healthy: bool,
}

impl Exporter {
    /// Creates an exporter for the collector at `endpoint`, such as `http://localhost:4318`.
    pub fn new(endpoint: &str, exported: Counter, dropped: Counter) -> anyhow::Result<Exporter> {
        tls::install_provider();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(outbound::tls_config())
            .timeout(REQUEST_TIMEOUT)
            .no_proxy()
            .build()
            .context("could not create the client for telemetry.otlp_endpoint")?;
        let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
        Ok(Exporter {
            client,
            url: format!("{}/v1/traces", endpoint.trim_end_matches('/')),
            resource: json!({"attributes": [
                text("service.name", "causeway"),
                text("service.version", env!("CARGO_PKG_VERSION")),
                text("service.instance.id", &Uuid::now_v7().to_string()),
            ]}),
            exported,
            dropped,
            is_healthy: true,
        })
    }

    /// Exports what comes out of the queue, until it is closed.
    pub async fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        loop {
            let (batch, is_closed) = Batch::collect(&mut queue).await;
            if !batch.spans.is_empty() {
                self.export(&batch.spans).await;
            }
            for done in batch.flushed {
                let _ = done.send(());
            }
            if is_closed {
                return;
            }
        }
    }

    /// Exports one batch. If that fails, it is dropped: a collector that is away must not fill the memory of a server.
    async fn export(&mut self, spans: &[Span]) {
        let body = self.body(spans).to_string();
        let request = self.client.post(&self.url);
        let request = request.header(CONTENT_TYPE, "application/json").body(body);
        let sent = request.send().await.and_then(reqwest::Response::error_for_status);
        match &sent {
            Ok(_) => self.exported.increment(spans.len() as u64),
            Err(_) => self.dropped.increment(spans.len() as u64),
        }
        match (sent, self.is_healthy) {
            (Err(error), true) => {
                let error = format!("{:#}", anyhow::Error::new(error.without_url()));
                tracing::warn!(
                    error,
                    "could not export traces; they are dropped until the collector accepts them"
                );
                self.is_healthy = false;
            }
            (Ok(_), false) => {
                tracing::info!("the collector accepts traces again");
                self.is_healthy = true;
            }
            _ => {}
        }
    }

    fn body(&self, spans: &[Span]) -> Value {
        let spans: Vec<Value> = spans.iter().map(encode).collect();
        json!({"resourceSpans": [{
            "resource": self.resource,
            "scopeSpans": [{"scope": {"name": "causeway"}, "spans": spans}],
        }]})
    }
}

/// The spans of several requests.
#[derive(Default)]
struct Batch {
    spans: Vec<Span>,
    /// Those who wait for the export.
    flushed: Vec<oneshot::Sender<()>>,
}

impl Batch {
    /// Collects spans until there are enough, the first one has waited long enough, or somebody waits for them. Also
    /// returns whether the queue is closed.
    async fn collect(queue: &mut mpsc::Receiver<Message>) -> (Batch, bool) {
        let mut batch = Batch::default();
        let Some(first) = queue.recv().await else {
            return (batch, true);
        };
        batch.add(first);
        let mut deadline = pin!(sleep(BATCH_INTERVAL));
        while batch.spans.len() < MAX_BATCH_SIZE && batch.flushed.is_empty() {
            tokio::select! {
                biased;
                message = queue.recv() => match message {
                    Some(message) => batch.add(message),
                    None => return (batch, true),
                },
                () = &mut deadline => break,
            }
        }
        (batch, false)
    }

    fn add(&mut self, message: Message) {
        match message {
            Message::Spans(spans) => self.spans.extend(spans),
            Message::Flush(done) => self.flushed.push(done),
        }
    }
}

/// Encodes a span. Numbers of 64 bits are strings, as in all JSON encodings of protocol buffers.
fn encode(span: &Span) -> Value {
    let attributes: Vec<Value> = span
        .attributes
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Attribute::Text(text) => json!({"stringValue": text}),
                Attribute::Number(number) => json!({"intValue": number.to_string()}),
            };
            json!({"key": key, "value": value})
        })
        .collect();
    json!({
        "traceId": span.trace.to_string(),
        "spanId": span.id.to_string(),
        "parentSpanId": span.parent.map(|parent| parent.to_string()).unwrap_or_default(),
        "name": span.name,
        "kind": match span.kind {
            SpanKind::Server => 2,
            SpanKind::Client => 3,
        },
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes,
        "status": if span.is_error { json!({"code": 2}) } else { json!({}) },
    })
}
