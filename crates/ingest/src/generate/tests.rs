use std::collections::{HashMap, HashSet};

use super::*;
use crate::irs::bmf::BmfReader;

fn file(count: u64, seed: u64) -> String {
    let mut bytes = Vec::new();
    generate(count, seed, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Returns the fields of every row. Rows with quotes are left out.
fn rows(file: &str) -> Vec<Vec<&str>> {
    file.split("\r\n")
        .skip(1)
        .filter(|line| !line.contains('"'))
        .map(|line| line.split(',').collect())
        .filter(|fields: &Vec<_>| fields.len() > 1)
        .collect()
}

fn share(rows: &[Vec<&str>], matches: impl Fn(&[&str]) -> bool) -> f64 {
    rows.iter().filter(|fields| matches(fields)).count() as f64 / rows.len() as f64
}

#[test]
fn the_same_seed_produces_the_same_bytes() {
    assert_eq!(file(3_000, 7), file(3_000, 7));
    assert_ne!(file(3_000, 7), file(3_000, 8));
}

#[test]
fn a_row_does_not_depend_on_the_number_of_rows() {
    let (short, long) = (file(500, 7), file(2_000, 7));
    for (one, other) in short.lines().zip(long.lines()).skip(1) {
        assert_eq!(one[9..], other[9..]);
    }
}

#[test]
fn the_reader_accepts_every_row() {
    let file = file(30_000, 1);
    let mut reader = BmfReader::open(file.as_bytes(), "generated.csv").unwrap();
    let mut read = 0;
    while let Some(row) = reader.next_row().unwrap() {
        row.unwrap();
        read += 1;
    }
    assert_eq!(read, 30_000);
}

#[test]
fn eins_are_sorted_and_one_in_twenty_starts_with_0() {
    let file = file(20_000, 1);
    let eins: Vec<&str> = file
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap())
        .collect();
    assert!(eins.iter().all(|ein| ein.len() == 9));
    assert!(eins.is_sorted_by(|one, next| one < next));
    assert_eq!(eins.iter().filter(|ein| ein.starts_with('0')).count(), 1_000);
}

#[test]
fn eins_are_unique_and_sufficient_for_any_number_of_rows() {
    for count in [1, 2, 19, 20, 1_000, 100_000_000, MAX_ROWS] {
        let mut last = 0;
        let edges = [0, 1, count / 20, count / 20 + 1, count / 2, count - 1];
        for row in edges
            .into_iter()
            .filter(|row| *row < count)
            .collect::<std::collections::BTreeSet<_>>()
        {
            let ein = ein(row, count, &mut Rng::for_row(1, row));
            assert!(last < ein && ein <= 999_999_999, "row {row} of {count}");
            last = ein;
        }
    }
    assert!(generate(MAX_ROWS + 1, 1, io::sink()).is_err());
}

#[test]
fn generated_files_have_the_quirks_of_real_ones() {
    let file = file(40_000, 3);
    assert!(file.is_ascii() && file.lines().all(|line| line.len() < 400));
    assert!(file.contains(",\""), "a name with a comma is quoted");
    assert_eq!(file.matches('\n').count(), file.matches("\r\n").count());
    let rows = rows(&file);
    assert!(rows.iter().all(|fields| fields.len() == HEADER.len()));
    assert!(
        rows.iter()
            .all(|fields| !fields[1].is_empty() && fields[1].len() <= 70 && fields[27].len() <= 35)
    );
    for (what, share, low, high) in [
        ("INC", share(&rows, |row| row[1].ends_with(" INC")), 0.28, 0.40),
        ("ICO", share(&rows, |row| row[2].starts_with("% ")), 0.5, 0.7),
        (
            "foreign",
            share(&rows, |row| row[5].is_empty() && row[6] == "00000-0000"),
            0.001,
            0.006,
        ),
        ("charity", share(&rows, |row| row[8] == "03"), 0.75, 0.9),
        ("subordinate", share(&rows, |row| row[9] == "9"), 0.1, 0.25),
        ("no assets", share(&rows, |row| row[23].is_empty()), 0.17, 0.28),
        ("no revenue", share(&rows, |row| row[25].is_empty()), 0.24, 0.36),
        (
            "negative",
            share(&rows, |row| row[25].starts_with('-')),
            0.0002,
            0.005,
        ),
        ("no NTEE", share(&rows, |row| row[26].is_empty()), 0.25, 0.35),
        (
            "invalid NTEE",
            share(&rows, |row| {
                ["0000", "A6XZ", "N6XZ", "Z9", "b2a", "P8X"].contains(&row[26])
            }),
            0.002,
            0.007,
        ),
        ("second name", share(&rows, |row| !row[27].is_empty()), 0.18, 0.26),
        (
            "placeholder",
            share(&rows, |row| {
                ["SAME", "NONE", "NA", "-", "GROUP RETURN"].contains(&row[27])
            }),
            0.0005,
            0.006,
        ),
        (
            "Knights",
            share(&rows, |row| row[1] == "KNIGHTS OF COLUMBUS"),
            0.005,
            0.02,
        ),
    ] {
        assert!((low..high).contains(&share), "{what}: {share}");
    }
}

#[test]
fn words_have_the_frequency_distribution_of_real_names() {
    let file = file(60_000, 3);
    let rows = rows(&file);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for word in rows.iter().flat_map(|row| row[1].split(' ')) {
        *counts.entry(word).or_default() += 1;
    }
    assert!(counts.len() > 12_000, "{}", counts.len());
    let once = counts.values().filter(|count| **count == 1).count();
    assert!(once * 5 > counts.len() * 2, "{once} of {}", counts.len());
    let mut words: Vec<usize> = rows.iter().map(|row| row[1].split(' ').count()).collect();
    words.sort_unstable();
    assert!((3..=5).contains(&words[words.len() / 2]));
    let names: HashSet<&str> = rows.iter().map(|row| row[1]).collect();
    let distinct = names.len() as f64 / rows.len() as f64;
    assert!((0.75..0.92).contains(&distinct), "{distinct}");
}
