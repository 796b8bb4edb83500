use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::import::bmf::{BmfReader, HEADER};

const TABLE: &[u8] = b"EIN,NAME\r\n1,ONE\r\n2,TWO\r\n";
const TABLE_SHA256: &str = "5e88ea97118a67fa06d7740ec44c1732af187af728508ab5d9481a3323ab0580";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A file with these bytes, under a name that says nothing about them.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.bin");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// All parts as text, and the hash.
fn read(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, String), SourceError> {
    let (_folder, path) = file(bytes);
    let mut source = Source::open(&path, Format::Csv)?;
    let mut parts = Vec::new();
    while let Some(mut part) = source.next_part()? {
        let mut text = Vec::new();
        part.read_to_end(&mut text)
            .map_err(|fault| unreadable("part", fault))?;
        parts.push(text);
    }
    Ok((parts, source.finish()?))
}

fn complaint(bytes: &[u8]) -> String {
    let text = read(bytes).unwrap_err().to_string();
    let (place, rest) = text.split_at(text.find("table.bin").unwrap());
    assert!(Path::new(place).is_absolute());
    rest.to_owned()
}

#[test]
fn the_packing_is_told_by_the_first_bytes_and_the_hash_is_that_of_the_file() {
    assert_eq!(
        read(TABLE).unwrap(),
        (vec![TABLE.to_vec()], TABLE_SHA256.to_owned())
    );
    for packed in [gzip(TABLE), archive(&[("eo1.csv", TABLE)])] {
        let (parts, sha256) = read(&packed).unwrap();
        assert_eq!(parts, [TABLE]);
        let mut tally = HashingReader::new(&packed[..], Arc::default());
        io::copy(&mut tally, &mut io::sink()).unwrap();
        assert_eq!(sha256, tally.sha256());
    }
}

#[test]
fn a_gzip_file_may_have_several_members() {
    let joined = [gzip(&TABLE[..10]), gzip(&TABLE[10..])].concat();
    assert_eq!(read(&joined).unwrap().0, [TABLE]);
}

#[test]
fn every_table_of_an_archive_is_read_in_order_and_all_else_is_passed_over() {
    let bytes = archive(&[
        ("eo/eo2.CSV", TABLE),
        ("__MACOSX/eo/._eo2.csv", b"\0\x05\x16\x07"),
        ("readme.txt", b"hello"),
        ("eo1.csv", b"EIN\r\n"),
    ]);
    assert_eq!(read(&bytes).unwrap().0, [TABLE, b"EIN\r\n"]);
    let (_folder, path) = file(&bytes);
    let mut source = Source::open(&path, Format::Csv).unwrap();
    assert!(
        source
            .next_part()
            .unwrap()
            .unwrap()
            .name
            .ends_with("table.bin: eo/eo2.CSV")
    );
}

#[test]
fn progress_reaches_the_length_of_the_file() {
    let (_folder, path) = file(&gzip(TABLE));
    let mut source = Source::open(&path, Format::Csv).unwrap();
    let consumed = source.consumed();
    io::copy(&mut source.next_part().unwrap().unwrap(), &mut io::sink()).unwrap();
    assert_eq!(Some(consumed.load(Ordering::Relaxed)), source.length());
}

#[test]
fn a_missing_file_a_folder_and_an_empty_file_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Source::open(&folder.path().join("eo1.csv"), Format::Csv)
        .err()
        .unwrap();
    assert!(
        missing
            .to_string()
            .ends_with("eo1.csv does not exist; check the path")
    );
    let is_folder = Source::open(folder.path(), Format::Csv).err().unwrap();
    assert!(
        is_folder
            .to_string()
            .ends_with("is a folder, not a file; name the files in it")
    );
    for empty in [Vec::new(), gzip(b"")] {
        assert_eq!(complaint(&empty), "table.bin is empty; download the file again");
    }
}

#[test]
fn a_gzip_file_cut_anywhere_is_told() {
    let whole = gzip(&TABLE.repeat(50));
    for end in 2..whole.len() {
        let expected = "table.bin is cut off: the gzip stream ends early; download the file again";
        assert_eq!(complaint(&whole[..end]), expected, "{end}");
    }
}

#[test]
fn a_damaged_gzip_file_never_reads_as_whole() {
    let whole = gzip(&TABLE.repeat(50));
    // The bytes 3 to 9 of the header (flags, time, system) are not checked by anything but themselves.
    for at in 10..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        assert!(read(&damaged).is_err(), "{at}");
    }
}

#[test]
fn a_zip_archive_cut_anywhere_is_told() {
    let whole = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    for end in (4..whole.len()).step_by(7) {
        let text = complaint(&whole[..end]);
        assert!(text.starts_with("table.bin is damaged: "), "{text}");
        assert!(text.ends_with("; download the file again"), "{text}");
    }
}

#[test]
fn a_damaged_member_of_an_archive_is_told() {
    let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    bytes[60] ^= 0x55;
    let text = complaint(&bytes);
    assert!(
        text.starts_with("table.bin: eo1.csv is damaged: ") || text.contains("cut off"),
        "{text}"
    );
}

#[test]
fn an_archive_without_a_table_is_told() {
    let text = complaint(&archive(&[("readme.txt", b"hello")]));
    assert_eq!(
        text,
        "table.bin holds no .csv file; name an archive that does, or unpack it first"
    );
}

#[test]
fn what_is_no_table_is_named() {
    for (bytes, expected) in [
        (
            &b"%PDF-1.7"[..],
            "table.bin is a PDF, not CSV; name the data file instead",
        ),
        (
            b"<!DOCTYPE html>",
            "table.bin is a web page, not CSV; download the data file itself",
        ),
        (
            b"\xFF\xFEE\0I\0N\0",
            "table.bin is text in UTF-16, not CSV; save it as UTF-8",
        ),
        (b"BZh91AY", "table.bin is a bzip2 file, not CSV; unpack it first"),
        (
            b"\x7FELF\x02\0\0",
            "table.bin is binary data, not CSV; name the data file instead",
        ),
    ] {
        assert_eq!(complaint(bytes), expected);
    }
    assert!(complaint(&gzip(&gzip(TABLE))).contains("an archive inside an archive"));
}

#[test]
fn a_bomb_is_told_by_its_size_or_by_how_much_it_was_shrunk() {
    assert!(!is_bomb(FREE_OF_RATIO, 1));
    assert!(is_bomb(
        FREE_OF_RATIO + LARGEST_RATIO,
        FREE_OF_RATIO / LARGEST_RATIO
    ));
    assert!(!is_bomb(10 << 30, 1 << 30));
    assert!(is_bomb(MOST_UNPACKED + 1, MOST_UNPACKED));
}

#[test]
fn reading_a_bomb_stops_after_its_first_gigabyte() {
    let mut unpacked = 0;
    let mut bomb = Guarded {
        stream: Box::new(io::repeat(b'x')),
        name: "table.bin".to_owned(),
        packing: Packing::Gzip,
        consumed: Arc::new(AtomicU64::new(1 << 20)),
        unpacked: &mut unpacked,
    };
    let mut block = vec![0; 1 << 20];
    let fault = loop {
        if let Err(fault) = bomb.read(&mut block) {
            break fault;
        }
    };
    assert!(fault.to_string().contains("unpacks to far more"), "{fault}");
    drop(bomb);
    assert_eq!(unpacked, (1 << 30) + (1 << 20));
}

#[test]
fn a_way_of_packing_that_is_not_supported_is_told() {
    let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    // The method stands 8 bytes into the local header and 10 bytes into the central one; 12 is bzip2.
    let central = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[8] = 12;
    bytes[central + 10] = 12;
    let text = complaint(&bytes);
    assert!(
        text.starts_with("table.bin: eo1.csv is packed in a way that is not supported"),
        "{text}"
    );
}

#[test]
fn rows_of_a_file_cut_off_end_with_the_sentence_that_says_so() {
    let header = HEADER.join(",") + "\r\n";
    let row = "1,NAME".to_owned() + &",".repeat(26) + "\r\n";
    let whole = gzip((header + &row.repeat(20_000)).as_bytes());
    let (_folder, path) = file(&whole[..whole.len() - 9]);
    let mut source = Source::open(&path, Format::Csv).unwrap();
    let mut reader = BmfReader::open(source.next_part().unwrap().unwrap(), "eo.csv").unwrap();
    let fault = loop {
        match reader.next_row() {
            Ok(row) => assert!(row.unwrap().is_ok()),
            Err(fault) => break fault.to_string(),
        }
    };
    assert!(
        fault.ends_with("is cut off: the gzip stream ends early; download the file again"),
        "{fault}"
    );
}

#[test]
fn a_source_can_be_read_on_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<Source>();
    is_send::<Part<'static>>();
    is_send::<SourceError>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_file_makes_the_reader_panic(
        magic in proptest::sample::select(vec![&b""[..], b"\x1F\x8B\x08\0", b"PK\x03\x04", b"PK\x05\x06"]),
        rest in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = read(&[magic, &rest].concat());
    }

    #[test]
    fn a_damaged_archive_never_makes_the_reader_panic(at in 0..200_usize, byte in any::<u8>()) {
        let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}
