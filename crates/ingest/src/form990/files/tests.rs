use super::*;
use crate::form990::reader::{Document, MAX_BYTES};
use flate2::write::GzEncoder;
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A made-up return, compressed with Deflate64 by 7-Zip.
const DEFLATE64: &[u8] = include_bytes!("../../../tests/form990/deflate64.zip");

fn xml(ein: u32) -> Vec<u8> {
    format!(
        "\u{feff}<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n\
         <Return xmlns=\"http://www.irs.gov/efile\" returnVersion=\"2021v4.2\">\r\n\
         <ReturnHeader><ReturnTypeCd>990</ReturnTypeCd><TaxPeriodEndDt>2021-12-31</TaxPeriodEndDt>\
         <Filer><EIN>{ein:09}</EIN></Filer></ReturnHeader>\
         <ReturnData><IRS990><CYTotalRevenueAmt>{ein}</CYTotalRevenueAmt></IRS990></ReturnData></Return>\r\n"
    )
    .into_bytes()
}

fn member_name(index: u32) -> String {
    format!("BATCH/2023013193493{index:05}2_public.xml").replace("3493", "934")
}

fn archive(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer
            .start_file(name.as_str(), SimpleFileOptions::default())
            .unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn bundle(count: u32) -> Vec<u8> {
    let members: Vec<_> = (1..=count)
        .map(|index| (member_name(index), xml(index)))
        .collect();
    archive(&members)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read(files: &[&[u8]]) -> (Vec<FoundReturn>, Vec<ImportedFile>) {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(&folder, files);
    let mut found = Vec::new();
    let files = read_files(&paths, |each| {
        found.push(each);
        Ok(())
    });
    (found, files.unwrap())
}

fn write_files(folder: &TempDir, files: &[&[u8]]) -> Vec<PathBuf> {
    let write = |(index, bytes): (usize, &&[u8])| {
        let path = folder.path().join(format!("file{index}"));
        std::fs::write(&path, bytes).unwrap();
        path
    };
    files.iter().enumerate().map(write).collect()
}

/// The EIN of a return, or what is wrong with it.
fn outcome(found: &FoundReturn) -> Result<u32, String> {
    match &found.result {
        Ok(Document::Return(filed)) => Ok(filed.ein.value()),
        Ok(Document::OtherForm(form)) => Err(form.clone()),
        Err(error) => Err(error.to_string()),
    }
}

fn outcomes(bytes: &[u8]) -> Vec<Result<u32, String>> {
    read(&[bytes]).0.iter().map(outcome).collect()
}

#[test]
fn files_of_every_kind_are_recognized_by_their_content() {
    let index = b"RETURN_ID,FILING_TYPE,EIN\r\n1,EFILE,000000001\r\n2,EFILE,000000002";
    let inputs: [&[u8]; 5] = [&xml(1), &gzip(&xml(2)), &bundle(3), index, &gzip(index)];
    let (found, files) = read(&inputs);
    let read: Vec<_> = found
        .iter()
        .map(|each| (each.file, outcome(each).unwrap()))
        .collect();
    assert_eq!(read, [(0, 1), (1, 2), (2, 1), (2, 2), (2, 3)]);
    let counts: Vec<_> = files.iter().map(|file| file.lines).collect();
    assert_eq!(counts, [1, 1, 3, 2, 2]);
    for (file, bytes) in files.iter().zip(inputs) {
        let mut hash = HashingReader::new(bytes, Arc::default());
        io::copy(&mut hash, &mut io::sink()).unwrap();
        assert_eq!(file.sha256, hash.sha256());
    }
}

#[test]
fn members_are_read_in_order_by_their_base_names() {
    let (found, _) = read(&[&bundle(200)]);
    let read: Vec<_> = found.iter().map(|each| outcome(each).unwrap()).collect();
    assert_eq!(read, (1..=200).collect::<Vec<_>>());
    let name = member_name(7);
    assert_eq!(found[6].member, name.trim_start_matches("BATCH/"));
    assert_eq!(found[6].object_id, found[6].member[..18]);
}

#[test]
fn members_compressed_with_deflate64_are_read() {
    assert_eq!(&DEFLATE64[8..10], [9, 0], "the fixture uses method 9");
    assert_eq!(outcomes(DEFLATE64), [Ok(900_000_001)]);
}

#[test]
fn zip64_archives_are_read() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 1..=66_000 {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(index % 2 == 0);
        writer.start_file(member_name(index), options).unwrap();
        let ein = index;
        write!(
            writer,
            "<Return><ReturnHeader><ReturnType>990</ReturnType><TaxPeriodEndDate>2010-12-31</TaxPeriodEndDate>\
             <Filer><EIN>{ein:09}</EIN></Filer></ReturnHeader></Return>"
        )
        .unwrap();
    }
    let bytes = writer.finish().unwrap().into_inner();
    assert!(
        memchr::memmem::find(&bytes, b"PK\x06\x06").is_some(),
        "it is a ZIP64 archive"
    );
    let read = outcomes(&bytes);
    assert!(
        read.iter()
            .enumerate()
            .all(|(index, each)| *each == Ok(index as u32 + 1))
    );
    assert_eq!(read.len(), 66_000);
}

#[test]
fn an_error_of_the_callback_stops_reading() {
    let folder = tempfile::tempdir().unwrap();
    let paths = write_files(&folder, &[&bundle(500)]);
    let mut count = 0;
    let error = read_files(&paths, |_| {
        count += 1;
        anyhow::ensure!(count < 3, "full");
        Ok(())
    });
    assert_eq!((error.unwrap_err().to_string().as_str(), count), ("full", 3));
}

#[test]
fn a_truncated_bundle_is_read_as_far_as_possible_and_reported() {
    let whole = bundle(100);
    for end in [whole.len() - 1, whole.len() / 2, whole.len() / 3, 40, 5] {
        let read = outcomes(&whole[..end]);
        let (last, members) = read.split_last().unwrap();
        assert!(
            last.as_ref().unwrap_err().starts_with("the archive is damaged: "),
            "{last:?}"
        );
        let complete = members.iter().filter(|each| each.is_ok()).count();
        for (index, each) in members[..complete].iter().enumerate() {
            assert_eq!(*each, Ok(index as u32 + 1));
        }
        assert!(
            members.len() <= complete + 1,
            "{end}: only the last can be incomplete"
        );
        assert!(
            complete * whole.len() + 4 * whole.len() >= end * 80,
            "{end}: {complete}"
        );
    }
    // Without the list at the end, every member is still found.
    assert_eq!(outcomes(&whole[..whole.len() - 1]).len(), 101);
}

#[test]
fn a_damaged_member_does_not_affect_the_others() {
    let mut bytes = bundle(10);
    let second = memchr::memmem::find_iter(&bytes, b"PK\x03\x04").nth(1).unwrap();
    bytes[second + 120] ^= 0x55;
    let read = outcomes(&bytes);
    assert_eq!(read.len(), 10);
    assert!(
        read[1].as_ref().unwrap_err().starts_with("it is damaged: "),
        "{:?}",
        read[1]
    );
    assert_eq!(read.iter().filter(|each| each.is_ok()).count(), 9);
}

#[test]
fn paths_that_leave_the_archive_are_reduced_to_their_base_names() {
    let paths = [
        "../../etc/202301319349300012_public.xml",
        "/etc/a.xml",
        "C:\\..\\b.xml",
        "..",
        "x\n\u{1b}[31m.xml",
    ];
    let members: Vec<_> = paths.iter().map(|path| ((*path).to_owned(), xml(1))).collect();
    let (found, _) = read(&[&archive(&members)]);
    let names: Vec<_> = found.iter().map(|each| each.member.as_str()).collect();
    assert_eq!(
        names,
        [
            "202301319349300012_public.xml",
            "a.xml",
            "b.xml",
            "..",
            "x[31m.xml"
        ]
    );
    assert_eq!(found[0].object_id, "202301319349300012");
    assert_eq!(found[1].object_id, "");
}

#[test]
fn folders_are_skipped_and_nested_archives_reported() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_directory("BATCH/", SimpleFileOptions::default())
        .unwrap();
    for (name, bytes) in [
        ("BATCH/1.zip", bundle(2)),
        ("BATCH/2.xml.gz", gzip(&xml(1))),
        ("BATCH/index_2023.csv", b"RETURN_ID,EIN\n1,2\n".to_vec()),
        ("__MACOSX/BATCH/._3.xml", b"\0\x05".to_vec()),
        ("BATCH/3.xml", xml(3)),
    ] {
        writer.start_file(name, SimpleFileOptions::default()).unwrap();
        writer.write_all(&bytes).unwrap();
    }
    let (found, files) = read(&[&writer.finish().unwrap().into_inner()]);
    let nested = "it is an archive inside an archive; give it as a file of its own".to_owned();
    let read: Vec<_> = found.iter().map(outcome).collect();
    assert_eq!(read, [Err(nested.clone()), Err(nested), Ok(3)]);
    assert_eq!(files[0].lines, 4);
}

#[test]
fn encrypted_members_are_reported() {
    let mut bytes = bundle(1);
    // The flags are at offset 6 of the local header and at offset 8 of the central one.
    let central = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    bytes[6] |= 1;
    bytes[central + 8] |= 1;
    assert_eq!(outcomes(&bytes), [Err("it is encrypted".to_owned())]);
    // Also in an archive without its list of members.
    assert_eq!(outcomes(&bytes[..central])[0], Err("it is encrypted".to_owned()));
}

/// An archive with one member of `size` bytes, as small as possible.
fn bomb(start: &[u8], size: u64, method: CompressionMethod) -> File {
    let mut writer = ZipWriter::new(tempfile::tempfile().unwrap());
    // The fast level compresses a gigabyte to more than what the ratio allows for the largest return.
    let level = if size > 1 << 28 { 1 } else { 9 };
    let options = SimpleFileOptions::default()
        .compression_method(method)
        .compression_level(Some(level));
    writer
        .start_file("202301319349300012_public.xml", options)
        .unwrap();
    writer.write_all(start).unwrap();
    io::copy(&mut io::repeat(b'X').take(size), &mut writer).unwrap();
    writer.finish().unwrap()
}

fn read_opened(opened: File) -> Vec<Result<u32, String>> {
    let mut found = Vec::new();
    archive::read_archive(0, "bundle.zip", opened, |step| {
        if let Step::Found(each) = step {
            found.push(outcome(&each));
        }
        Ok(())
    })
    .unwrap();
    found
}

#[test]
fn a_bomb_is_refused_by_its_ratio() {
    let bomb = bomb(&xml(1), 1 << 26, CompressionMethod::Deflated);
    let error = "it is far too large when decompressed".to_owned();
    assert_eq!(read_opened(bomb), [Err(error)]);
}

#[test]
fn a_text_of_a_gigabyte_is_refused_by_its_size() {
    let text = bomb(
        b"<Return><ReturnHeader><ReturnType>",
        1 << 30,
        CompressionMethod::Deflated,
    );
    let error = "it is larger than 32 MiB".to_owned();
    assert_eq!(read_opened(text), [Err(error)]);
    assert_eq!(MAX_BYTES, 32 << 20);
}

#[test]
fn members_that_share_their_data_are_refused() {
    // The list names the only member many times, as the densest bombs do.
    let whole = bundle(1);
    let central = memchr::memmem::find(&whole, b"PK\x01\x02").unwrap();
    let end = memchr::memmem::find(&whole, b"PK\x05\x06").unwrap();
    let mut bytes = whole[..end].to_vec();
    for _ in 1..50 {
        bytes.extend_from_slice(&whole[central..end]);
    }
    let mut tail = whole[end..].to_vec();
    tail[8..10].copy_from_slice(&50_u16.to_le_bytes());
    tail[10..12].copy_from_slice(&50_u16.to_le_bytes());
    tail[12..16].copy_from_slice(&((end - central) as u32 * 50).to_le_bytes());
    // Large members are needed for the sum to exceed the file, so the size in the list is raised.
    bytes.extend_from_slice(&tail);
    for index in 0..50 {
        let at = central + index * (end - central) + 20;
        bytes[at..at + 4].copy_from_slice(&(whole.len() as u32 * 10).to_le_bytes());
    }
    let read = outcomes(&bytes);
    assert_eq!(read[0], Ok(1));
    assert!(
        read[1].as_ref().unwrap_err().contains("its members overlap"),
        "{read:?}"
    );
    assert_eq!(read.len(), 2);
}

#[test]
fn several_documents_in_one_file_are_all_read() {
    let joined = [b"---\n".to_vec(), xml(1), b"---\n".to_vec(), xml(2), xml(3)].concat();
    assert_eq!(outcomes(&joined), [Ok(1), Ok(2), Ok(3)]);
}

#[test]
fn damaged_gzip_files_and_other_files_are_reported() {
    let whole = gzip(&xml(1));
    for end in [3, 20, whole.len() - 1] {
        let read = outcomes(&whole[..end]);
        assert!(
            read[0].as_ref().unwrap_err().starts_with("it is damaged: "),
            "{read:?}"
        );
    }
    let no_return = "it is not an e-file return: there is no Return element".to_owned();
    for other in [
        &b""[..],
        b"%PDF-1.7",
        b"<!-- -->",
        b"<html><body>404</body></html>",
    ] {
        assert_eq!(outcomes(other)[0], Err(no_return.clone()), "{other:?}");
    }
    let bomb = gzip(&vec![b'<'; 8 << 20]);
    assert_eq!(
        outcomes(&bomb),
        [Err("it is far too large when decompressed".to_owned())]
    );
}

#[test]
fn missing_files_and_folders_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let missing = read_files(&[folder.path().join("a.zip")], |_| Ok(())).unwrap_err();
    assert!(
        missing
            .to_string()
            .ends_with("a.zip does not exist; check the path"),
        "{missing}"
    );
    let is_folder = read_files(&[folder.path().to_owned()], |_| Ok(())).unwrap_err();
    assert!(is_folder.to_string().contains("is a folder"), "{is_folder}");
}

#[test]
fn a_file_shared_by_threads_has_a_position_for_each() {
    use crate::form990::file_at::FileAt;
    let mut opened = tempfile::tempfile().unwrap();
    opened.write_all(b"0123456789").unwrap();
    let mut first = FileAt::new(opened).unwrap();
    let mut second = first.at(5);
    let mut buffer = [0; 2];
    second.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"56");
    first.read_exact(&mut buffer).unwrap();
    assert_eq!(&buffer, b"01");
    assert_eq!(second.seek(SeekFrom::End(-1)).unwrap(), 9);
    assert!(second.seek(SeekFrom::Current(-20)).is_err());
}
