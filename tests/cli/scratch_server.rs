//! `causeway try`, `causeway completions` and `causeway man`.

use super::binary;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// Sends a request and returns the status line.
fn status(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n"
    )
    .unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response.lines().next().unwrap_or_default().to_owned()
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
    let path = format!("/v0.2/nonprofit/530196605?apiKey={public}");
    assert_eq!(status(&address, &path, ""), "HTTP/1.1 200 OK");
    let basic = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, format!("{public}:{private}"));
    let authorization = format!("Authorization: Basic {basic}\r\n");
    assert_eq!(
        status(&address, "/v0.2/fundraisers", &authorization),
        "HTTP/1.1 200 OK"
    );
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
