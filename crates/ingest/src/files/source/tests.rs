use std::io::Write;
use std::path::PathBuf;

use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::irs::bmf::{BmfReader, HEADER};

const TABLE: &[u8] = b"EIN,NAME\r\n1,ONE\r\n2,TWO\r\n";
const TABLE_SHA256: &str = "5e88ea97118a67fa06d7740ec44c1732af187af728508ab5d9481a3323ab0580";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
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

/// Creates a file with an extension that does not match any format.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.bin");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// Reads all parts, and the hash.
fn read(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, String), SourceError> {
    let (_folder, path) = file(bytes);
    let mut source = Source::open(&path, Format::Csv)?;
    let mut parts = Vec::new();
    while let Some(mut part) = source.next_part()? {
        let mut text = Vec::new();
        part.read_to_end(&mut text)
            .map_err(|error| read_error("part", error))?;
        parts.push(text);
    }
    Ok((parts, source.finish()?))
}

fn error_message(bytes: &[u8]) -> String {
    let text = read(bytes).unwrap_err().to_string();
    let (folder, rest) = text.split_at(text.find("table.bin").unwrap());
    assert!(Path::new(folder).is_absolute());
    rest.to_owned()
}

#[test]
fn the_first_bytes_determine_the_compression_and_the_file_is_hashed() {
    assert_eq!(
        read(TABLE).unwrap(),
        (vec![TABLE.to_vec()], TABLE_SHA256.to_owned())
    );
    for compressed in [gzip(TABLE), archive(&[("eo1.csv", TABLE)])] {
        let (parts, sha256) = read(&compressed).unwrap();
        assert_eq!(parts, [TABLE]);
        let mut reader = HashingReader::new(&compressed[..], Arc::default());
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(sha256, reader.sha256());
    }
}

#[test]
fn a_gzip_file_may_have_several_members() {
    let joined = [gzip(&TABLE[..10]), gzip(&TABLE[10..])].concat();
    assert_eq!(read(&joined).unwrap().0, [TABLE]);
}

#[test]
fn the_tables_of_an_archive_are_read_in_order_and_other_files_ignored() {
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
fn missing_files_folders_and_empty_files_have_different_errors() {
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
            .ends_with("is a folder, not a file; give the files in it")
    );
    for empty in [Vec::new(), gzip(b"")] {
        assert_eq!(
            error_message(&empty),
            "table.bin is empty; download the file again"
        );
    }
}

#[test]
fn a_truncated_gzip_file_is_an_error() {
    let whole = gzip(&TABLE.repeat(50));
    for end in 2..whole.len() {
        let expected = "table.bin is truncated: the gzip stream ends early; download the file again";
        assert_eq!(error_message(&whole[..end]), expected, "{end}");
    }
}

#[test]
fn a_damaged_gzip_file_is_an_error() {
    let whole = gzip(&TABLE.repeat(50));
    // Bytes 3 to 9 of the header (flags, time, system) are not covered by the checksum.
    for at in 10..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        assert!(read(&damaged).is_err(), "{at}");
    }
}

#[test]
fn a_truncated_zip_archive_is_an_error() {
    let whole = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    for end in (4..whole.len()).step_by(7) {
        let text = error_message(&whole[..end]);
        assert!(text.starts_with("table.bin is damaged: "), "{text}");
        assert!(text.ends_with("; download the file again"), "{text}");
    }
}

#[test]
fn a_damaged_member_of_an_archive_is_an_error() {
    let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    bytes[60] ^= 0x55;
    let text = error_message(&bytes);
    assert!(
        text.starts_with("table.bin: eo1.csv is damaged: ") || text.contains("truncated"),
        "{text}"
    );
}

#[test]
fn an_archive_without_a_table_is_an_error() {
    let text = error_message(&archive(&[("readme.txt", b"hello")]));
    assert_eq!(
        text,
        "table.bin contains no .csv file; give an archive that contains one"
    );
}

#[test]
fn the_error_for_other_formats_names_the_format() {
    for (bytes, expected) in [
        (
            &b"%PDF-1.7"[..],
            "table.bin is a PDF, not CSV; give the data file instead",
        ),
        (
            b"<!DOCTYPE html>",
            "table.bin is a web page, not CSV; download the data file itself",
        ),
        (
            b"\xFF\xFEE\0I\0N\0",
            "table.bin is text in UTF-16, not CSV; save it as UTF-8",
        ),
        (
            b"BZh91AY",
            "table.bin is a bzip2 file, not CSV; decompress it first",
        ),
        (
            b"\x7FELF\x02\0\0",
            "table.bin is binary data, not CSV; give the data file instead",
        ),
    ] {
        assert_eq!(error_message(bytes), expected);
    }
    assert!(error_message(&gzip(&gzip(TABLE))).contains("an archive inside an archive"));
}

#[test]
fn a_bomb_is_detected_by_its_size_or_its_compression_ratio() {
    assert!(!is_bomb(RATIO_CHECK_THRESHOLD, 1));
    assert!(is_bomb(
        RATIO_CHECK_THRESHOLD + MAX_RATIO,
        RATIO_CHECK_THRESHOLD / MAX_RATIO
    ));
    assert!(!is_bomb(10 << 30, 1 << 30));
    assert!(is_bomb(MAX_DECOMPRESSED_SIZE + 1, MAX_DECOMPRESSED_SIZE));
}

#[test]
fn reading_a_bomb_stops_after_its_first_gigabyte() {
    let mut decompressed = 0;
    let mut bomb = Decoder {
        stream: Box::new(io::repeat(b'x')),
        name: "table.bin".to_owned(),
        compression: Compression::Gzip,
        consumed: Arc::new(AtomicU64::new(1 << 20)),
        decompressed: &mut decompressed,
    };
    let mut buffer = vec![0; 1 << 20];
    let error = loop {
        if let Err(error) = bomb.read(&mut buffer) {
            break error;
        }
    };
    assert!(
        error.to_string().contains("is far too large when decompressed"),
        "{error}"
    );
    drop(bomb);
    assert_eq!(decompressed, (1 << 30) + (1 << 20));
}

#[test]
fn an_unsupported_compression_method_is_an_error() {
    let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
    // The method is at offset 8 of the local header and at offset 10 of the central one. 12 is bzip2.
    let central = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    bytes[8] = 12;
    bytes[central + 10] = 12;
    let text = error_message(&bytes);
    assert!(
        text.starts_with("table.bin: eo1.csv uses an unsupported compression method"),
        "{text}"
    );
}

#[test]
fn reading_rows_of_a_truncated_file_ends_with_its_error() {
    let header = HEADER.join(",") + "\r\n";
    let row = "1,NAME".to_owned() + &",".repeat(26) + "\r\n";
    let whole = gzip((header + &row.repeat(20_000)).as_bytes());
    let (_folder, path) = file(&whole[..whole.len() - 9]);
    let mut source = Source::open(&path, Format::Csv).unwrap();
    let mut reader = BmfReader::open(source.next_part().unwrap().unwrap(), "eo.csv").unwrap();
    let error = loop {
        match reader.next_row() {
            Ok(row) => assert!(row.unwrap().is_ok()),
            Err(error) => break error.to_string(),
        }
    };
    assert!(
        error.ends_with("is truncated: the gzip stream ends early; download the file again"),
        "{error}"
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
    fn reading_a_file_never_panics(
        magic in proptest::sample::select(vec![&b""[..], b"\x1F\x8B\x08\0", b"PK\x03\x04", b"PK\x05\x06"]),
        rest in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = read(&[magic, &rest].concat());
    }

    #[test]
    fn reading_a_damaged_archive_never_panics(at in 0..200_usize, byte in any::<u8>()) {
        let mut bytes = archive(&[("eo1.csv", &TABLE.repeat(50))]);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}
