//! Spans of requests, on their way to an OpenTelemetry collector.
//!
//! Spans wait in a bounded queue for the task that exports them. A request never waits: if the queue is full, its spans are
//! dropped and counted.

use crate::config::TelemetrySettings;
use metrics::Counter;
use platform::clock::Clock;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// The number of requests whose spans may wait.
const QUEUE_SIZE: usize = 2_048;
/// The number of queries of one request that become spans.
const MAX_QUERIES: usize = 64;

/// The ID of a trace: 32 lowercase hexadecimal digits, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub [u8; 32]);

/// The ID of a span: 16 lowercase hexadecimal digits, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(pub [u8; 16]);

/// The span of the client that sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub trace: TraceId,
    pub span: SpanId,
    /// Whether the client records its span.
    pub is_sampled: bool,
}

/// A finished operation.
#[derive(Clone, Debug)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub name: String,
    pub kind: SpanKind,
    /// Nanoseconds since the Unix epoch.
    pub start: u64,
    pub end: u64,
    pub is_error: bool,
    pub attributes: Vec<(&'static str, Attribute)>,
}

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A request that was answered.
    Server,
    /// A query that was sent.
    Client,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

/// What the exporting task receives.
#[derive(Debug)]
pub enum Message {
    /// The spans of one request.
    Spans(Vec<Span>),
    /// A request to export everything that was sent before.
    Flush(oneshot::Sender<()>),
}

/// Decides which requests are traced, and queues their spans. Without a collector it does nothing.
#[derive(Debug)]
pub struct Traces(Option<Queue>);

#[derive(Debug)]
struct Queue {
    sender: mpsc::Sender<Message>,
    receiver: Mutex<Option<mpsc::Receiver<Message>>>,
    /// Traces whose last eight bytes are a smaller number are recorded.
    sample_below: u128,
    clock: Clock,
    dropped: Counter,
}

/// A request that is being traced.
#[derive(Debug)]
pub struct ActiveSpan {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub queries: Arc<QueryLog>,
}

/// Collects the queries of a request.
#[derive(Debug)]
pub struct QueryLog {
    clock: Clock,
    queries: Mutex<Vec<Query>>,
}

/// A finished query.
#[derive(Clone, Debug)]
pub struct Query {
    /// The first words of the statement.
    pub summary: String,
    pub duration: Duration,
    /// Nanoseconds since the Unix epoch.
    pub end: u64,
}

impl Traces {
    pub fn new(settings: &TelemetrySettings, clock: Clock, dropped: Counter) -> Traces {
        if settings.otlp_endpoint.is_none() {
            return Traces(None);
        }
        let (sender, receiver) = mpsc::channel(QUEUE_SIZE);
        Traces(Some(Queue {
            sender,
            receiver: Mutex::new(Some(receiver)),
            sample_below: (settings.sample_ratio * 2_f64.powi(64)) as u128,
            clock,
            dropped,
        }))
    }

    /// Returns the receiving end of the queue, once.
    pub fn take_receiver(&self) -> Option<mpsc::Receiver<Message>> {
        let queue = self.0.as_ref()?;
        let mut receiver = queue.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        receiver.take()
    }

    /// Begins the span of a request, or returns `None` if the request is not traced: a client that takes part in a trace
    /// decides for all of it, other requests are sampled.
    pub fn begin(&self, parent: Option<TraceParent>) -> Option<ActiveSpan> {
        let queue = self.0.as_ref()?;
        let trace = if let Some(parent) = parent {
            parent.is_sampled.then_some(parent.trace)?
        } else {
            let random = random_bytes::<16>();
            let (_, last) = random.split_last_chunk::<8>()?;
            let is_sampled = u128::from(u64::from_be_bytes(*last)) < queue.sample_below;
            is_sampled.then(|| TraceId(hex(&random)))?
        };
        Some(ActiveSpan {
            trace,
            id: SpanId::random(),
            parent: parent.map(|parent| parent.span),
            queries: Arc::new(QueryLog {
                clock: queue.clock.clone(),
                queries: Mutex::default(),
            }),
        })
    }

    /// Queues the spans of a request, or drops them.
    pub fn send(&self, spans: Vec<Span>) {
        let Some(queue) = &self.0 else {
            return;
        };
        let count = spans.len() as u64;
        if queue.sender.try_send(Message::Spans(spans)).is_err() {
            queue.dropped.increment(count);
        }
    }

    /// Waits until everything that was sent before is exported, but not longer than `limit`.
    pub async fn flush(&self, limit: Duration) {
        let Some(queue) = &self.0 else {
            return;
        };
        let flush = async {
            let (done, flushed) = oneshot::channel();
            if queue.sender.send(Message::Flush(done)).await.is_ok() {
                let _ = flushed.await;
            }
        };
        let _ = timeout(limit, flush).await;
    }
}

impl QueryLog {
    /// Records a query that has just finished.
    pub fn add(&self, summary: String, duration: Duration) {
        let end = self.clock.nanos();
        let mut queries = self.queries.lock().unwrap_or_else(PoisonError::into_inner);
        if queries.len() < MAX_QUERIES {
            queries.push(Query {
                summary,
                duration,
                end,
            });
        }
    }

    /// Returns the queries so far.
    pub fn take(&self) -> Vec<Query> {
        std::mem::take(&mut self.queries.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SpanId {
    pub fn random() -> SpanId {
        SpanId(hex(&random_bytes::<8>()))
    }
}

/// Returns random bytes, not all zero.
fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    if bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

fn hex<const N: usize>(bytes: &[u8]) -> [u8; N] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = [b'0'; N];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    digits
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.0).expect("digits are ASCII"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.0).expect("digits are ASCII"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn traces(sample_ratio: f64) -> (Traces, Arc<AtomicU64>) {
        let dropped = Arc::new(AtomicU64::new(0));
        let settings = TelemetrySettings {
            otlp_endpoint: Some("http://127.0.0.1:4318".to_owned()),
            sample_ratio,
        };
        let counter = Counter::from_arc(Arc::clone(&dropped));
        (Traces::new(&settings, Clock::default(), counter), dropped)
    }

    fn span(active: &ActiveSpan) -> Span {
        Span {
            trace: active.trace,
            id: active.id,
            parent: active.parent,
            name: "GET /".to_owned(),
            kind: SpanKind::Server,
            start: 1,
            end: 2,
            is_error: false,
            attributes: Vec::new(),
        }
    }

    #[test]
    fn without_a_collector_nothing_is_traced() {
        let settings = TelemetrySettings {
            otlp_endpoint: None,
            sample_ratio: 1.0,
        };
        let traces = Traces::new(&settings, Clock::default(), Counter::noop());
        assert!(traces.begin(None).is_none());
        assert!(traces.take_receiver().is_none());
    }

    #[test]
    fn a_client_decides_for_its_trace_and_other_requests_are_sampled() {
        let parent = |is_sampled| TraceParent {
            trace: TraceId([b'7'; 32]),
            span: SpanId([b'8'; 16]),
            is_sampled,
        };
        let (none, _) = traces(0.0);
        assert!(none.begin(None).is_none());
        let active = none.begin(Some(parent(true))).unwrap();
        assert_eq!(
            (active.trace, active.parent),
            (TraceId([b'7'; 32]), Some(SpanId([b'8'; 16])))
        );
        let (all, _) = traces(1.0);
        assert!(all.begin(Some(parent(false))).is_none());
        let (first, second) = (all.begin(None).unwrap(), all.begin(None).unwrap());
        assert!(first.trace != second.trace && first.id != second.id);
        let (half, _) = traces(0.5);
        let sampled = (0..1_000).filter(|_| half.begin(None).is_some()).count();
        assert!((300..700).contains(&sampled), "{sampled}");
    }

    #[tokio::test]
    async fn spans_that_do_not_fit_into_the_queue_are_dropped_and_counted() {
        let (traces, dropped) = traces(1.0);
        let active = traces.begin(None).unwrap();
        for _ in 0..QUEUE_SIZE {
            traces.send(vec![span(&active)]);
        }
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        traces.send(vec![span(&active), span(&active)]);
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
        // Nobody exports: stopping takes no longer than its limit.
        traces.flush(Duration::from_millis(1)).await;
    }

    #[test]
    fn a_request_with_very_many_queries_records_the_first() {
        let (traces, _) = traces(1.0);
        let active = traces.begin(None).unwrap();
        for number in 0..MAX_QUERIES + 10 {
            active.queries.add(format!("select {number}"), Duration::ZERO);
        }
        let queries = active.queries.take();
        assert_eq!(
            (queries.len(), queries[0].summary.as_str()),
            (MAX_QUERIES, "select 0")
        );
    }
}
