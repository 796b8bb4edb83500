//! Files that cannot be what they claim: one clear sentence, and the directory stays as it was.

use crate::files::{bmf, bodies, generated, gzip, zip};
use crate::world::World;
use causeway::import::bmf::HEADER;
use std::path::PathBuf;

on_both_databases!(
    a_file_with_another_header_is_refused,
    a_truncated_gzip_is_refused_wherever_it_is_cut,
    a_damaged_archive_is_refused,
    a_file_cut_in_mid_line_is_refused,
    a_last_line_without_its_end_is_whole_if_its_columns_are,
    what_is_no_file_of_rows_is_called_by_its_name,
    a_header_without_rows_is_refused,
    one_bad_file_among_good_ones_stops_them_all,
);

/// Imports a bad file, and makes sure that nothing came of it.
async fn refused(world: &World, file: PathBuf) -> String {
    if world.imports().await == 0 {
        world
            .import_irs_files(&[world.file("good.csv", bmf(&bodies(20)))], false)
            .await
            .unwrap();
    }
    let before = world.dump().await;
    let name = file.display().to_string();
    let fault = world.import_irs_files(&[file], true).await.unwrap_err();
    let fault = format!("{fault:#}");
    assert_eq!(world.dump().await, before, "{fault}");
    assert_eq!(world.imports().await, 1, "{fault}");
    assert!(!fault.contains('\n') && fault.len() < 400, "{fault}");
    assert_eq!(fault.matches(&name).count(), 1, "it names the file once: {fault}");
    world.client.details(200, "100000001").await;
    fault.replace(&name, "FILE")
}

async fn a_file_with_another_header_is_refused(world: &World) {
    let wrong = bmf(&bodies(20)).replacen("EIN,", "ID,", 1);
    let fault = refused(world, world.file("eo.csv", wrong)).await;
    assert!(
        fault.starts_with("FILE is no EO BMF file: the header on line 1 has no column EIN; "),
        "{fault}"
    );
    let headless = bmf(&bodies(20)).lines().skip(1).collect::<Vec<_>>().join("\n") + "\n";
    let fault = refused(world, world.file("eo.csv", headless)).await;
    assert!(fault.contains("no column EIN"), "{fault}");
    let doubled = bmf(&bodies(20)).replacen("STREET", "CITY", 1);
    let fault = refused(world, world.file("eo.csv", doubled)).await;
    assert!(
        fault.contains("STREET") || fault.contains("CITY twice"),
        "{fault}"
    );
}

async fn a_truncated_gzip_is_refused_wherever_it_is_cut(world: &World) {
    let whole = gzip(&generated(500, 1));
    for length in [11, whole.len() / 3, whole.len() - 9, whole.len() - 4] {
        let fault = refused(world, world.file("eo.csv.gz", &whole[..length])).await;
        assert_eq!(
            fault,
            "FILE is cut off: the gzip stream ends early; download the file again"
        );
    }
}

async fn a_damaged_archive_is_refused(world: &World) {
    let mut packed = gzip(&generated(500, 1));
    let middle = packed.len() / 2;
    packed[middle..middle + 64].fill(0xAA);
    let fault = refused(world, world.file("eo.csv.gz", &packed)).await;
    assert!(fault.contains("download the file again"), "{fault}");
    let archive = zip(&[("eo.csv", &generated(500, 1))]);
    let fault = refused(world, world.file("eo.zip", &archive[..archive.len() / 2])).await;
    assert!(fault.contains("damaged"), "{fault}");
    let mut archive = archive;
    let middle = archive.len() / 2;
    archive[middle..middle + 64].fill(0xAA);
    let fault = refused(world, world.file("eo.zip", &archive)).await;
    assert!(fault.contains("damaged") || fault.contains("cut off"), "{fault}");
    let fault = refused(world, world.file("eo.zip", zip(&[("read.me", b"nothing")]))).await;
    assert!(fault.contains("holds no .csv file"), "{fault}");
}

async fn a_file_cut_in_mid_line_is_refused(world: &World) {
    let whole = bmf(&bodies(30));
    let cut = &whole[..whole.len() - 40];
    let fault = refused(world, world.file("eo.csv", cut)).await;
    assert_eq!(fault, "FILE is cut off in line 31; download the file again");
}

async fn a_last_line_without_its_end_is_whole_if_its_columns_are(world: &World) {
    let whole = bmf(&bodies(30));
    assert_eq!(world.import_irs(whole.trim_end()).await.unwrap().new, 30);
}

async fn what_is_no_file_of_rows_is_called_by_its_name(world: &World) {
    let folder = world.data().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for (file, expected) in [
        (folder, "FILE is a folder, not a file; name the files in it"),
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
            "FILE holds no header line; download the file again",
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
            "FILE is a bzip2 file, not CSV; unpack it first",
        ),
        (
            world.file("a.csv", b"\xFF\xFEE\0I\0N\0"),
            "FILE is text in UTF-16, not CSV; save it as UTF-8",
        ),
        (
            world.file("b.csv", gzip(&gzip(b"x"))),
            "FILE is an archive inside an archive, not CSV; unpack it first",
        ),
        (
            world.file("c.csv", b"\x7FELF\0\0\0"),
            "FILE is binary data, not CSV; name the data file instead",
        ),
    ] {
        assert_eq!(refused(world, file).await, expected);
    }
}

async fn a_header_without_rows_is_refused(world: &World) {
    world.import_irs(bmf(&bodies(20))).await.unwrap();
    let before = world.dump().await;
    let fault = world
        .import_irs(HEADER.join(",") + "\r\n")
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(fault, "no rows were found; check that the right file was given");
    assert_eq!(world.dump().await, before);
}

async fn one_bad_file_among_good_ones_stops_them_all(world: &World) {
    let files = [world.file("eo1.csv", bmf(&bodies(20))), world.file("eo2.csv", "")];
    let fault = world
        .import_irs_files(&files, false)
        .await
        .unwrap_err()
        .to_string();
    assert!(fault.contains("eo2.csv is empty"), "{fault}");
    assert_eq!(world.imports().await, 0);
    assert_eq!(world.dump().await, [""; 0]);
}
