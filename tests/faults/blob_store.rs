//! The blob store is lost and returns under load: pictures are refused with 503, and everything else is served.

use crate::client;
use crate::database::Database;
use crate::instance::{Instance, eventually, stderr_of};
use crate::killed_picture_import::pattern_png;
use crate::proxy::Proxy;
use crate::server::Server;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const URL: &str = "CAUSEWAY_TEST_S3_URL";
const EIN: &str = "020000000";
const READERS: usize = 4;

#[test]
fn pictures_are_refused_while_the_blob_store_is_unreachable() {
    lose_blob_store(Proxy::disconnect);
}

#[test]
fn pictures_are_refused_while_the_blob_store_does_not_respond() {
    lose_blob_store(Proxy::silence);
}

fn lose_blob_store(lose: fn(&Proxy)) {
    let Ok(url) = std::env::var(URL) else {
        println!(
            "skipped: {URL} is not set; tests/with-services.sh starts an S3-compatible server and sets it"
        );
        return;
    };
    let instance = Instance::new(Database::Sqlite, 5_000);
    let address = url
        .split_once("http://")
        .and_then(|(_, rest)| rest.split('&').next());
    let proxy = Proxy::start(address.expect("an endpoint").parse().expect("an address"));
    let prefix = format!("{}-{}", std::process::id(), proxy.address.port());
    let url = format!("s3://causeway-tests/{prefix}?endpoint=http://{}", proxy.address);
    let settings = [("CAUSEWAY_BLOBS_URL", url.as_str())];
    let import = |number: u32| -> Output {
        let file = instance.folder.path().join("picture.jsonl");
        let logo = BASE64_STANDARD.encode(pattern_png(number));
        let line = format!(
            "{{\"ein\":\"{EIN}\",\"name\":\"Nonprofit\",\"logo\":\"data:image/png;base64,{logo}\"}}\n"
        );
        std::fs::write(&file, line).expect("a writable file");
        let mut command: Command = instance.command(&["import", "nonprofits"]);
        command
            .arg(file)
            .envs(settings)
            .output()
            .expect("the binary runs")
    };
    let check = || {
        let mut command = instance.command(&["check", "--json"]);
        let output = command.envs(settings).output().expect("the binary runs");
        assert!(output.status.success(), "{}", stderr_of(&output));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        report["pictures"].as_u64().expect("a number")
    };
    let imported = import(0);
    assert!(imported.status.success(), "{}", stderr_of(&imported));
    let server = Server::start(&instance, &settings);
    let details = instance.path(EIN);
    let mut media = String::new();
    eventually("the nonprofit is shown", || {
        let response = server.get(&details);
        if response.status == 200 {
            let url = response.json()["data"]["nonprofit"]["logoUrl"].clone();
            let (_, path) = url
                .as_str()
                .expect("a URL")
                .split_once("/media/")
                .expect("a picture");
            media = format!("/media/{path}");
        }
        response.status == 200
    });

    let (shown, refused, is_over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let more = |message: &str, counter: &AtomicUsize| {
        let before = counter.load(Ordering::Relaxed);
        eventually(message, || counter.load(Ordering::Relaxed) > before + READERS);
    };
    thread::scope(|scope| {
        // The readers end also if something below panics.
        let _end = End(&is_over);
        for _ in 0..READERS {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let response = client::get(server.address, &media).expect("a response");
                    match response.status {
                        200 => shown.fetch_add(1, Ordering::Relaxed),
                        503 => {
                            assert!(response.header("retry-after").is_some());
                            refused.fetch_add(1, Ordering::Relaxed)
                        }
                        status => panic!("{status}: {}", String::from_utf8_lossy(&response.body)),
                    };
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
        more("pictures are shown", &shown);
        for round in 1..=2 {
            lose(&proxy);
            more("pictures are refused", &refused);
            let import = import(round);
            assert_eq!(import.status.code(), Some(1), "a picture cannot be stored");
            assert!(
                stderr_of(&import).contains("cannot store a picture"),
                "{}",
                stderr_of(&import)
            );
            assert_eq!(server.get(&details).status, 200);
            assert_eq!(server.get("/readyz").status, 200);
            proxy.restore();
            more("pictures are shown again", &shown);
        }
    });
    drop(server);
    lose(&proxy);
    start_without_blob_store(&instance, &settings, (&details, &media), || proxy.restore());
    assert_eq!(check(), 1, "a refused picture has no row");
    let imported = import(3);
    assert!(imported.status.success(), "{}", stderr_of(&imported));
    assert_eq!(check(), 2);
}

/// A server that is started while the blob store is away shows everything else, and recovers alone.
fn start_without_blob_store(
    instance: &Instance,
    settings: &[(&str, &str)],
    (details, media): (&str, &str),
    restore: impl FnOnce(),
) {
    let server = Server::start(instance, settings);
    assert_eq!(server.get(details).status, 200);
    assert_eq!(server.get(media).status, 503);
    restore();
    eventually("pictures are shown", || server.get(media).status == 200);
    let log = server.log();
    assert!(log.contains("started without the blob store"), "{log}");
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
