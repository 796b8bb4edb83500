//! Invalid files: each is refused in one clear sentence, and the directory stays unchanged.

use crate::files::{bmf, generated, gzip, nonprofit_rows, zip};
use crate::world::World;
use ingest::BMF_HEADER;
use std::path::PathBuf;

on_both_databases!(
    a_file_with_the_wrong_header_is_refused,
    a_gzip_file_truncated_anywhere_is_refused,
    a_damaged_archive_is_refused,
    a_file_that_ends_in_the_middle_of_a_line_is_refused,
    a_complete_last_line_needs_no_line_ending,
    a_file_of_another_format_is_refused_by_name,
    a_header_without_rows_is_refused,
    one_bad_file_stops_the_whole_import,
);

/// Imports a bad file, asserts that nothing changed, and returns the error.
async fn import_error(world: &World, file: PathBuf) -> String {
    if world.imports().await == 0 {
        world
            .import_irs_files(&[world.file("good.csv", bmf(&nonprofit_rows(20)))], false)
            .await
            .unwrap();
    }
    let before = world.dump().await;
    let name = file.display().to_string();
    let error = world.import_irs_files(&[file], true).await.unwrap_err();
    let error = format!("{error:#}");
    assert_eq!(world.dump().await, before, "{error}");
    assert_eq!(world.imports().await, 1, "{error}");
    assert!(!error.contains('\n') && error.len() < 400, "{error}");
    assert_eq!(
        error.matches(&name).count(),
        1,
        "the error names the file once: {error}"
    );
    world.client.details(200, "100000001").await;
    error.replace(&name, "FILE")
}

async fn a_file_with_the_wrong_header_is_refused(world: &World) {
    let wrong = bmf(&nonprofit_rows(20)).replacen("EIN,", "ID,", 1);
    let error = import_error(world, world.file("eo.csv", wrong)).await;
    assert!(
        error.starts_with("FILE is not an EO BMF file: the header on line 1 has no column EIN; "),
        "{error}"
    );
    let without_header = bmf(&nonprofit_rows(20))
        .lines()
        .skip(1)
        .collect::<Vec<_>>()
        .join("\n")
        + "\n";
    let error = import_error(world, world.file("eo.csv", without_header)).await;
    assert!(error.contains("no column EIN"), "{error}");
    let duplicate = bmf(&nonprofit_rows(20)).replacen("STREET", "CITY", 1);
    let error = import_error(world, world.file("eo.csv", duplicate)).await;
    assert!(
        error.contains("STREET") || error.contains("CITY twice"),
        "{error}"
    );
}

async fn a_gzip_file_truncated_anywhere_is_refused(world: &World) {
    let complete = gzip(&generated(500, 1));
    for length in [11, complete.len() / 3, complete.len() - 9, complete.len() - 4] {
        let error = import_error(world, world.file("eo.csv.gz", &complete[..length])).await;
        assert_eq!(
            error,
            "FILE is truncated: the gzip stream ends early; download the file again"
        );
    }
}

async fn a_damaged_archive_is_refused(world: &World) {
    let mut compressed = gzip(&generated(500, 1));
    let middle = compressed.len() / 2;
    compressed[middle..middle + 64].fill(0xAA);
    let error = import_error(world, world.file("eo.csv.gz", &compressed)).await;
    assert!(error.contains("download the file again"), "{error}");
    let archive = zip(&[("eo.csv", &generated(500, 1))]);
    let error = import_error(world, world.file("eo.zip", &archive[..archive.len() / 2])).await;
    assert!(error.contains("damaged"), "{error}");
    let mut archive = archive;
    let middle = archive.len() / 2;
    archive[middle..middle + 64].fill(0xAA);
    let error = import_error(world, world.file("eo.zip", &archive)).await;
    assert!(
        error.contains("damaged") || error.contains("truncated"),
        "{error}"
    );
    let error = import_error(world, world.file("eo.zip", zip(&[("read.me", b"nothing")]))).await;
    assert!(error.contains("contains no .csv file"), "{error}");
}

async fn a_file_that_ends_in_the_middle_of_a_line_is_refused(world: &World) {
    let complete = bmf(&nonprofit_rows(30));
    let cut = &complete[..complete.len() - 40];
    let error = import_error(world, world.file("eo.csv", cut)).await;
    assert_eq!(error, "FILE is truncated in line 31; download the file again");
}

async fn a_complete_last_line_needs_no_line_ending(world: &World) {
    let complete = bmf(&nonprofit_rows(30));
    assert_eq!(world.import_irs(complete.trim_end()).await.unwrap().new, 30);
}

async fn a_file_of_another_format_is_refused_by_name(world: &World) {
    let folder = world.data().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for (file, expected) in [
        (folder, "FILE is a folder, not a file; give the files in it"),
        (
            world.data().join("nothing.csv"),
            "FILE does not exist; check the path",
        ),
        (
            world.file("empty.csv", ""),
            "FILE is empty; download the file again",
        ),
        (
            world.file("blank.csv", "\r\n\r\n"),
            "FILE has no header line; download the file again",
        ),
        (
            world.file("empty.csv.gz", gzip(b"")),
            "FILE is empty; download the file again",
        ),
        (
            world.file("page.csv", "<!doctype html><html>"),
            "FILE is a web page, not CSV; download the data file itself",
        ),
        (
            world.file("eo.csv.bz2", "BZh91AY&SY"),
            "FILE is a bzip2 file, not CSV; decompress it first",
        ),
        (
            world.file("a.csv", b"\xFF\xFEE\0I\0N\0"),
            "FILE is text in UTF-16, not CSV; save it as UTF-8",
        ),
        (
            world.file("b.csv", gzip(&gzip(b"x"))),
            "FILE is an archive inside an archive, not CSV; decompress it first",
        ),
        (
            world.file("c.csv", b"\x7FELF\0\0\0"),
            "FILE is binary data, not CSV; give the data file instead",
        ),
    ] {
        assert_eq!(import_error(world, file).await, expected);
    }
}

async fn a_header_without_rows_is_refused(world: &World) {
    world.import_irs(bmf(&nonprofit_rows(20))).await.unwrap();
    let before = world.dump().await;
    let error = world
        .import_irs(BMF_HEADER.join(",") + "\r\n")
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "the files contain no rows; check that they are the right files"
    );
    assert_eq!(world.dump().await, before);
}

async fn one_bad_file_stops_the_whole_import(world: &World) {
    let files = [
        world.file("eo1.csv", bmf(&nonprofit_rows(20))),
        world.file("eo2.csv", ""),
    ];
    let error = world
        .import_irs_files(&files, false)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("eo2.csv is empty"), "{error}");
    assert_eq!(world.imports().await, 0);
    assert_eq!(world.dump().await, [""; 0]);
}
