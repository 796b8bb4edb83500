//! An import with pictures, killed at any moment, leaves no picture without its bytes.

use crate::database::Database;
use crate::instance::{Instance, rounds, stderr_of};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const LINES: u32 = 40;
/// Rounds for each database, unless `CAUSEWAY_FAULT_ROUNDS` is set.
const ROUNDS: u32 = 4;

#[test]
fn a_killed_import_leaves_no_picture_without_its_bytes_on_sqlite() {
    kill_imports(Database::Sqlite);
}

#[test]
fn a_killed_import_leaves_no_picture_without_its_bytes_on_postgres() {
    kill_imports(Database::Postgres);
}

fn kill_imports(database: Database) {
    if !database.is_available() {
        return;
    }
    let rounds = rounds("CAUSEWAY_FAULT_ROUNDS", ROUNDS);
    let mut instance = Instance::new(database, 5_000);
    let file = instance.folder.path().join("pictures.jsonl");
    write_lines(&file, 0);
    let start = Instant::now();
    instance.run(&["import", "nonprofits", &file.display().to_string()]);
    let usual_duration = start.elapsed();
    let mut killed = 0;
    let mut pictures = 0;
    for round in 1..=rounds {
        write_lines(&file, round);
        let mut command = instance.command(&["import", "nonprofits"]);
        command.arg(&file).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the binary runs");
        let moment = instance.random.below(usual_duration.as_micros() as u64);
        std::thread::sleep(Duration::from_micros(moment));
        process.kill().expect("a process that can be killed");
        let output = process.wait_with_output().expect("a process");
        match output.status.code() {
            None => killed += 1,
            Some(code) => assert_eq!(code, 0, "{}", stderr_of(&output)),
        }
        // The check reads every picture and compares its hash.
        let check = instance.run(&["check"]);
        let now = check["pictures"].as_u64().expect("a number");
        assert!(now >= pictures, "a stored picture is gone");
        pictures = now;
    }
    // The last killed import succeeds when it is repeated.
    instance.run(&["import", "nonprofits", &file.display().to_string()]);
    let check = instance.run(&["check"]);
    assert!(check["pictures"].as_u64().expect("a number") >= u64::from(2 * LINES));
    println!("{database:?}: killed {killed} of {rounds} imports with {pictures} pictures");
}

/// Writes lines with pictures that no other round has.
fn write_lines(file: &Path, round: u32) {
    let mut lines = String::new();
    for line in 0..LINES {
        let bytes = pattern_png(round * LINES + line);
        let (ein, logo) = (20_000_000 + line, BASE64_STANDARD.encode(&bytes));
        lines.extend([format!(
            "{{\"ein\":\"{ein:09}\",\"name\":\"Nonprofit {line}\",\"logo\":\"data:image/png;base64,{logo}\"}}\n"
        )]);
    }
    std::fs::write(file, lines).expect("a writable file");
}

/// A PNG of black and white fields that differ for each number, also when it is compressed.
pub fn pattern_png(number: u32) -> Vec<u8> {
    const FIELD: u32 = 8;
    const FIELDS: u32 = 6;
    const SIDE: u32 = FIELD * FIELDS;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIDE, SIDE);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("memory takes all bytes");
    let pixels: Vec<u8> = (0..SIDE * SIDE)
        .map(|at| at / SIDE / FIELD * FIELDS + at % SIDE / FIELD)
        .map(|field| {
            if number.checked_shr(field).unwrap_or(0) & 1 == 1 {
                255
            } else {
                0
            }
        })
        .collect();
    writer.write_image_data(&pixels).expect("the size fits");
    writer.finish().expect("memory takes all bytes");
    bytes
}
