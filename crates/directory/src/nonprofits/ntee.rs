//! The National Taxonomy of Exempt Entities: what a body works on, as a code such as `K31`.
//!
//! The first letter is the major group, the tens its decile. `data/ntee.csv` holds a title for each, written as it
//! stands inside a sentence; the first letter is raised where a title stands alone. Codes that start with `*` hold in
//! every group.

use std::fmt;
use std::sync::LazyLock;

/// A code of three characters in a known group. The code itself may be retired or unknown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ntee([u8; 3]);

/// What a code means on the wire; an unknown decile has the meaning of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The letter of the group: `K`.
    pub major_code: &'static str,
    /// Its title: `Food, agriculture and nutrition`.
    pub major_meaning: &'static str,
    /// The code of the decile: `K30`.
    pub decile_code: &'static str,
    /// Its title: `Food programs`.
    pub decile_meaning: &'static str,
}

struct Title {
    within: String,
    alone: String,
}

struct Table {
    /// By [`place`], since one is looked up for every nonprofit that is shown.
    titles: Vec<Option<Title>>,
    /// `A00`, `A10` … `Z90`, so that a decile's code is had without making text.
    deciles: Vec<String>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut titles: Vec<Option<Title>> = Vec::new();
    titles.resize_with(PLACES, || None);
    let mut rows = csv::Reader::from_reader(
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/ntee.csv")).as_bytes(),
    );
    for row in rows.deserialize::<(String, String, String)>() {
        let (code, _, within) = row.expect("data/ntee.csv has the columns code, level, title");
        let mut alone = within.clone();
        if let Some(first) = alone.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let place = place(key(code.as_bytes())).expect("data/ntee.csv holds codes");
        titles[place] = Some(Title { within, alone });
    }
    let deciles = ('A'..='Z')
        .flat_map(|major| (0..10).map(move |decile| format!("{major}{decile}0")))
        .collect();
    Table { titles, deciles }
});

fn key(code: &[u8]) -> [u8; 3] {
    let mut key = [b'0'; 3];
    key[..code.len().min(3)].copy_from_slice(&code[..code.len().min(3)]);
    key
}

/// The groups A to Z and `*`, ten deciles in each, and a digit or a letter.
const PLACES: usize = 27 * 10 * 36;

/// Where the title of a code stands in the table.
fn place(code: [u8; 3]) -> Option<usize> {
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
    TABLE.titles[place(code)?].as_ref()
}

impl Ntee {
    /// Reads the first three characters; the fourth that some rows carry says nothing. Small letters are raised. A
    /// lone letter is its group: `A` is `A00`. What is no letter with digits behind it (`0000`, `NA`) is no code.
    pub fn parse(raw: &str) -> Option<Ntee> {
        let raw = raw.trim().as_bytes();
        let mut code = key(raw);
        code.make_ascii_uppercase();
        let is_code = matches!(raw.len(), 1..=4)
            && code[0].is_ascii_uppercase()
            && code[1].is_ascii_digit()
            && code[2].is_ascii_alphanumeric();
        is_code.then_some(Ntee(code))
    }

    /// The code: `K31`.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The letter of the group.
    pub const fn major(self) -> char {
        self.0[0] as char
    }

    /// Group and decile with their titles.
    pub fn meaning(self) -> Meaning {
        let table = &*TABLE;
        let major = usize::from(self.0[0] - b'A');
        let decile_code = table.deciles[major * 10 + usize::from(self.0[1] - b'0')].as_str();
        let major_meaning = self.major_title().map_or("", |title| &title.alone);
        Meaning {
            major_code: &table.deciles[major * 10][..1],
            major_meaning,
            decile_code,
            decile_meaning: self.decile_title().map_or(major_meaning, |title| &title.alone),
        }
    }

    /// The title of the code itself, else of its decile, else of its group.
    pub fn title(self) -> &'static str {
        let common = || title([b'*', self.0[1], self.0[2]]);
        let title = self
            .own_title()
            .or_else(common)
            .or_else(|| self.decile_title())
            .or_else(|| self.major_title());
        title.map_or("", |title| &title.alone)
    }

    /// What the body works on, to be put inside a sentence; nothing where the code says nothing.
    pub fn field(self) -> Option<&'static str> {
        if self.is_unclassified() {
            return None;
        }
        let is_rest = self.0[1..] == *b"99";
        // Some codes of these groups are one organization, such as the Salvation Army: its field is the decile's.
        let is_one_body = |title: &Title| {
            matches!(self.0[0], b'J' | b'O' | b'P')
                && title.within.starts_with(|c: char| c.is_ascii_uppercase())
        };
        let own = self.own_title().filter(|title| !is_rest && !is_one_body(title));
        let decile = || self.decile_title().filter(|_| !is_rest);
        own.or_else(decile)
            .or_else(|| self.major_title())
            .map(|title| title.within.as_str())
    }

    /// Does the code say that the body was not classified?
    pub const fn is_unclassified(self) -> bool {
        self.0[0] == b'Z'
    }

    /// Does the code name only the group, or a form of support within it?
    pub fn is_broad(self) -> bool {
        matches!(self.0[1], b'0' | b'1') || self.0[1..] == *b"99" || matches!(self.0[0], b'T' | b'Z')
    }

    fn own_title(self) -> Option<&'static Title> {
        title(self.0)
    }

    fn decile_title(self) -> Option<&'static Title> {
        title([self.0[0], self.0[1], b'0'])
    }

    // A lone letter of the table is kept as the decile 0.
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
    fn a_code_has_three_characters_that_matter() {
        assert_eq!(ntee("K31").code(), "K31");
        assert_eq!(ntee("k310").code(), "K31");
        assert_eq!(ntee(" a6e ").code(), "A6E");
        assert_eq!(ntee("B").code(), "B00");
        assert_eq!(ntee("K3").code(), "K30");
        for junk in ["", "0000", "NA", "999", "3.0", "KXX", "K3100", "É31"] {
            assert_eq!(Ntee::parse(junk), None, "{junk}");
        }
    }

    #[test]
    fn a_code_means_its_group_and_its_decile() {
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
    fn a_decile_without_title_has_the_meaning_of_its_group() {
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
    fn a_retired_code_keeps_itself_and_borrows_its_title() {
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
        fn every_code_has_a_whole_meaning(code in "[A-Z][0-9][0-9A-Z]") {
            let meaning = ntee(&code).meaning();
            prop_assert!(!meaning.major_meaning.is_empty() && !meaning.decile_meaning.is_empty());
            prop_assert_eq!(meaning.major_code, &code[..1]);
            prop_assert!(meaning.decile_code.starts_with(&code[..2]) && meaning.decile_code.ends_with('0'));
        }

        #[test]
        fn what_a_code_shows_reads_as_the_same_code(raw in "\\PC{0,6}") {
            if let Some(ntee) = Ntee::parse(&raw) {
                prop_assert_eq!(Ntee::parse(ntee.code()), Some(ntee));
            }
        }
    }
}
