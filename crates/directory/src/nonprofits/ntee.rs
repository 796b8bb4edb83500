//! The National Taxonomy of Exempt Entities (NTEE): what a nonprofit works on, as a code such as `K31`.
//!
//! The letter is the major group, and the first digit the decile. `data/ntee.csv` has a title for each, as it is written
//! inside a sentence; a title on its own starts with a capital. Codes that start with `*` apply to every group.

use std::fmt;
use std::sync::LazyLock;

/// An NTEE code of three characters. It may be retired or unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ntee([u8; 3]);

/// The meaning of a code in the API. An unknown decile has the meaning of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The letter of the major group: `K`.
    pub major_code: &'static str,
    /// The title of the major group: `Food, agriculture and nutrition`.
    pub major_meaning: &'static str,
    /// The code of the decile: `K30`.
    pub decile_code: &'static str,
    /// The title of the decile: `Food programs`.
    pub decile_meaning: &'static str,
}

struct Title {
    in_sentence: String,
    standalone: String,
}

struct Table {
    /// Indexed by [`table_index`], because a title is looked up for every nonprofit in a response.
    titles: Vec<Option<Title>>,
    /// `A00`, `A10` … `Z90`, so that the code of a decile needs no allocation.
    deciles: Vec<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut titles: Vec<Option<Title>> = Vec::new();
    titles.resize_with(TABLE_SIZE, || None);
    let mut rows = csv::Reader::from_reader(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ntee.csv")).as_bytes(),
    );
    for row in rows.deserialize::<(String, String, String)>() {
        let (code, _, in_sentence) = row.expect("data/ntee.csv has the columns code, level, title");
        let mut standalone = in_sentence.clone();
        if let Some(first) = standalone.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let index = table_index(pad(code.as_bytes())).expect("data/ntee.csv contains codes");
        titles[index] = Some(Title {
            in_sentence,
            standalone,
        });
    }
    let deciles = ('A'..='Z')
        .flat_map(|major| (0..10).map(move |decile| format!("{major}{decile}0")))
        .collect();
    Table { titles, deciles }
});

/// Truncates a code to three characters, or pads it with zeros.
fn pad(code: &[u8]) -> [u8; 3] {
    let mut padded = [b'0'; 3];
    let length = code.len().min(3);
    padded[..length].copy_from_slice(&code[..length]);
    padded
}

/// The groups A to Z and `*`, ten deciles each, and a digit or a letter.
const TABLE_SIZE: usize = 27 * 10 * 36;

/// Returns the index of the title of a code.
fn table_index(code: [u8; 3]) -> Option<usize> {
    let major = match code[0] {
        letter @ b'A'..=b'Z' => letter - b'A',
        b'*' => 26,
        _ => return None,
    };
    let decile = code[1].is_ascii_digit().then(|| code[1] - b'0')?;
    let last = match code[2] {
        digit @ b'0'..=b'9' => digit - b'0',
        letter @ b'A'..=b'Z' => letter - b'A' + 10,
        _ => return None,
    };
    Some((usize::from(major) * 10 + usize::from(decile)) * 36 + usize::from(last))
}

fn title(code: [u8; 3]) -> Option<&'static Title> {
    TABLE.titles[table_index(code)?].as_ref()
}

impl Ntee {
    /// Parses a code. Ignores letter case and a fourth character, which has no meaning.
    ///
    /// A single letter is the group: `A` is `A00`. Text that is not a letter followed by digits (`0000`, `NA`) is not a
    /// code.
    pub fn parse(raw: &str) -> Option<Ntee> {
        let raw = raw.trim().as_bytes();
        let mut code = pad(raw);
        code.make_ascii_uppercase();
        let is_code = matches!(raw.len(), 1..=4)
            && code[0].is_ascii_uppercase()
            && code[1].is_ascii_digit()
            && code[2].is_ascii_alphanumeric();
        is_code.then_some(Ntee(code))
    }

    /// Returns the code: `K31`.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Returns the letter of the major group.
    pub const fn major(self) -> char {
        self.0[0] as char
    }

    /// Returns the group and the decile with their titles.
    pub fn meaning(self) -> Meaning {
        let table = &*TABLE;
        let major = usize::from(self.0[0] - b'A');
        let decile_code = table.deciles[major * 10 + usize::from(self.0[1] - b'0')].as_str();
        let major_meaning = self.major_title().map_or("", |title| &title.standalone);
        Meaning {
            major_code: &table.deciles[major * 10][..1],
            major_meaning,
            decile_code,
            decile_meaning: self
                .decile_title()
                .map_or(major_meaning, |title| &title.standalone),
        }
    }

    /// Returns the title of the code, or else of its decile, or else of its group.
    pub fn title(self) -> &'static str {
        let common = || title([b'*', self.0[1], self.0[2]]);
        let title = self
            .own_title()
            .or_else(common)
            .or_else(|| self.decile_title())
            .or_else(|| self.major_title());
        title.map_or("", |title| &title.standalone)
    }

    /// Returns the category as written inside a sentence. `None` if the nonprofit is not classified.
    pub fn field(self) -> Option<&'static str> {
        if self.is_unclassified() {
            return None;
        }
        let is_other = self.0[1..] == *b"99";
        // Some codes of these groups name one organization, such as the Salvation Army. Its field is that of the decile.
        let is_organization = |title: &Title| {
            matches!(self.0[0], b'J' | b'O' | b'P')
                && title.in_sentence.starts_with(|c: char| c.is_ascii_uppercase())
        };
        let own = self
            .own_title()
            .filter(|title| !is_other && !is_organization(title));
        let decile = || self.decile_title().filter(|_| !is_other);
        own.or_else(decile)
            .or_else(|| self.major_title())
            .map(|title| title.in_sentence.as_str())
    }

    /// Returns whether the code means that the nonprofit was not classified.
    pub(crate) const fn is_unclassified(self) -> bool {
        self.0[0] == b'Z'
    }

    /// Returns whether the code names only the group, a form of support within it, or a decile that most of the group
    /// is in: schools, multi-purpose human services, international aid, science in general.
    pub(crate) fn is_broad(self) -> bool {
        matches!(self.0[1], b'0' | b'1')
            || self.0[1..] == *b"99"
            || matches!(self.0[0], b'T' | b'Z')
            || matches!(&self.0, b"B20" | b"P20" | b"Q30" | b"U20")
    }

    fn own_title(self) -> Option<&'static Title> {
        title(self.0)
    }

    fn decile_title(self) -> Option<&'static Title> {
        title([self.0[0], self.0[1], b'0'])
    }

    // The table stores the title of a group under decile 0.
    fn major_title(self) -> Option<&'static Title> {
        title([self.0[0], b'0', b'0'])
    }
}

impl fmt::Display for Ntee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl fmt::Debug for Ntee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ntee({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ntee(code: &str) -> Ntee {
        Ntee::parse(code).unwrap()
    }

    #[test]
    fn only_three_characters_of_a_code_count() {
        assert_eq!(ntee("K31").code(), "K31");
        assert_eq!(ntee("k310").code(), "K31");
        assert_eq!(ntee(" a6e ").code(), "A6E");
        assert_eq!(ntee("B").code(), "B00");
        assert_eq!(ntee("K3").code(), "K30");
        for invalid in ["", "0000", "NA", "999", "3.0", "KXX", "K3100", "É31"] {
            assert_eq!(Ntee::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn the_meaning_of_a_code_is_its_group_and_its_decile() {
        assert_eq!(
            ntee("P24").meaning(),
            Meaning {
                major_code: "P",
                major_meaning: "Human services",
                decile_code: "P20",
                decile_meaning: "Multi-purpose human services",
            }
        );
    }

    #[test]
    fn a_decile_without_a_title_has_the_meaning_of_its_group() {
        let meaning = ntee("C99").meaning();
        assert_eq!(
            (meaning.decile_code, meaning.decile_meaning),
            ("C90", "Environment and conservation")
        );
        let meaning = ntee("A11").meaning();
        assert_eq!(
            (meaning.decile_code, meaning.decile_meaning),
            ("A10", "Arts, culture and humanities")
        );
    }

    #[test]
    fn a_field_reads_well_inside_a_sentence() {
        assert_eq!(ntee("K31").field(), Some("food banks and pantries"));
        assert_eq!(ntee("G83").field(), Some("Alzheimer's disease"));
        assert_eq!(ntee("B99").field(), Some("education"));
        assert_eq!(ntee("A11").field(), Some("arts, culture and humanities"));
        assert_eq!(ntee("P24").field(), Some("multi-purpose human services"));
        assert_eq!(ntee("Z99").field(), None);
    }

    #[test]
    fn a_retired_code_has_the_title_of_its_decile() {
        assert_eq!(ntee("A55").code(), "A55");
        assert_eq!(ntee("A55").title(), "Museums");
        assert_eq!(ntee("A11").title(), "Support of a single organization");
    }

    #[test]
    fn every_group_has_a_title() {
        assert!(('A'..='Z').all(|major| !ntee(&major.to_string()).meaning().major_meaning.is_empty()));
    }

    proptest! {
        #[test]
        fn every_code_has_a_complete_meaning(code in "[A-Z][0-9][0-9A-Z]") {
            let meaning = ntee(&code).meaning();
            prop_assert!(!meaning.major_meaning.is_empty() && !meaning.decile_meaning.is_empty());
            prop_assert_eq!(meaning.major_code, &code[..1]);
            prop_assert!(meaning.decile_code.starts_with(&code[..2]) && meaning.decile_code.ends_with('0'));
        }

        #[test]
        fn a_formatted_code_parses_as_the_same_code(raw in "\\PC{0,6}") {
            if let Some(ntee) = Ntee::parse(&raw) {
                prop_assert_eq!(Ntee::parse(ntee.code()), Some(ntee));
            }
        }
    }
}
