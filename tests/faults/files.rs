//! Two IRS files with mostly the same EINs and different data.

use crate::instance::BINARY;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One in this many rows is the same in both files.
const SAME_ROW_INTERVAL: usize = 3;
/// One in this many rows is in only one of the files.
const UNIQUE_ROW_INTERVAL: usize = 33;

/// Both files, and the EINs whose rows differ.
pub struct Files {
    pub a: PathBuf,
    pub b: PathBuf,
    pub differing: Vec<String>,
}

impl Files {
    /// Writes both files. The first has `rows` rows.
    pub fn new(folder: &Path, rows: usize) -> Files {
        let (first, second) = (generated(rows, 1), generated(rows, 2));
        let (header, first) = first.split_first().expect("a header");
        let mut b = vec![header.clone()];
        let mut differing = Vec::new();
        for (index, (row, other)) in first.iter().zip(&second[1..]).enumerate() {
            let (ein, rest) = row.split_once(',').expect("an EIN");
            let (_, other) = other.split_once(',').expect("an EIN");
            if index % UNIQUE_ROW_INTERVAL == 0 {
                differing.push(ein.to_owned());
            } else if index % SAME_ROW_INTERVAL == 0 {
                b.push(row.clone());
            } else {
                b.push(format!("{ein},{other}"));
                if rest != other {
                    differing.push(ein.to_owned());
                }
            }
        }
        for (index, row) in generated(rows / UNIQUE_ROW_INTERVAL, 3)[1..].iter().enumerate() {
            let (_, rest) = row.split_once(',').expect("an EIN");
            // Generated EINs start with 01 or more, so those that start with 00 are free.
            let ein = format!("{:09}", 1_000 + index);
            b.push(format!("{ein},{rest}"));
            differing.push(ein);
        }
        let files = Files {
            a: folder.join("a.csv"),
            b: folder.join("b.csv"),
            differing,
        };
        write(&files.a, header, first);
        write(&files.b, "", &b);
        files
    }

    /// Evenly spaced EINs whose rows differ.
    pub fn sample(&self, count: usize) -> Vec<String> {
        let step = (self.differing.len() / count).max(1);
        self.differing.iter().step_by(step).cloned().collect()
    }
}

/// The lines of a generated file, starting with the header.
pub fn generated(rows: usize, seed: u64) -> Vec<String> {
    let output = Command::new(BINARY)
        .args([
            "generate",
            "--count",
            &rows.to_string(),
            "--seed",
            &seed.to_string(),
        ])
        .output()
        .expect("the binary runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout)
        .expect("plain text")
        .lines()
        .map(str::to_owned)
        .collect()
}

fn write(path: &Path, header: &str, rows: &[String]) {
    let mut text = String::new();
    for line in std::iter::once(header)
        .filter(|header| !header.is_empty())
        .chain(rows.iter().map(String::as_str))
    {
        text.push_str(line);
        text.push_str("\r\n");
    }
    fs::write(path, text).expect("a writable test file");
}
