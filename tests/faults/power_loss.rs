//! After a power loss, everything that was not synced is gone, and everything acknowledged is there.
//!
//! Killing a process does not show this, because the operating system still writes what it was given. Therefore every
//! write and sync of the server is traced. An image of the disk is the database with the part of the write-ahead log
//! that was synced when a response was sent, plus a damaged piece of what came after.

use crate::database::Database;
use crate::instance::{Instance, scaled};
use crate::ledger::Workload;
use crate::server::Server;
use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const CREATES: usize = 6;

/// Whether processes can be traced here. Prints the reason if not.
pub fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can_trace = traced.is_ok_and(|output| output.status.success());
    if !can_trace {
        println!("skipped: processes cannot be traced here");
    }
    can_trace
}

#[test]
fn acknowledged_writes_survive_a_power_loss() {
    if !can_trace() {
        return;
    }
    let mut workload = Workload::new(Instance::new(Database::Sqlite, 1_000));
    let server = workload.instance.serve();
    workload.begin(server.address);
    server.stop();
    let trace = workload.instance.folder.path().join("trace");
    let calls = "trace=pwrite64,fdatasync,fsync,sendto,writev";
    let options = [
        "-y",
        "-s",
        "16",
        "-e",
        calls,
        "-o",
        trace.to_str().expect("a path"),
    ];
    let mut server = Server::start_traced(&workload.instance, &options);
    let creates = scaled(CREATES);
    for number in 0..creates {
        let response = workload
            .create(server.address, &format!("power-{number}"))
            .expect("a response");
        assert_eq!(
            response.status,
            200,
            "{}",
            String::from_utf8_lossy(&response.body)
        );
    }
    server.kill();
    let synced = synced_at_responses(&fs::read_to_string(&trace).expect("a trace"));
    assert_eq!(synced.len(), creates, "{synced:?}");
    assert!(synced.is_sorted() && synced[0] > 0, "{synced:?}");

    let data = workload.instance.data.clone();
    let log = fs::read(data.join("causeway.db-wal")).expect("a log");
    let image = workload.instance.folder.path().join("image");
    for (number, length) in synced.into_iter().enumerate() {
        // One fundraiser was created before.
        let acknowledged = number as u64 + 2;
        assert_eq!(
            fundraisers(&workload.instance, &data, &image, &log[..length]),
            acknowledged
        );
        let end = length + workload.instance.random.below(20_000) as usize;
        let mut torn = log[..end.min(log.len())].to_vec();
        if torn.len() > length {
            let unsynced = (torn.len() - length) as u64;
            let at = length + workload.instance.random.below(unsynced) as usize;
            torn[at] ^= 1 << workload.instance.random.below(8);
        }
        assert!(
            fundraisers(&workload.instance, &data, &image, &torn) >= acknowledged,
            "{number}"
        );
    }
}

/// The size of the synced part of the log when each response was sent.
fn synced_at_responses(trace: &str) -> Vec<usize> {
    let (mut end, mut synced, mut responses) = (0, 0, Vec::new());
    let mut unfinished: HashMap<&str, usize> = HashMap::new();
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        let call = call.trim_start();
        let is_log = call.contains("causeway.db-wal>");
        if call.starts_with("pwrite64(") && is_log {
            let numbers = call.rsplit('"').next().unwrap_or_default();
            let mut numbers = numbers
                .split([',', ' ', ')', '.'])
                .filter_map(|part| part.parse::<usize>().ok());
            let (length, offset) = numbers
                .next()
                .zip(numbers.next())
                .expect("a length and an offset");
            assert!(offset <= end, "the log was restarted: {line}");
            end = end.max(offset + length);
        } else if call.contains("sync(") && is_log {
            if call.contains("unfinished") {
                unfinished.insert(thread, end);
            } else {
                synced = end;
            }
        } else if call.contains("sync resumed>") {
            synced = unfinished.remove(thread).map_or(synced, |end| synced.max(end));
        } else if call.contains("\"HTTP/1.1 200 ") {
            responses.push(synced);
        }
    }
    responses
}

/// Checks an image and returns the number of its fundraisers.
fn fundraisers(instance: &Instance, data: &Path, image: &PathBuf, log: &[u8]) -> u64 {
    let _ = fs::remove_dir_all(image);
    DirBuilder::new().mode(0o700).create(image).expect("a folder");
    for file in ["causeway.db", "secret", "directory", "blobs"] {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(data.join(file))
            .arg(image)
            .status();
        assert!(copied.is_ok_and(|copied| copied.success()), "{file}");
    }
    fs::write(image.join("causeway.db-wal"), log).expect("a file");
    let checked = instance.run(&["check", "--data", image.to_str().expect("a path")]);
    checked["fundraisers"].as_u64().expect("a number")
}
