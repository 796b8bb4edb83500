//! Every route declares what its requests may cost at worst, only what admission control counts reads bodies, and work
//! that keeps a core busy waits for its turn.

use crate::findings::{Exception, Finding, check, texts};
use crate::source::{Source, read_sources};

/// The functions of `src/http/routing.rs` that make a route. Each has a cost, by its name or as an argument.
const DECLARING: [&str; 5] = ["get", "heavy_get", "post", "form", "upload_form"];

/// Calls that read a whole body.
const READS: [&str; 3] = ["to_bytes(", ".into_data_stream(", ".collect().await"];

const EXCEPTIONS: &[Exception] = &[
    (
        "src/http/routing.rs",
        "it makes the routes of axum, and adds their costs",
    ),
    (
        "src/http/body.rs",
        "it reads bodies, and counts them as they arrive",
    ),
    (
        "src/api/openapi.rs::axum",
        "it names the methods of a route; its routes are a list with costs",
    ),
    ("src/api/mcp/client.rs", "it reads the responses of our own API"),
    (
        "src/app/bulk_work.rs",
        "it gives blocking work its turn, and stops it with its request",
    ),
    (
        "src/dashboard/operator/attention.rs::blocking work",
        "it asks the system for the free space of the disk, for operators alone",
    ),
    (
        "src/cli/serve.rs",
        "the metrics have a listener of their own, which only operators reach",
    ),
];

/// Finds routes without a cost, and bodies that are read without admission. Returns the number of routes too.
fn find(source: &Source) -> (usize, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut add = |at: usize, item: &str, message: &str| {
        let line = source.code[..at].lines().count().max(1);
        findings.push(Finding {
            subject: format!("{}::{item}", source.path),
            text: format!("{}:{line}: {message}", source.path),
        });
    };
    let mut routes = 0;
    for (at, call) in source.code.match_indices(".route(") {
        let arguments = &source.code[at + call.len()..];
        if arguments.starts_with(')') {
            // The path of the route of a request.
            continue;
        }
        routes += 1;
        let method = arguments
            .split_once(',')
            .map_or("", |(_, method)| method.trim_start());
        let function = method.split('(').next().unwrap_or_default();
        if !DECLARING.contains(&function) {
            add(
                at,
                "route",
                "this route declares no cost; use a function of src/http/routing.rs",
            );
        }
    }
    for (at, _) in source.code.match_indices("routes!(") {
        routes += 1;
        let before = source.code[..at].trim_end();
        let cost = before
            .trim_end_matches(',')
            .rsplit(['(', '\n'])
            .next()
            .unwrap_or_default();
        if !cost.trim().starts_with("Cost::") {
            add(
                at,
                "route",
                "this route declares no cost; write (Cost::…, routes!(…))",
            );
        }
    }
    for (at, _) in source.code.match_indices("axum::routing") {
        add(at, "axum", "routes of axum have no cost; use src/http/routing.rs");
    }
    for call in READS {
        for (at, _) in source.code.match_indices(call) {
            // Numbers have a method with the same name.
            let is_method =
                source.code[..at].ends_with(|sign: char| sign.is_alphanumeric() || "_.".contains(sign));
            if call.starts_with('.') || !is_method {
                add(at, "body", "this body is not counted; use http::body::read");
            }
        }
    }
    let is_server = !source.path.starts_with("src/cli/");
    for (at, _) in source.code.match_indices("spawn_blocking(").filter(|_| is_server) {
        add(
            at,
            "blocking work",
            "this work does not wait for its turn; use app::bulk_work",
        );
    }
    (routes, findings)
}

#[test]
fn every_route_declares_its_cost() {
    let (mut routes, mut findings) = (0, Vec::new());
    for source in read_sources("src") {
        let (found, wrong) = find(&source);
        routes += found;
        findings.extend(wrong);
    }
    assert!(routes > 100, "the routes cannot be read: {routes}");
    check(&findings, EXCEPTIONS);
}

#[test]
fn a_route_without_a_cost_is_found() {
    let good = r#"
        Router::new()
            .route("/a", get(a::page))
            .route(PATH, upload_form(a::page, a::send))
            .route("/b", heavy_get(b::get).merge(post(Cost::BATCH, b::post)));
        [(Cost::LIGHT, routes!(a::a)), (Cost::HEAVY, routes!(b::b))];
        number.to_bytes();
    "#;
    assert_eq!(find(&Source::parse("good.rs", good)).0, 5);
    assert_eq!(texts(&find(&Source::parse("good.rs", good)).1), [""; 0]);
    for wrong in [
        r#"router.route("/a", routing::get(page))"#,
        r#"router.route("/a", any(page))"#,
        "router.routes(routes!(a::a))",
        "use axum::routing::post;",
        "let body = to_bytes(body, MAX).await;",
        "let body = request.into_body().collect().await;",
        "let found = tokio::task::spawn_blocking(find).await;",
    ] {
        assert_eq!(find(&Source::parse("wrong.rs", wrong)).1.len(), 1, "{wrong}");
    }
}
