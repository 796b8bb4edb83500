//! Traces: the spans that an OpenTelemetry collector receives.

use super::server::{Server, send};
use crate::wait::wait_until;
use crate::world::World;
use access::keys::{KeyText, Kind};
use platform::db::Db;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

on_both_databases!(
    a_request_becomes_a_span_with_its_queries_below_it,
    a_collector_that_is_away_delays_nothing_and_lost_spans_are_counted,
);

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A collector that accepts everything, over HTTP/1.1.
struct Collector {
    address: String,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&bodies);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let received = Arc::clone(&received);
                thread::spawn(move || serve(stream.unwrap(), &received));
            }
        });
        Collector { address, bodies }
    }

    /// All spans so far, each with the attributes of its resource.
    fn spans(&self) -> Vec<(Value, Value)> {
        let bodies = self.bodies.lock().unwrap();
        let mut spans = Vec::new();
        for group in bodies
            .iter()
            .flat_map(|body| body["resourceSpans"].as_array().unwrap())
        {
            for scope in group["scopeSpans"].as_array().unwrap() {
                let of_scope = scope["spans"].as_array().unwrap().iter();
                spans.extend(of_scope.map(|span| (span.clone(), group["resource"]["attributes"].clone())));
            }
        }
        spans
    }
}

/// Reads requests from a connection until it is closed.
fn serve(stream: TcpStream, received: &Mutex<Vec<Value>>) {
    let mut answers = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
        }
        let head = head.to_lowercase();
        assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/json\r\n"), "{head}");
        let length = head.split("content-length: ").nth(1).unwrap();
        let length = length.split("\r\n").next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        received
            .lock()
            .unwrap()
            .push(serde_json::from_slice(&body).unwrap());
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        answers.write_all(answer.as_bytes()).unwrap();
    }
}

/// The value of an attribute.
fn attribute<'a>(attributes: &'a Value, key: &str) -> &'a Value {
    let found = attributes
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["key"] == key);
    found.map_or(&Value::Null, |item| &item["value"])
}

async fn a_request_becomes_a_span_with_its_queries_below_it(world: &World) {
    let collector = Collector::start();
    let endpoint = format!("http://{}/", collector.address);
    let server = Server::start_with(
        world,
        "server",
        &[
            ("CAUSEWAY_TELEMETRY__OTLP_ENDPOINT", &endpoint),
            ("CAUSEWAY_TELEMETRY__SAMPLE_RATIO", "0"),
        ],
    );
    // A key that the server has never seen is looked up in the database.
    let unknown = KeyText::generate(Kind::Public);
    let path = format!("/v0.2/nonprofit/nobody?apiKey={}", unknown.expose());
    let sampled = format!("traceparent: 00-{TRACE}-{PARENT}-01\r\n");
    let response = server.send("GET", &path, &sampled);
    let id = response
        .lines()
        .find_map(|line| line.strip_prefix("x-request-id: "))
        .unwrap()
        .to_owned();
    // Neither a trace that its client does not record nor, with this ratio, a request without one.
    let unsampled = format!("traceparent: 00-{}-{PARENT}-00\r\n", "1".repeat(32));
    server.send("GET", "/v0.2/causes", &unsampled);
    server.send("GET", "/v0.2/causes", "");
    // The last spans are exported when the server stops.
    server.stop();

    let spans = collector.spans();
    let (queries, requests): (Vec<_>, Vec<_>) = spans.iter().partition(|(span, _)| span["kind"] == 3);
    let [(request, resource)] = requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!(attribute(resource, "service.name")["stringValue"], "causeway");
    assert_eq!(
        attribute(resource, "service.version")["stringValue"],
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(request["traceId"], TRACE);
    assert_eq!(request["parentSpanId"], PARENT);
    assert_eq!(request["kind"], 2);
    assert_eq!(request["name"], "GET /v0.2/nonprofit/{identifier}");
    assert!(
        request["status"].get("code").is_none(),
        "401 is no error of the server"
    );
    let attributes = &request["attributes"];
    assert_eq!(attribute(attributes, "http.request.method")["stringValue"], "GET");
    assert_eq!(
        attribute(attributes, "http.route")["stringValue"],
        "/v0.2/nonprofit/{identifier}"
    );
    assert_eq!(
        attribute(attributes, "http.response.status_code")["intValue"],
        "401"
    );
    assert_eq!(attribute(attributes, "causeway.request_id")["stringValue"], id);

    let nanos = |span: &Value, field: &str| span[field].as_str().unwrap().parse::<u64>().unwrap();
    let (start, end) = (
        nanos(request, "startTimeUnixNano"),
        nanos(request, "endTimeUnixNano"),
    );
    assert!(start < end);
    let system = match world.app.db {
        Db::Sqlite { .. } => "sqlite",
        Db::Postgres(_) => "postgresql",
    };
    assert!(!queries.is_empty(), "{spans:?}");
    for (query, _) in queries {
        assert_eq!(query["traceId"], TRACE);
        assert_eq!(query["parentSpanId"], request["spanId"]);
        let attributes = &query["attributes"];
        assert_eq!(attribute(attributes, "db.system.name")["stringValue"], system);
        let summary = attribute(attributes, "db.query.summary")["stringValue"]
            .as_str()
            .unwrap();
        assert!(summary.starts_with("select"), "{summary}");
        assert!(nanos(query, "startTimeUnixNano") <= nanos(query, "endTimeUnixNano"));
    }
    let everything = format!("{:?}", collector.bodies.lock().unwrap());
    assert!(!everything.contains(unknown.expose()), "keys are not in traces");
}

async fn a_collector_that_is_away_delays_nothing_and_lost_spans_are_counted(world: &World) {
    // Nothing listens on this port any more.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{address}");
    let server = Server::start_with(
        world,
        "server",
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str())],
    );
    for _ in 0..3 {
        assert_eq!(server.status("/v0.2/causes"), 401);
    }
    wait_until("the spans are counted as lost", || {
        let page = send(&server.metrics, "GET", "/metrics", "");
        let dropped = page
            .lines()
            .find_map(|line| line.strip_prefix("causeway_trace_spans_dropped_total "));
        dropped.unwrap().parse::<u64>().unwrap() >= 3
    });
    let log = server.log();
    assert!(log.contains("could not export traces"), "{log}");
    server.stop();
}
