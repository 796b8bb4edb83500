//! An import with pictures that is killed at any moment leaves no picture without its bytes.

use crate::place::{Place, told};
use crate::store::Kind;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, Rgb, RgbImage};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

const LINES: u32 = 40;
/// Rounds for each database, where `CAUSEWAY_FAULT_ROUNDS` says nothing else.
const ROUNDS: u32 = 12;

#[test]
fn an_import_killed_among_its_pictures_leaves_none_that_dangles_on_sqlite() {
    kill_imports(Kind::Sqlite);
}

#[test]
fn an_import_killed_among_its_pictures_leaves_none_that_dangles_on_postgres() {
    kill_imports(Kind::Postgres);
}

fn kill_imports(kind: Kind) {
    if !kind.is_here() {
        return;
    }
    let rounds = std::env::var("CAUSEWAY_FAULT_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(ROUNDS);
    let mut place = Place::new(kind, 5_000);
    let file = place.folder.path().join("pictures.jsonl");
    write_lines(&file, 0);
    let begun = Instant::now();
    place.run(&["import", "nonprofits", &file.display().to_string()]);
    let usual = begun.elapsed();
    let mut killed = 0;
    let mut pictures = 0;
    for round in 1..=rounds {
        write_lines(&file, round);
        let mut command = place.command(&["import", "nonprofits"]);
        command.arg(&file).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the binary runs");
        let moment = Duration::from_micros(place.dice.below(usual.as_micros() as u64));
        std::thread::sleep(moment);
        process.kill().expect("a process that can be killed");
        let output = process.wait_with_output().expect("a process");
        match output.status.code() {
            None => killed += 1,
            Some(code) => assert_eq!(code, 0, "{}", told(&output)),
        }
        // The proof reads every picture and compares its hash; it fails where one dangles.
        let proof = place.run(&["check"]);
        let now = proof["pictures"].as_u64().expect("a number");
        assert!(now >= pictures, "a picture that was stored is gone");
        pictures = now;
    }
    // What was killed half way goes through when it is tried again.
    place.run(&["import", "nonprofits", &file.display().to_string()]);
    let proof = place.run(&["check"]);
    assert!(proof["pictures"].as_u64().expect("a number") >= u64::from(2 * LINES));
    println!("{kind:?}: killed {killed} of {rounds} imports among {pictures} pictures");
}

/// Lines with a picture each that no other round has.
fn write_lines(file: &Path, round: u32) {
    let mut lines = String::new();
    for line in 0..LINES {
        let shade = Rgb([round as u8, line as u8, (round >> 8) as u8]);
        let mut bytes = Vec::new();
        DynamicImage::from(RgbImage::from_pixel(48, 48, shade))
            .write_with_encoder(PngEncoder::new(&mut bytes))
            .expect("memory takes all bytes");
        let (ein, logo) = (20_000_000 + line, BASE64_STANDARD.encode(&bytes));
        lines.extend([format!(
            "{{\"ein\":\"{ein:09}\",\"name\":\"Body {line}\",\"logo\":\"data:image/png;base64,{logo}\"}}\n"
        )]);
    }
    std::fs::write(file, lines).expect("a file that can be written");
}
