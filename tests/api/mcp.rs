//! The Model Context Protocol at `/mcp`, spoken by a client of JSON-RPC.

use super::fundraisers::{Organizer, RED_CROSS, id_of};
use crate::client::Response;
use crate::world::World;
use axum::http::Method;
use serde_json::{Map, Value, json};

on_both_databases!(
    a_client_of_an_earlier_version_initializes_and_calls_tools,
    a_stateless_client_discovers_the_server,
    tools_return_what_the_api_returns,
    a_tool_that_fails_says_why,
    creating_a_fundraiser_needs_a_private_key,
    a_donate_link_is_built_for_a_nonprofit,
    causes_and_nonprofits_are_resources,
    keys_and_limits_are_those_of_the_api,
    an_argument_that_is_too_long_is_refused_after_the_key,
    headers_repeat_the_message,
    messages_that_are_no_requests_are_handled,
    pages_of_other_origins_are_refused,
);

const STATELESS: &str = "2026-07-28";

/// A client of one version of the protocol.
struct McpClient<'a> {
    world: &'a World,
    version: &'a str,
    headers: Vec<(&'a str, String)>,
    key: Option<String>,
}

impl<'a> McpClient<'a> {
    fn new(world: &'a World, version: &'a str) -> McpClient<'a> {
        McpClient {
            world,
            version,
            headers: Vec::new(),
            key: Some(world.client.key.clone()),
        }
    }

    fn message(&self, method: &str, params: Value) -> Value {
        let mut params = params;
        if self.version == STATELESS {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": {"name": "story", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    async fn send(&self, expected: u16, message: &Value, headers: &[(&str, &str)]) -> Response {
        let url = match &self.key {
            Some(key) => format!("/mcp?apiKey={key}"),
            None => "/mcp".to_owned(),
        };
        let own = self.headers.iter().map(|(name, value)| (*name, value.as_str()));
        let mut all: Vec<(&str, &str)> = own.chain(headers.iter().copied()).collect();
        all.push(("content-type", "application/json"));
        all.push(("accept", "application/json, text/event-stream"));
        let body = message.to_string();
        self.world
            .client
            .send_body(expected, &Method::POST, &url, &all, body)
            .await
    }

    async fn request(&self, expected: u16, method: &str, params: Value) -> Value {
        let message = self.message(method, params);
        let name = &message["params"]["name"];
        let name = if method == "resources/read" {
            &message["params"]["uri"]
        } else {
            name
        };
        let mut headers = vec![("mcp-protocol-version", self.version)];
        if self.version == STATELESS {
            headers.push(("mcp-method", method));
            headers.extend(name.as_str().map(|name| ("mcp-name", name)));
        }
        let response = self.send(expected, &message, &headers).await.json;
        assert_eq!(
            (&response["jsonrpc"], &response["id"]),
            (&json!("2.0"), &json!(7))
        );
        response
    }

    async fn result(&self, method: &str, params: Value) -> Value {
        let mut response = self.request(200, method, params).await;
        assert!(response.get("error").is_none(), "{response}");
        let result = response["result"].take();
        if self.version == STATELESS {
            assert_eq!(result["resultType"], "complete");
            let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
            assert_eq!(server["name"], "causeway");
        }
        result
    }

    async fn call(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments}))
            .await
    }
}

async fn a_client_of_an_earlier_version_initializes_and_calls_tools(world: &World) {
    world.load_demo().await;
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let client = McpClient::new(world, version);
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "story", "version": "1"}});
        let result = client.result("initialize", params).await;
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "causeway");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(client.send(202, &initialized, &[]).await.body.is_empty());
        assert_eq!(client.result("ping", json!({})).await, json!({}));
        let tools = client.result("tools/list", json!({})).await;
        let names: Vec<_> = tools["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        for name in [
            "search_nonprofits",
            "get_nonprofit",
            "check_eligibility",
            "browse_cause",
            "list_causes",
            "get_fundraiser",
            "get_raised",
            "create_fundraiser",
            "build_donate_link",
        ] {
            assert!(names.contains(&name), "{name}");
        }
        for tool in tools["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object");
            assert_eq!(tool["outputSchema"]["type"], "object");
        }
        let found = client
            .call("search_nonprofits", json!({"query": "red cro", "take": 1}))
            .await;
        assert_eq!(found["structuredContent"]["nonprofits"][0]["ein"], RED_CROSS);
    }
    let newer = json!({"protocolVersion": "2099-01-01", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let client = McpClient::new(world, "2025-11-25");
    assert_eq!(
        client.result("initialize", newer).await["protocolVersion"],
        "2025-11-25"
    );
    assert_eq!(
        client.request(200, "x/y", json!({})).await["error"]["code"],
        -32_601
    );
}

async fn a_stateless_client_discovers_the_server(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, STATELESS);
    let result = client.result("server/discover", json!({})).await;
    assert_eq!(result["supportedVersions"][0], STATELESS);
    for capability in ["tools", "resources", "prompts"] {
        assert!(result["capabilities"][capability].is_object());
    }
    for method in [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ] {
        let result = client.result(method, json!({})).await;
        assert!(
            result["ttlMs"].is_u64() && result["cacheScope"] == "public",
            "{method}"
        );
    }
    for removed in ["initialize", "ping", "logging/setLevel", "x/y"] {
        assert_eq!(
            client.request(404, removed, json!({})).await["error"]["code"],
            -32_601,
            "{removed}"
        );
    }
    let prompt = json!({"name": "find_nonprofit", "arguments": {"cause": "animals", "place": "Oregon"}});
    let prompt = client.result("prompts/get", prompt).await;
    assert!(
        prompt["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("animals near Oregon")
    );
}

async fn tools_return_what_the_api_returns(world: &World) {
    let organizer = Organizer::new(world).await;
    let fundraiser = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring Run"});
    organizer.create(200, &fundraiser).await;
    let client = McpClient::new(world, STATELESS);
    for (tool, arguments, path) in [
        ("list_causes", json!({}), "/v0.2/causes"),
        (
            "search_nonprofits",
            json!({"query": "red cross", "take": 2, "state": "DC", "disbursable": true}),
            "/v0.2/search/red%20cross?take=2&state=DC&disbursable=1",
        ),
        (
            "search_nonprofits",
            json!({"query": "a", "causes": ["animals", "health"]}),
            "/v0.2/search/a?causes=animals,health",
        ),
        (
            "get_nonprofit",
            json!({"identifier": RED_CROSS}),
            "/v0.2/nonprofit/530196605",
        ),
        (
            "browse_cause",
            json!({"cause": "animals", "take": 3, "page": 2}),
            "/v0.2/browse/animals?take=3&page=2",
        ),
        (
            "get_fundraiser",
            json!({"nonprofit": "american-red-cross", "fundraiser": "spring-run"}),
            "/v0.2/nonprofit/american-red-cross/fundraiser/spring-run",
        ),
        (
            "get_raised",
            json!({"nonprofit": "american-red-cross", "fundraiser": "spring-run"}),
            "/v0.2/nonprofit/american-red-cross/fundraiser/spring-run/raised",
        ),
    ] {
        let result = client.call(tool, arguments).await;
        let expected = world.client.get(200, path).await.json;
        assert_eq!(result["structuredContent"], expected, "{tool}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!((text, &result["isError"]), (expected, &json!(false)));
    }
}

async fn a_tool_that_fails_says_why(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, STATELESS);
    for (tool, arguments, code) in [
        (
            "get_nonprofit",
            json!({"identifier": "nobody"}),
            "nonprofit_not_found",
        ),
        ("browse_cause", json!({"cause": "nothing"}), "unknown_cause"),
        (
            "search_nonprofits",
            json!({"query": "x", "take": 0}),
            "invalid_parameter",
        ),
        ("search_nonprofits", json!({}), "invalid_argument"),
        (
            "get_raised",
            json!({"nonprofit": "american-red-cross", "fundraiser": "x"}),
            "fundraiser_not_found",
        ),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}");
        let problem: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(problem["code"], code);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
    let unknown = client
        .request(400, "tools/call", json!({"name": "x", "arguments": {}}))
        .await;
    assert_eq!(unknown["error"]["code"], -32_602);
}

async fn creating_a_fundraiser_needs_a_private_key(world: &World) {
    let organizer = Organizer::new(world).await;
    let arguments = json!({"nonprofitId": id_of(RED_CROSS), "title": "Spring Run", "goal": 5_000});
    let mut client = McpClient::new(world, STATELESS);
    let refused = client.call("create_fundraiser", arguments.clone()).await;
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("missing_credentials"), "{text}");
    // Basic authentication is enough for all tools.
    client.key = None;
    client.headers = vec![("authorization", organizer.basic.clone())];
    let created = client.call("create_fundraiser", arguments.clone()).await;
    // A repetition creates nothing, unless it has a key of its own.
    let repeated = client.call("create_fundraiser", arguments.clone()).await;
    assert_eq!(repeated["structuredContent"], created["structuredContent"]);
    let mut another = arguments;
    another["idempotencyKey"] = json!("second");
    let another = client.call("create_fundraiser", another).await;
    assert_ne!(another["structuredContent"], created["structuredContent"]);
    let slug = created["structuredContent"]["data"]["fundraiser"]["slug"]
        .as_str()
        .unwrap_or_else(|| panic!("{created}"))
        .to_owned();
    let raised = client
        .call("get_raised", json!({"nonprofit": RED_CROSS, "fundraiser": slug}))
        .await;
    assert_eq!(raised["structuredContent"]["goalAmount"], 5_000);
    let invalid = client.call("create_fundraiser", json!({"title": ""})).await;
    assert_eq!(invalid["isError"], true);
    assert!(
        invalid["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("invalid_body")
    );
}

async fn a_donate_link_is_built_for_a_nonprofit(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, STATELESS);
    let arguments =
        json!({"identifier": RED_CROSS, "amount": 25.5, "frequency": "monthly", "designation": "a & b"});
    let link = client.call("build_donate_link", arguments).await;
    assert_eq!(
        link["structuredContent"],
        json!({
            "url": "http://causeway.test/american-red-cross/give?amount=25%2E5&frequency=monthly&designation=a%20%26%20b",
            "name": "American Red Cross",
            "isDisbursable": true,
        })
    );
    let unknown = client
        .call("build_donate_link", json!({"identifier": "nobody"}))
        .await;
    assert_eq!(unknown["isError"], true);
}

async fn causes_and_nonprofits_are_resources(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, STATELESS);
    let listed = client.result("resources/list", json!({})).await;
    let uris: Vec<_> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert!(uris.contains(&"causeway://causes") && uris.contains(&"causeway://causes/animals"));
    let templates = client.result("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["resourceTemplates"][0]["uriTemplate"],
        "causeway://nonprofits/{identifier}"
    );
    for (uri, path) in [
        ("causeway://causes", "/v0.2/causes"),
        ("causeway://causes/animals", "/v0.2/browse/animals"),
        (
            "causeway://nonprofits/american-red-cross",
            "/v0.2/nonprofit/american-red-cross",
        ),
    ] {
        let read = client.result("resources/read", json!({"uri": uri})).await;
        let contents = &read["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&json!(uri), &json!("application/json"))
        );
        let text: Value = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, world.client.get(200, path).await.json);
    }
    for (version, status, code) in [(STATELESS, 400, -32_602), ("2025-11-25", 200, -32_002)] {
        let client = McpClient::new(world, version);
        for uri in ["test://x", "causeway://nonprofits/nobody"] {
            let error = client
                .request(status, "resources/read", json!({"uri": uri}))
                .await["error"]
                .take();
            assert_eq!(
                (&error["code"], &error["data"]["uri"]),
                (&json!(code), &json!(uri))
            );
        }
    }
}

async fn keys_and_limits_are_those_of_the_api(world: &World) {
    world.load_demo().await;
    let mut client = McpClient::new(world, "2025-11-25");
    let message = client.message(
        "tools/call",
        json!({"name": "get_nonprofit", "arguments": {"identifier": RED_CROSS}}),
    );
    let response = client.send(200, &message, &[]).await;
    assert_eq!(response.header("ratelimit"), "\"details\";r=99;t=60");
    for _ in 1..100 {
        world.client.details(200, RED_CROSS).await;
    }
    // Models read results, so that they can wait.
    let limited = client
        .call("get_nonprofit", json!({"identifier": RED_CROSS}))
        .await;
    assert_eq!(limited["isError"], true);
    let problem: Value = serde_json::from_str(limited["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(problem["code"], "rate_limited");
    assert!((1..=60).contains(&problem["retryAfterSeconds"].as_u64().unwrap()));
    // Other tools have their own limits.
    client.call("list_causes", json!({})).await;
    client.key = None;
    let list = client.message("tools/list", json!({}));
    assert_eq!(client.send(401, &list, &[]).await.code(), "missing_key");
    let bearer = format!("Bearer {}", world.client.key);
    client.send(200, &list, &[("authorization", &bearer)]).await;
    client.key = Some("x".to_owned());
    assert_eq!(client.send(401, &list, &[]).await.code(), "invalid_key");
}

async fn headers_repeat_the_message(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, STATELESS);
    let call = client.message("tools/call", json!({"name": "list_causes", "arguments": {}}));
    let version = ("mcp-protocol-version", STATELESS);
    let method = ("mcp-method", "tools/call");
    client
        .send(200, &call, &[version, method, ("mcp-name", "  list_causes ")])
        .await;
    for headers in [
        vec![
            ("mcp-protocol-version", "2025-11-25"),
            method,
            ("mcp-name", "list_causes"),
        ],
        vec![version, ("mcp-name", "list_causes")],
        vec![version, ("mcp-method", "TOOLS/CALL"), ("mcp-name", "list_causes")],
        vec![version, method],
        vec![version, method, ("mcp-name", "get_raised")],
    ] {
        let response = client.send(400, &call, &headers).await.json;
        assert_eq!(response["error"]["code"], -32_020, "{headers:?}");
    }
    let mut unknown = client.message("server/discover", json!({}));
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999");
    let headers = [
        ("mcp-protocol-version", "v999"),
        ("mcp-method", "server/discover"),
    ];
    let error = client.send(400, &unknown, &headers).await.json["error"].take();
    assert_eq!(
        (&error["code"], &error["data"]["requested"]),
        (&json!(-32_022), &json!("v999"))
    );
    for missing in [
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ] {
        let mut message = client.message("server/discover", json!({}));
        message["params"]["_meta"]
            .as_object_mut()
            .map(|meta: &mut Map<String, Value>| meta.remove(missing));
        let error = client
            .send(400, &message, &[version, ("mcp-method", "server/discover")])
            .await
            .json["error"]
            .take();
        assert_eq!(error["code"], -32_602, "{missing}");
    }
}

async fn messages_that_are_no_requests_are_handled(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, "2025-11-25");
    for (message, code) in [
        (json!([]), -32_600),
        (json!({"id": 1, "method": "ping"}), -32_600),
        (json!({"jsonrpc": "2.0", "id": 1}), -32_600),
    ] {
        assert_eq!(
            client.send(400, &message, &[]).await.json["error"]["code"],
            code,
            "{message}"
        );
    }
    let url = format!("/mcp?apiKey={}", world.client.key);
    let json_type = [("content-type", "application/json")];
    let response = world
        .client
        .send_body(400, &Method::POST, &url, &json_type, "{")
        .await;
    assert_eq!(response.json["error"]["code"], -32_700);
    client
        .send(202, &json!({"jsonrpc": "2.0", "id": 1, "result": {}}), &[])
        .await;
    // There is no stream to open, and no session to end.
    for method in [Method::GET, Method::DELETE] {
        let response = world.client.send(405, &method, &url, &[]).await;
        assert_eq!(response.header("allow"), "POST, OPTIONS");
    }
}

async fn pages_of_other_origins_are_refused(world: &World) {
    world.load_demo().await;
    let client = McpClient::new(world, "2025-11-25");
    let list = client.message("tools/list", json!({}));
    let own = world.app.config.public_url.clone();
    for origin in [
        "http://localhost:6274",
        "http://127.0.0.1",
        "http://[::1]:80",
        "http://[::1]",
        &own,
    ] {
        client.send(200, &list, &[("origin", origin)]).await;
    }
    for origin in [
        "http://evil.example.com",
        "null",
        "http://localhost.evil.example",
        "https://127.0.0.1.evil.example:80",
    ] {
        assert_eq!(
            client.send(403, &list, &[("origin", origin)]).await.code(),
            "foreign_origin",
            "{origin}"
        );
    }
}

async fn an_argument_that_is_too_long_is_refused_after_the_key(world: &World) {
    world.load_demo().await;
    let mut client = McpClient::new(world, "2025-11-25");
    let message = |length: usize| {
        let arguments = json!({"term": "x".repeat(length), "query": "x".repeat(length)});
        client.message(
            "tools/call",
            json!({"name": "search_nonprofits", "arguments": arguments}),
        )
    };
    let (long, longest) = (message(62 << 10), message(400 << 10));
    for message in [&long, &longest] {
        let refused = client.send(413, message, &[]).await;
        assert_eq!(refused.code(), "too_large");
    }
    client.key = None;
    assert_eq!(client.send(401, &longest, &[]).await.code(), "missing_key");
}
