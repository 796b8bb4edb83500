//! Reading rows of the list files.

use super::epostcards::Epostcards;
use super::list::List;
use super::publication_78::Publication78List;
use super::read::{ReadResult, read_file};
use super::revocations::Revocations;
use directory::nonprofits::sources::SourceId;
use proptest::prelude::*;
use std::fs;

const SOURCE: SourceId = SourceId {
    revision: 1,
    position: 1,
};

fn try_read<L: List>(content: impl AsRef<[u8]>) -> anyhow::Result<ReadResult<L>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list.txt");
    fs::write(&path, content).unwrap();
    read_file(&path)
}

fn read<L: List>(content: impl AsRef<[u8]>) -> ReadResult<L> {
    try_read(content).unwrap()
}

fn reasons<L: List>(read: &ReadResult<L>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = read.rejected_lines.write(folder.path(), "list", 0).unwrap();
    path.map_or_else(String::new, |path| fs::read_to_string(path).unwrap())
}

#[test]
fn blank_lines_trailing_spaces_and_bytes_that_are_not_utf_8_are_read() {
    let read = read::<Publication78List>(
        b"\r\n\n000587764|Iglesia Bethesda\xC9|Lowell|MA|United States| PC , lodge \r\n\n\n",
    );
    let row = read.row(0, SOURCE);
    assert_eq!(
        (row.ein, row.codes.as_str(), row.source),
        (587_764, "PC,LODGE", 65_537)
    );
    assert_eq!((read.len(), read.summary.lines, read.summary.refused), (1, 1, 0));
}

#[test]
fn a_row_with_another_number_of_fields_is_rejected_and_never_shifted() {
    let postcard = |website: &str| {
        format!(
            "200811142|2025|CENTER INC|T|F|01-01-2025|12-31-2025|{website}|JO DOE|1 ELM||X||NC|27573|US|1 ELM||X||NC|27573|US|||\n"
        )
    };
    let read = read::<Epostcards>(
        [
            postcard("").replace("200811142", "000100514"),
            postcard("Home | Unity"),
            postcard("a |b |c"),
        ]
        .concat(),
    );
    assert_eq!((read.len(), read.summary.refused), (1, 2));
    assert!(read.rejected_eins.contains(&200_811_142));
    let reasons = reasons(&read);
    assert!(
        reasons.contains("line 2: the number of fields is 27 instead of 26"),
        "{reasons}"
    );
    assert!(
        reasons.contains("line 3: the number of fields is 28 instead of 26"),
        "{reasons}"
    );
}

#[test]
fn the_newest_revocation_counts_wherever_it_is_in_the_file() {
    let row = |dates: &str| format!("010275502|GRACE INSTITUTE ||PO BOX 158|X|ME|04860|US|03|{dates}\n");
    let old = row("15-NOV-2012|11-MAR-2013|15-NOV-2012");
    let new = row("15-NOV-2017|11-AUG-2018|");
    for file in [[&*old, &*new].concat(), [&*new, &*old].concat()] {
        let read = read::<Revocations>(file);
        let row = read.row(0, SOURCE);
        assert_eq!(read.len(), 1);
        assert_eq!(row.revoked_on, "2017-11-15");
        assert_eq!(row.posted_on.as_deref(), Some("2018-08-11"));
        assert_eq!((row.reinstated_on, row.exemption_type), (None, 3));
    }
}

#[test]
fn invalid_values_are_rejected_without_being_repeated() {
    let read = read::<Revocations>(
        "010275502|JO DOE||1 ELM|X|ME|04860|US|03|SECRET|11-MAR-2013|\n\
         01027550X|JO DOE||1 ELM|X|ME|04860|US|03|15-NOV-2012|11-MAR-2013|\n\
         010275502|JO DOE||1 ELM|X|ME|04860|US|SECRET|15-NOV-2012|11-MAR-2013|\n",
    );
    assert_eq!(read.summary.refused, 3);
    let reasons = reasons(&read);
    assert!(
        !reasons.contains("SECRET") && !reasons.contains("DOE"),
        "{reasons}"
    );
    for field in ["revocation date", "EIN", "exemption type"] {
        assert!(reasons.contains(field), "{reasons}");
    }
}

#[test]
fn a_truncated_file_and_another_list_are_refused() {
    let error = |content: &str| try_read::<Publication78List>(content).err().unwrap().to_string();
    let row = "000587764|Iglesia Bethesda|Lowell|MA|United States|PC";
    assert!(error(&format!("\n{row}\n{row}")).contains("truncated: line 3"));
    assert!(error(&format!("{row}\n0005")).contains("truncated"));
    let other = "010275502|GRACE||PO BOX 158|X|ME|04860|US|03|15-NOV-2017|11-AUG-2018|\n";
    assert!(error(other).contains("causeway import revocations"));
}

#[test]
fn the_codes_of_two_rows_are_joined() {
    let row = |codes: &str| format!("000587764|Iglesia Bethesda|Lowell|MA|United States|{codes}\n");
    let read = read::<Publication78List>([row("PC"), row("GROUP"), row("PC")].concat());
    assert_eq!(read.row(0, SOURCE).codes, "GROUP,PC");
    let read = super::tests::read::<Publication78List>([row("PC,"), row(""), row("P C")].concat());
    assert_eq!(read.summary.refused, 3);
}

#[test]
fn officers_and_addresses_are_not_kept() {
    let read = read::<Epostcards>(
        "473911681|2025|GLOBAL FUND|T|F|01-01-2025|12-31-2025|https://www.theglobalchildren.org/|JANE SECRET|7 SECRET ST|APT SECRET|SECRETVILLE|SECRET|GA|30341|US|8 SECRET ST|SECRET|SECRETVILLE|SECRET|GA|30341|US|DBA||\n",
    );
    let row = read.row(0, SOURCE);
    assert_eq!(
        row.website_url.as_deref(),
        Some("https://www.theglobalchildren.org")
    );
    assert_eq!(row.period_end.as_deref(), Some("2025-12-31"));
    assert!(!format!("{row:?}").contains("SECRET"), "{row:?}");
}

proptest! {
    #[test]
    fn no_content_makes_reading_panic(lines in proptest::collection::vec("[0-9A-Z|,\\- \u{e9}]{0,90}", 0..20)) {
        let content = lines.join("\n");
        let _ = try_read::<Publication78List>(&content);
        let _ = try_read::<Revocations>(&content);
        let _ = try_read::<Epostcards>(&content);
    }
}
