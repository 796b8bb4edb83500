//! `causeway try`, `causeway completions` and `causeway man`.

use super::binary;
use platform::webhook_signature::{WebhookHeaders, WebhookSecret};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

/// Sends a request and returns the status line.
fn status(address: &str, path: &str, headers: &str) -> String {
    let response = send(address, "GET", path, headers, "");
    response.lines().next().unwrap_or_default().to_owned()
}

fn send(address: &str, method: &str, path: &str, headers: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// Sends a JSON body and returns the JSON of the response.
fn post(address: &str, path: &str, authorization: &str, body: &str) -> Value {
    let headers = format!("{authorization}Content-Type: application/json\r\n");
    let response = send(address, "POST", path, &headers, body);
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{response}");
    serde_json::from_str(body).unwrap()
}

/// Accepts a webhook, and returns its path if one of the secrets signed it.
fn receive(listener: &TcpListener, secrets: &[&str]) -> String {
    let mut stream = listener.accept().unwrap().0;
    let mut request = BufReader::new(stream.try_clone().unwrap());
    let (mut start, mut headers) = (String::new(), HashMap::new());
    request.read_line(&mut start).unwrap();
    loop {
        let mut line = String::new();
        request.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    request.read_exact(&mut body).unwrap();
    stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    let signed = WebhookHeaders {
        id: &headers["webhook-id"],
        timestamp: &headers["webhook-timestamp"],
        signature: &headers["webhook-signature"],
    };
    let now = signed.timestamp.parse().unwrap();
    let is_signed = |secret: &&str| {
        let secret = WebhookSecret::parse(secret).unwrap();
        secret.verify(signed, &body, now).is_ok()
    };
    assert!(secrets.iter().any(is_signed), "{headers:?}");
    start.split(' ').nth(1).unwrap().to_owned()
}

#[test]
fn a_scratch_server_has_data_and_keys_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let mut server = binary()
        .args(["try", "--listen", "127.0.0.1:0"])
        .env("TMPDIR", temporary.path())
        // The settings of a real server do not apply.
        .env("CAUSEWAY_DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")
        .env("CAUSEWAY_PUBLIC_URL", "https://giving.example.org")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut next = |start: &str| {
        let line = lines.find(|line| {
            line.as_ref()
                .is_ok_and(|line| line.trim_start().starts_with(start))
        });
        line.unwrap_or_else(|| panic!("no line starts with {start}"))
            .unwrap()
    };
    let url = next("Causeway listens on ");
    let address = url.rsplit('/').next().unwrap().to_owned();
    let curl = next("curl ");
    let public = curl
        .rsplit("apiKey=")
        .next()
        .unwrap()
        .trim_end_matches('\'')
        .to_owned();
    let private = next("cwsk_").trim().to_owned();
    let listen = next("causeway webhook listen ").trim().to_owned();
    let path = format!("/v0.2/nonprofit/530196605?apiKey={public}");
    assert_eq!(status(&address, &path, ""), "HTTP/1.1 200 OK");
    let basic = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("{public}:{private}"));
    let authorization = format!("Authorization: Basic {basic}\r\n");
    assert_eq!(
        status(&address, "/v0.2/fundraisers", &authorization),
        "HTTP/1.1 200 OK"
    );
    // A new developer gets events by the printed command, and by an endpoint on the same machine.
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", receiver.local_addr().unwrap());
    let listen = listen.replace("http://localhost:3000/hook", &format!("{url}/listened"));
    let mut listening = binary()
        .args(listen.split(' ').skip(1))
        .args(["--count", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(listening.stdout.take().unwrap()).lines();
    let signing = printed.next().unwrap().unwrap();
    let first = signing.strip_prefix("Signing with ").unwrap();
    assert!(
        printed
            .next()
            .unwrap()
            .unwrap()
            .starts_with("Waiting for events of ")
    );
    let endpoint = format!(r#"{{"url": "{url}/posted"}}"#);
    let created = post(&address, "/v0.2/webhook", &authorization, &endpoint);
    let test = format!("/v0.2/webhook/{}/test", created["id"].as_str().unwrap());
    post(&address, &test, &authorization, "");
    let secrets = [first, created["secret"].as_str().unwrap()];
    let mut paths = [receive(&receiver, &secrets), receive(&receiver, &secrets)];
    paths.sort();
    assert_eq!(paths, ["/listened", "/posted"]);
    let line = printed.next().unwrap().unwrap();
    assert!(line.starts_with("ping  evt_") && line.ends_with("204"), "{line}");
    assert!(listening.wait().unwrap().success());
    let pid = Pid::from_raw(server.id() as i32).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert!(server.wait().unwrap().success());
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn completions_and_man_pages_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = binary().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("revocations"),
            "{shell}: {script:.200}"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let status = binary()
        .arg("man")
        .arg(folder.path().join("man1"))
        .status()
        .unwrap();
    assert!(status.success());
    for page in ["causeway.1", "causeway-serve.1", "causeway-import-990.1"] {
        let text = fs::read_to_string(folder.path().join("man1").join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(!binary().arg("man").arg(file).status().unwrap().success());
}
