//! `causeway blobs copy`, and blob stores that a server refuses to start with.

use super::{Cli, binary};
use crate::s3::empty_store;
use crate::wait::wait_until;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Larger than a part of an upload in parts.
const LARGE: usize = 9 << 20;
const BLOBS: usize = 120;
/// Longer than a server needs on any machine to find that it cannot use a blob store.
const MAX_START: Duration = Duration::from_mins(5);

#[test]
fn blobs_are_copied_to_a_bucket_and_back() {
    let Some(url) = empty_store() else {
        return;
    };
    let cli = Cli::new();
    let original = write_blobs(&cli.path().join("from"));
    let total = original.len();
    let copied = cli.json(&["blobs", "copy", "from", &url]);
    assert_eq!(copied["copied"]["blobs"], total);
    let again = cli.json(&["blobs", "copy", "from", &url]);
    assert_eq!(
        (&again["copied"]["blobs"], &again["skipped"]["blobs"]),
        (&0.into(), &total.into())
    );

    let folder = format!("file://{}", cli.path().join("back").display());
    let back = cli.run(0, &["blobs", "copy", &url, &folder]);
    assert!(
        back.stdout.contains(&format!("copied {total} blobs")),
        "{}",
        back.stdout
    );
    assert!(read_blobs(&cli.path().join("back")) == original);

    // A blob that differs is copied again, even if it has the same size. Nothing is deleted.
    fs::write(cli.path().join("back/pictures/7.jpg"), b"number 00008").unwrap();
    fs::write(cli.path().join("back/pictures/mine.txt"), b"mine").unwrap();
    let repaired = cli.json(&["blobs", "copy", &url, "back"]);
    assert_eq!(repaired["copied"]["blobs"], 1);
    assert_eq!(repaired["skipped"]["blobs"], total - 1);
    let mut expected = original.clone();
    expected.insert("pictures/mine.txt".to_owned(), b"mine".to_vec());
    assert!(read_blobs(&cli.path().join("back")) == expected);

    let other = empty_store().unwrap();
    let between = cli.json(&["blobs", "copy", &url, &other]);
    assert_eq!(between["copied"]["blobs"], total);
    let between = cli.json(&["blobs", "copy", &url, &other]);
    assert_eq!(between["skipped"]["blobs"], total);
}

#[test]
fn a_copy_that_was_killed_continues() {
    let cli = Cli::new();
    let original = write_blobs(&cli.path().join("from"));
    let target = cli.path().join("to");
    for _ in 0..3 {
        let before = read_complete_blobs(&target).len();
        let mut process = binary()
            .args(["blobs", "copy", "from", "to"])
            .current_dir(cli.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("some blobs are copied", || {
            read_complete_blobs(&target).len() > before || process.try_wait().unwrap().is_some()
        });
        process.kill().unwrap();
        process.wait().unwrap();
        // Nothing is there in part under its name.
        for (name, bytes) in read_complete_blobs(&target) {
            assert!(original[&name] == bytes, "{name}");
        }
    }
    let rest = cli.json(&["blobs", "copy", "from", "to"]);
    let count = |name: &str| rest[name]["blobs"].as_u64().unwrap();
    assert_eq!(
        count("copied") + count("skipped"),
        original.len() as u64,
        "{rest}"
    );
    assert!(count("skipped") > 0, "{rest}");
    assert!(read_complete_blobs(&target) == original);
}

#[test]
fn locations_that_cannot_be_used_are_refused_with_advice() {
    let cli = Cli::new();
    fs::create_dir(cli.path().join("from")).unwrap();
    fs::write(cli.path().join("file"), b"").unwrap();
    let address = unused_address();
    for (from, to, reason) in [
        ("nothing", "to", "there is no folder"),
        ("file", "to", "there is no folder"),
        ("from", "file", "is not a folder"),
        ("from", "from", "name two separate locations"),
        ("from", "from/inner", "name two separate locations"),
        ("from", "ftp://host/folder", "is not the URL of a blob store"),
        ("s3://bucket/a", "s3://bucket/a/b", "name two separate locations"),
        ("from", "s3://key:word@bucket", "set AWS_ACCESS_KEY_ID"),
        ("from", "s3://bucket?endpoint=here", "is not a URL"),
        (
            "from",
            &format!("s3://bucket?endpoint=http://{address}"),
            "could not write to the blob store",
        ),
        (
            &format!("s3://bucket?endpoint=http://{address}"),
            "to",
            "could not list the blobs",
        ),
    ] {
        let error = cli.fail(&["blobs", "copy", from, to]);
        assert!(error.contains(reason), "{from} {to}: {error}");
    }
    assert!(!cli.path().join("nothing").exists());
    cli.run(2, &["blobs", "copy", "from"]);
}

#[test]
fn a_server_refuses_a_blob_store_that_ignores_conditional_writes() {
    let endpoint = serve_without_conditions();
    let error = start(&format!("s3://pictures?endpoint={endpoint}"));
    assert!(
        error.contains("ignores If-None-Match") && error.contains(&endpoint),
        "{error}"
    );
}

#[test]
fn a_server_refuses_a_blob_store_that_it_cannot_use() {
    for (status, code, reason) in [
        ("403 Forbidden", "InvalidAccessKeyId", "refused the credentials"),
        (
            "403 Forbidden",
            "SignatureDoesNotMatch",
            "refused the credentials",
        ),
        (
            "404 Not Found",
            "NoSuchBucket",
            "the bucket of the blob store s3://pictures at",
        ),
    ] {
        let endpoint = serve_responses(move |_| {
            let body = format!("<Error><Code>{code}</Code><Message>No.</Message></Error>");
            format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        });
        let error = start(&format!("s3://pictures?endpoint={endpoint}"));
        assert!(error.contains(reason), "{error}");
    }
    if let Some(url) = empty_store() {
        let (_, parameters) = url.split_once('?').unwrap();
        let missing = format!("s3://no-such-bucket?{parameters}");
        let error = Cli::new().fail(&["blobs", "copy", &missing, "to"]);
        assert!(error.contains("(NoSuchBucket)"), "{error}");
        let error = start(&missing);
        assert!(
            error.contains("s3://no-such-bucket at") && error.contains("does not exist"),
            "{error}"
        );
    }
    let error = start("s3://pictures?endpont=http://127.0.0.1");
    assert!(error.contains("unknown parameter endpont"), "{error}");
}

/// Starts a server that must refuse to start, and returns its error: one line with the reason, one with what to do.
fn start(blobs_url: &str) -> String {
    let cli = Cli::new();
    let mut process = binary()
        .args([
            "serve",
            "--empty",
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            "off",
            "--data",
            "data",
        ])
        .env("CAUSEWAY_BLOBS_URL", blobs_url)
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .current_dir(cli.path())
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if start.elapsed() > MAX_START {
            process.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = process.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    let start = error.find("causeway: ").expect("a line with the reason");
    assert_eq!(error[start..].lines().count(), 2, "{error}");
    error
}

/// An address at which nothing listens.
fn unused_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A server that stores whatever it is sent, whatever the conditions.
fn serve_without_conditions() -> String {
    serve_responses(|method| match method {
        "PUT" => "HTTP/1.1 200 OK\r\netag: \"1\"\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
    })
}

/// Serves responses that depend only on the method, and returns the endpoint.
fn serve_responses(respond: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // A client that goes away is not an error.
            let _ = respond_to(stream, &respond);
        }
    });
    endpoint
}

/// Responds to one request on a connection.
fn respond_to(stream: TcpStream, respond: impl Fn(&str) -> String) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line)?;
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let response = respond(&method).replacen("\r\n", "\r\nconnection: close\r\n", 1);
    reader.get_mut().write_all(response.as_bytes())
}

/// Writes blobs to a folder, one of them large.
fn write_blobs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::create_dir_all(folder.join("pictures")).unwrap();
    for number in 0..BLOBS {
        fs::write(
            folder.join(format!("pictures/{number}.jpg")),
            format!("number {number:05}"),
        )
        .unwrap();
    }
    let large: Vec<u8> = (0..LARGE).map(|at| (at % 251) as u8).collect();
    fs::write(folder.join("large"), large).unwrap();
    fs::write(folder.join("empty"), b"").unwrap();
    read_blobs(folder)
}

/// The blobs in a folder, by name, without the temporary files of a process that was killed.
fn read_complete_blobs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut blobs = read_blobs(folder);
    blobs.retain(|name, _| !name.contains('#'));
    blobs
}

/// All files in a folder, by name.
fn read_blobs(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut folders, mut blobs) = (vec![folder.to_owned()], BTreeMap::new());
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                blobs.insert(name.to_owned(), bytes);
            }
        }
    }
    blobs
}
