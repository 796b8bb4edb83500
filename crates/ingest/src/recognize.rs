//! Recognizes the files of an import by their content, whatever they are called.

use crate::irs::bmf;
use crate::lists::ListKind;
use crate::standing;
use directory::eligibility::store::StandingList;
use directory::nonprofits::ein::Ein;
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;
use zip::ZipArchive;

/// The beginning of a file that is looked at.
const MAX_HEAD_LENGTH: u64 = 64 * 1024;
/// The number of members of an archive that are looked at.
const MAX_MEMBERS: usize = 16;

/// What a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// An EO BMF file.
    Irs,
    List(ListKind),
    /// A list that tells whether nonprofits are in good standing.
    Standing(StandingList),
    /// Form 990 returns: XML, or an archive of it.
    Returns,
    /// The index of a year of returns.
    ReturnIndex,
    /// JSON Lines that add to the data of the IRS.
    Nonprofits,
}

/// Recognizes a file. Returns `None` if it is none that an import reads.
pub fn recognize(path: &Path) -> io::Result<Option<FileKind>> {
    let mut file = BufReader::new(File::open(path)?);
    let mut start = Vec::new();
    file.by_ref().take(4).read_to_end(&mut start)?;
    file.rewind()?;
    match start.as_slice() {
        [0x1F, 0x8B, ..] => Ok(recognize_head(&head(MultiGzDecoder::new(file)))),
        [b'P', b'K', 3, 4] => Ok(recognize_archive(file)),
        _ => Ok(recognize_head(&head(file))),
    }
}

/// Reads the beginning of a file. What a damaged file contains before the damage counts: its import names the damage.
fn head(input: impl Read) -> Vec<u8> {
    let mut head = Vec::new();
    let _ = input.take(MAX_HEAD_LENGTH).read_to_end(&mut head);
    head
}

/// Recognizes an archive by the first member that can be recognized.
fn recognize_archive(file: impl Read + Seek) -> Option<FileKind> {
    let mut archive = ZipArchive::new(file).ok()?;
    (0..archive.len().min(MAX_MEMBERS)).find_map(|index| {
        if let Ok(member) = archive.by_index(index) {
            return recognize_head(&head(member));
        }
        // The IRS compresses some bundles of returns with a method that this library does not know.
        let name = archive.name_for_index(index)?.ok()?;
        let is_xml = Path::new(&*name)
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
        is_xml.then_some(FileKind::Returns)
    })
}

fn recognize_head(head: &[u8]) -> Option<FileKind> {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches(|c: char| c == '\u{FEFF}' || c.is_whitespace());
    recognize_json(text)
        .or_else(|| recognize_csv(text))
        .or_else(|| recognize_list(text))
        .or_else(|| standing::recognize_head(text).map(FileKind::Standing))
        .or_else(|| recognize_xml(text))
}

/// A line of JSON with `ein` or `id`, or the beginning of a long one.
fn recognize_json(text: &str) -> Option<FileKind> {
    if !text.starts_with('{') {
        return None;
    }
    let line = text.lines().next().unwrap_or_default();
    let has_identifier = ["\"ein\"", "\"id\"", "\"EIN\""]
        .iter()
        .any(|name| line.contains(name));
    has_identifier.then_some(FileKind::Nonprofits)
}

fn recognize_csv(text: &str) -> Option<FileKind> {
    let header = text.lines().next()?;
    let names: Vec<String> = header
        .split(',')
        .map(|name| name.trim().trim_matches('"').trim().to_ascii_uppercase())
        .collect();
    let has = |column: &str| names.iter().any(|name| name == column);
    // A file that lacks a column is recognized too: its import says which one.
    let columns = bmf::HEADER.iter().filter(|column| has(column)).count();
    if columns > bmf::HEADER.len() / 2 {
        Some(FileKind::Irs)
    } else if has("RETURN_ID") && has("OBJECT_ID") {
        Some(FileKind::ReturnIndex)
    } else {
        None
    }
}

/// A list has no header. Its first line with an EIN and the right number of fields decides; others may have a `|` too many.
fn recognize_list(text: &str) -> Option<FileKind> {
    text.lines().find_map(|line| {
        let mut fields = line.split('|');
        Ein::parse(fields.next()?.trim())?;
        ListKind::with_fields(1 + fields.count()).map(FileKind::List)
    })
}

/// XML whose first element is `Return`, in any namespace. Copies of returns may begin with other bytes.
fn recognize_xml(text: &str) -> Option<FileKind> {
    let root = text
        .split('<')
        .skip(1)
        .find(|tag| !tag.starts_with(['?', '!', '/']))?;
    let name = root
        .split(|c: char| c.is_whitespace() || c == '>' || c == '/')
        .next()?;
    let local = name.rsplit(':').next()?;
    (local == "Return").then_some(FileKind::Returns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Cursor, Write};
    use zip::write::SimpleFileOptions;

    const PUB78: &str = "\n\n135562976|Boys & Girls Clubs|Atlanta|GA|United States|GROUP\n";
    const RETURN: &str = "\u{FEFF}<?xml version=\"1.0\"?>\r\n<!-- x --><irs:Return xmlns:irs=\"x\" returnVersion=\"2024v5.0\">";

    fn archive(members: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in members {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    fn recognized(content: &[u8]) -> Option<FileKind> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content).unwrap();
        recognize(file.path()).unwrap()
    }

    #[test]
    fn every_kind_is_recognized_by_its_content() {
        let bmf = format!("\u{FEFF}{}\r\n", bmf::HEADER.join(","));
        let revocation = "010275502|GRACE||PO BOX|X|ME|04860|US|03|15-NOV-2017|11-AUG-2018|\n";
        let postcard = "000100514|2009|CLUB|T|F|04-01-2009|03-31-2010||P|A||G||MT|5|US|A||G||MT|5|US|||\n";
        let shifted = postcard.replace("CLUB", "CLUB|A");
        let index = "RETURN_ID,FILING_TYPE,EIN,TAX_PERIOD,SUB_DATE,TAXPAYER_NAME,RETURN_TYPE,DLN,OBJECT_ID\n";
        for (content, kind) in [
            (bmf.as_str(), FileKind::Irs),
            (&bmf.replace("ZIP,", ""), FileKind::Irs),
            (PUB78, FileKind::List(ListKind::Publication78)),
            (revocation, FileKind::List(ListKind::Revocations)),
            (
                &[&*shifted, postcard].concat(),
                FileKind::List(ListKind::Epostcards),
            ),
            (RETURN, FileKind::Returns),
            ("ï»¿<Return>", FileKind::Returns),
            (index, FileKind::ReturnIndex),
            ("{\"ein\": \"530196605\"}\n", FileKind::Nonprofits),
        ] {
            assert_eq!(recognized(content.as_bytes()), Some(kind), "{content}");
            assert_eq!(
                recognized(&archive(&[("a.bin", content)])),
                Some(kind),
                "{content}"
            );
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(content.as_bytes()).unwrap();
            assert_eq!(recognized(&gzip.finish().unwrap()), Some(kind), "{content}");
        }
    }

    #[test]
    fn an_archive_is_recognized_by_a_later_member() {
        let bundle = archive(&[("readme.md", "# Read me"), ("b/1_public.xml", RETURN)]);
        assert_eq!(recognized(&bundle), Some(FileKind::Returns));
    }

    #[test]
    fn other_files_are_not_recognized() {
        for content in [
            "",
            "hello",
            "a|b|c|d|e|f\n",
            "EIN,NAME\n1,2\n",
            "<!DOCTYPE html><html><Return></html>",
            "{\n  \"files\": {}\n}",
            "\u{1F}\u{8B}",
            "PK\u{3}\u{4}",
        ] {
            assert_eq!(recognized(content.as_bytes()), None, "{content}");
        }
        assert_eq!(recognized(&[0x1F, 0x8B, 8, 0]), None);
        assert_eq!(recognized(&archive(&[("a.txt", "hello")])), None);
    }
}
