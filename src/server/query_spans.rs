//! Finds the queries that a traced request sends, so that they become spans of their own.
//!
//! The database library logs each query when it is done. A request that is traced runs inside a span of the log, which
//! carries its [`QueryLog`]; this layer adds the queries that are logged inside it.

use crate::app::traces::QueryLog;
use std::sync::Arc;
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, Registry};

/// The target of the span of a request.
const REQUEST_TARGET: &str = "trace";
/// The target of the events of queries.
const QUERY_TARGET: &str = "sqlx::query";

/// The layer of the log that collects queries.
#[derive(Debug)]
pub struct QuerySpans;

impl QuerySpans {
    /// Returns what the layer needs to see.
    pub fn filter() -> Targets {
        Targets::new()
            .with_target(REQUEST_TARGET, LevelFilter::TRACE)
            .with_target(QUERY_TARGET, LevelFilter::TRACE)
    }
}

/// Returns a span for the log. Queries inside it are added to `queries`.
pub fn request_span(queries: &Arc<QueryLog>) -> tracing::Span {
    let span = tracing::trace_span!(target: REQUEST_TARGET, "request");
    span.with_subscriber(|(id, dispatch)| {
        let registry = dispatch.downcast_ref::<Registry>();
        if let Some(span) = registry.and_then(|registry| registry.span(id)) {
            span.extensions_mut().insert(Arc::clone(queries));
        }
    });
    span
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for QuerySpans {
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event.metadata().target() != QUERY_TARGET {
            return;
        }
        let Some(span) = context.event_span(event) else {
            return;
        };
        let queries = span.extensions().get::<Arc<QueryLog>>().map(Arc::clone);
        if let Some(queries) = queries {
            let mut fields = QueryFields::default();
            event.record(&mut fields);
            queries.add(fields.summary, fields.duration);
        }
    }
}

/// The fields of the event of a query.
#[derive(Default)]
struct QueryFields {
    summary: String,
    duration: Duration,
}

impl Visit for QueryFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "summary" {
            value.trim_end_matches(" …").clone_into(&mut self.summary);
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "elapsed_secs" {
            self.duration = Duration::try_from_secs_f64(value).unwrap_or_default();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::traces::Traces;
    use crate::config::TelemetrySettings;
    use metrics::Counter;
    use platform::clock::Clock;
    use tracing_subscriber::layer::SubscriberExt;

    #[test]
    fn only_queries_inside_the_span_of_a_request_are_collected() {
        let settings = TelemetrySettings {
            otlp_endpoint: Some("http://127.0.0.1:4318".to_owned()),
            sample_ratio: 1.0,
        };
        let traces = Traces::new(&settings, Clock::default(), Counter::noop());
        let active = traces.begin(None).unwrap();
        let query = |summary: &str| {
            tracing::debug!(target: "sqlx::query", summary, elapsed_secs = 0.25, "a query");
        };
        let log = tracing_subscriber::registry().with(QuerySpans.with_filter(QuerySpans::filter()));
        tracing::subscriber::with_default(log, || {
            query("select outside");
            request_span(&active.queries).in_scope(|| {
                query("select name from nonprofits …");
                tracing::info!(target: "other", summary = "not a query", "an event");
            });
        });
        let queries = active.queries.take();
        assert_eq!(queries.len(), 1, "{queries:?}");
        assert_eq!(queries[0].summary, "select name from nonprofits");
        assert_eq!(queries[0].duration, Duration::from_millis(250));
    }
}
