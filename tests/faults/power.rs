//! A loss of power: what was never synced is gone, and what was acknowledged is there.
//!
//! Killing a process shows nothing of this, since the system writes out what it was given. So every write and sync of
//! the server is watched: an image is the database with as much of its log as was synced at the moment of an answer,
//! and with a torn piece of what came after.

use crate::journal::Written;
use crate::place::Place;
use crate::server::Server;
use crate::store::Kind;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CREATES: usize = 20;

/// Can processes be watched here?
pub fn can_trace() -> bool {
    let traced = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    let can = traced.is_ok_and(|output| output.status.success());
    if !can {
        println!("not run: no process can be watched here");
    }
    can
}

#[test]
fn what_was_acknowledged_outlives_a_loss_of_power() {
    if !can_trace() {
        return;
    }
    let mut written = Written::new(Place::new(Kind::Sqlite, 1_000));
    let server = written.place.serve();
    written.begin(server.address);
    server.stop();
    let trace = written.place.folder.path().join("trace");
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
    let mut server = Server::start_traced(&written.place, &options);
    for number in 0..CREATES {
        let answer = written
            .create(server.address, &format!("power-{number}"))
            .expect("an answer");
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    }
    server.kill();
    let synced = synced_at_answers(&fs::read_to_string(&trace).expect("a trace"));
    assert_eq!(synced.len(), CREATES, "{synced:?}");
    assert!(synced.is_sorted() && synced[0] > 0, "{synced:?}");

    let sound = written.place.data.clone();
    let log = fs::read(sound.join("causeway.db-wal")).expect("a log");
    let image = written.place.folder.path().join("image");
    for (number, length) in synced.into_iter().enumerate() {
        // The first was made before.
        let acknowledged = number as u64 + 2;
        assert_eq!(
            fundraisers(&written.place, &sound, &image, &log[..length]),
            acknowledged
        );
        let torn = length + written.place.dice.below(20_000) as usize;
        let mut torn = log[..torn.min(log.len())].to_vec();
        if torn.len() > length {
            let place = length + written.place.dice.below((torn.len() - length) as u64) as usize;
            torn[place] ^= 1 << written.place.dice.below(8);
        }
        assert!(
            fundraisers(&written.place, &sound, &image, &torn) >= acknowledged,
            "{number}"
        );
    }
}

/// How many bytes of the log were synced when each answer left.
fn synced_at_answers(trace: &str) -> Vec<usize> {
    let (mut end, mut synced, mut answers) = (0, 0, Vec::new());
    let mut under_way: HashMap<&str, usize> = HashMap::new();
    for line in trace.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        let call = call.trim_start();
        let is_of_log = call.contains("causeway.db-wal>");
        if call.starts_with("pwrite64(") && is_of_log {
            let numbers = call.rsplit('"').next().unwrap_or_default();
            let mut numbers = numbers
                .split([',', ' ', ')', '.'])
                .filter_map(|part| part.parse::<usize>().ok());
            let (length, offset) = numbers.next().zip(numbers.next()).expect("a length and a place");
            assert!(offset <= end, "the log begins anew: {line}");
            end = end.max(offset + length);
        } else if call.contains("sync(") && is_of_log {
            match call.contains("unfinished") {
                true => _ = under_way.insert(thread, end),
                false => synced = end,
            }
        } else if call.contains("sync resumed>") {
            synced = under_way.remove(thread).map_or(synced, |end| synced.max(end));
        } else if call.contains("\"HTTP/1.1 200 ") {
            answers.push(synced);
        }
    }
    answers
}

/// How many fundraisers a server finds in an image, whose journal is proved.
fn fundraisers(place: &Place, sound: &Path, image: &PathBuf, log: &[u8]) -> u64 {
    let _ = fs::remove_dir_all(image);
    fs::create_dir(image).expect("a folder");
    for file in ["causeway.db", "directory"] {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(sound.join(file))
            .arg(image)
            .status();
        assert!(copied.is_ok_and(|copied| copied.success()), "{file}");
    }
    fs::write(image.join("causeway.db-wal"), log).expect("a file");
    let checked = place.run(&["check", "--data", image.to_str().expect("a path")]);
    checked["fundraisers"].as_u64().expect("a number")
}
