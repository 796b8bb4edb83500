//! `causeway mcp`

use super::{Cli, binary};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// Sends messages to `causeway mcp` and returns its answers.
fn talk(cli: &Cli, keys: &[&str], messages: &[Value]) -> Vec<Value> {
    let mut server = binary()
        .arg("mcp")
        .args(keys)
        .arg("--data")
        .arg(cli.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    for message in messages {
        writeln!(input, "{message}").unwrap();
    }
    drop(input);
    let output = server.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn an_application_on_this_machine_calls_tools() {
    let cli = Cli::new();
    cli.write(
        "more.jsonl",
        r#"{"ein":"530196605","name":"American Red Cross","city":"Washington","state":"DC"}"#,
    );
    cli.run(0, &["import", "nonprofits", "more.jsonl"]);
    cli.run(0, &["account", "create", "ada"]);
    let key = cli.json(&["key", "create", "--account", "ada", "--kind", "public"]);
    let private = cli.json(&["key", "create", "--account", "ada", "--kind", "private"]);
    let (key, private) = (key["key"].as_str().unwrap(), private["key"].as_str().unwrap());
    let details = json!({"name": "get_nonprofit", "arguments": {"identifier": "530196605"}});
    let client = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let answers = talk(
        &cli,
        &["--key", key, "--private-key", private],
        &[
            request(1, "initialize", &client),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            request(2, "tools/call", &details),
            request(
                3,
                "tools/call",
                &json!({"name": "create_fundraiser", "arguments": {"title": ""}}),
            ),
        ],
    );
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[0]["result"]["serverInfo"]["name"], "causeway");
    let found = &answers[1]["result"]["structuredContent"]["data"]["nonprofit"];
    assert_eq!(found["name"], "American Red Cross");
    assert!(
        answers[2]["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("invalid_body")
    );
    let refused = talk(
        &cli,
        &["--key", "cwpk_wrong"],
        &[request(9, "tools/call", &details)],
    );
    assert_eq!(
        (&refused[0]["id"], &refused[0]["error"]["data"]["code"]),
        (&json!(9), &json!("invalid_key"))
    );
}
