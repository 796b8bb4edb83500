//! Finds out which bundles of returns a year has.
//!
//! There is no list of them. The index names the bundle of each return, but the letter at the end of a name may be wrong,
//! so further letters are tried too.

use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The number of bundles in a year whose index does not name them.
const UNNAMED_BUNDLES: u32 = 8;

/// Names of bundles to ask for, one after the other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Series {
    pub names: Vec<String>,
    /// The number of names up to the last one in the index. After those, the first that is missing is the end.
    pub indexed: usize,
}

/// Returns the names of bundles in an index. Names that do not have the usual form are left out: they become the names of
/// files.
pub(super) fn read_index(path: &Path, year: i16) -> anyhow::Result<BTreeSet<String>> {
    let context = || format!("cannot read {}; download it again", path.display());
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_path(path)
        .with_context(context)?;
    let headers = reader.headers().with_context(context)?;
    let column = headers
        .iter()
        .position(|name| name.trim().eq_ignore_ascii_case("XML_BATCH_ID"));
    let mut names = BTreeSet::new();
    let Some(column) = column else {
        return Ok(names);
    };
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).with_context(context)? {
        let name = record.get(column).unwrap_or_default();
        let name = String::from_utf8_lossy(name).trim().to_ascii_uppercase();
        if !names.contains(&name) && month_and_letter(&name, year).is_some() {
            names.insert(name);
        }
    }
    Ok(names)
}

/// Splits a name such as `2024_TEOS_XML_05A` into month and letter.
fn month_and_letter(name: &str, year: i16) -> Option<(&str, char)> {
    let rest = name.strip_prefix(&format!("{year}_TEOS_XML_"))?;
    let (month, letter) = rest.split_at_checked(2)?;
    let letter = letter.parse::<char>().ok()?;
    let is_month = month.bytes().all(|b| b.is_ascii_digit());
    (is_month && letter.is_ascii_uppercase()).then_some((month, letter))
}

/// Returns the bundles that a year may have, given the names in its index.
pub(super) fn series(names: &BTreeSet<String>, year: i16) -> Vec<Series> {
    if names.is_empty() {
        let numbered = (1..=UNNAMED_BUNDLES).map(|number| format!("download990xml_{year}_{number}"));
        return vec![
            Series {
                names: vec![format!("{year}_TEOS_XML_CT1")],
                indexed: 0,
            },
            Series {
                names: numbered.collect(),
                indexed: 0,
            },
        ];
    }
    let mut last_letters: BTreeMap<&str, char> = BTreeMap::new();
    for (month, letter) in names.iter().filter_map(|name| month_and_letter(name, year)) {
        let last = last_letters.entry(month).or_insert(letter);
        *last = letter.max(*last);
    }
    let series = last_letters.into_iter().map(|(month, last)| Series {
        names: ('A'..='Z')
            .map(|letter| format!("{year}_TEOS_XML_{month}{letter}"))
            .collect(),
        indexed: ('A'..=last).count(),
    });
    series.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> BTreeSet<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.csv");
        std::fs::write(&path, content).unwrap();
        read_index(&path, 2024).unwrap()
    }

    #[test]
    fn bundles_are_named_by_the_index_and_may_have_further_letters() {
        let names = read(
            "RETURN_ID,OBJECT_ID,XML_BATCH_ID\n1,2,2024_TEOS_XML_05a\n3,4,2024_TEOS_XML_05A\n5,6,2024_TEOS_XML_11C\n",
        );
        let found: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(found, ["2024_TEOS_XML_05A", "2024_TEOS_XML_11C"]);
        let series = series(&names, 2024);
        assert_eq!((series[0].indexed, series[1].indexed), (1, 3));
        assert_eq!(series[0].names[1], "2024_TEOS_XML_05B");
    }

    #[test]
    fn names_that_could_leave_the_folder_are_left_out() {
        let names = read(
            "XML_BATCH_ID\n../../etc/passwd\n2024_TEOS_XML_../A\n2023_TEOS_XML_01A\n2024_TEOS_XML_1\n\"\"\n2024_TEOS_XML_01AA\n",
        );
        assert!(names.is_empty(), "{names:?}");
    }

    #[test]
    fn an_index_without_names_means_the_bundles_of_the_first_years() {
        let series = series(&read("RETURN_ID,OBJECT_ID\n1,2\n"), 2019);
        assert_eq!(series[0].names, ["2019_TEOS_XML_CT1"]);
        assert_eq!(series[1].names[7], "download990xml_2019_8");
    }
}
