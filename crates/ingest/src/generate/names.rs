//! Generates names from patterns: `{town} HISTORICAL SOCIETY`, `{given} {family} FOUNDATION`.

use super::places::{Place, Places};
use super::rng::{Rng, Weighted};
use super::words::{Entry, WordGenerator, WordLists, lines, number, table};

const FAMILY_NAMES: u64 = 1 << 18;
const COINED_WORDS: u64 = 1 << 18;
const COUNTIES: u64 = 2500;
const MAX_NAME_LENGTH: usize = 70;
const MAX_SORT_NAME_LENGTH: usize = 35;
/// The number of rows in ten thousand that are chapters with the name of their organization.
const CHAPTERS_PER_TEN_THOUSAND: u64 = 1150;
const SECOND_NAMES_PER_TEN_THOUSAND: u64 = 1250;
const PLACEHOLDERS: [&str; 5] = ["SAME", "GROUP RETURN", "NONE", "NA", "-"];

/// The kind of nonprofit that a name belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub subsection: u8,
    pub foundation: &'static str,
    pub ntee: &'static str,
    /// The exponent of the median revenue, as a power of two.
    pub size: u8,
    /// The group exemption of a chapter. 0000 if it is not a chapter.
    pub group: &'static str,
}

/// Patterns and words for names.
pub(super) struct Names {
    lists: Vec<Vec<(Pattern, Option<&'static str>)>>,
    patterns: Weighted<(Kind, u64, Pattern)>,
    orders: Weighted<(Kind, Pattern, Pattern)>,
    aliases: Vec<Pattern>,
    given: Vec<&'static str>,
    families: WordGenerator,
    coined: WordGenerator,
    grades: usize,
}

type Pattern = Vec<Piece>;

#[derive(Clone, Copy, Debug)]
enum Piece {
    Text(&'static str),
    List(usize),
    City,
    Town,
    County,
    State,
    Region,
    Family,
    Given,
    Letter,
    School,
    Coined,
    Acronym,
    Number,
    LongNumber,
}

impl Names {
    pub(super) fn new(mut lists: WordLists) -> Names {
        let mut names = lists.names();
        names.sort_unstable();
        let entries: Vec<Vec<Entry>> = names.iter().map(|name| lists.take(name)).collect();
        let parse = |text| parse(text, &names);
        let read_entry = |entry: &Entry| (parse(entry.text), entry.ntee);
        Names {
            lists: entries
                .iter()
                .map(|list| list.iter().map(read_entry).collect())
                .collect(),
            patterns: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/names.txt"
                )),
                0,
                |[_, subsection, foundation, ntee, size, inc, pattern]| {
                    let (subsection, size) = (number(subsection), number(size));
                    let kind = Kind {
                        subsection,
                        foundation,
                        ntee,
                        size,
                        group: "0000",
                    };
                    (kind, number(inc), parse(pattern))
                },
            ),
            orders: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/orders.txt"
                )),
                0,
                |[_, subsection, foundation, group, name, second]| {
                    let kind = Kind {
                        subsection: number(subsection),
                        foundation,
                        ntee: "",
                        size: 15,
                        group,
                    };
                    (kind, parse(name), parse(second))
                },
            ),
            aliases: [
                "{coined} {project}",
                "{city} CHAPTER",
                "{adjective} {noun}",
                "{school}",
                "{acronym}",
            ]
            .map(parse)
            .to_vec(),
            given: lines(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../data/generate/given.txt"
            )))
            .flat_map(str::split_whitespace)
            .collect(),
            families: WordGenerator::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/families.txt"
                )),
                0xFA31,
            ),
            coined: WordGenerator::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/coined.txt"
                )),
                0xC019,
            ),
            grades: list_index("grade", &names),
        }
    }

    /// Generates a name and a second name line. Returns the kind of nonprofit.
    pub(super) fn generate(
        &self,
        rng: &mut Rng,
        place: &Place,
        places: &Places,
        name: &mut String,
        second: &mut String,
    ) -> Kind {
        name.clear();
        second.clear();
        let mut writer = NameWriter {
            names: self,
            places,
            place,
            rng,
            ntee: None,
        };
        let kind = if writer.rng.chance(CHAPTERS_PER_TEN_THOUSAND) {
            let (kind, pattern, second_pattern) = self.orders.choose(writer.rng);
            writer.write(pattern, name);
            if writer.rng.chance(9_700) {
                writer.write(second_pattern, second);
            }
            *kind
        } else {
            let (kind, inc, pattern) = self.patterns.choose(writer.rng);
            writer.write_name(pattern, *inc, name);
            if writer.rng.chance(SECOND_NAMES_PER_TEN_THOUSAND) {
                writer.write_second_name(second);
            }
            *kind
        };
        let ntee = writer.ntee.unwrap_or(kind.ntee);
        truncate(name, MAX_NAME_LENGTH);
        truncate(second, MAX_SORT_NAME_LENGTH);
        Kind { ntee, ..kind }
    }

    /// Writes a made-up name of a person.
    pub(crate) fn write_person(&self, rng: &mut Rng, out: &mut String) {
        out.push_str(rng.choose_skewed::<&str>(&self.given));
        out.push(' ');
        self.families.write(rng.rank(FAMILY_NAMES, 64), out);
    }
}

/// Writes the names of one row.
struct NameWriter<'a> {
    names: &'a Names,
    places: &'a Places,
    place: &'a Place,
    rng: &'a mut Rng,
    ntee: Option<&'static str>,
}

impl NameWriter<'_> {
    fn write_name(&mut self, pattern: &[Piece], inc: u64, out: &mut String) {
        if self.rng.chance(150) && !matches!(pattern[0], Piece::Text(text) if text.starts_with("THE ")) {
            out.push_str("THE ");
        }
        self.write(pattern, out);
        match self.rng.below(10_000) {
            value if value < inc * 100 => out.push_str(" INC"),
            9_600..9_730 => out.push_str(" INCORPORATED"),
            9_730..9_860 => out.push_str(" CORPORATION"),
            9_860..9_930 => out.push_str(" CORP"),
            9_930..9_970 => out.push_str(" LTD"),
            _ => {}
        }
    }

    fn write_second_name(&mut self, out: &mut String) {
        if self.rng.chance(300) {
            out.push_str(self.rng.choose::<&str>(&PLACEHOLDERS));
        } else {
            let patterns = &self.names.aliases;
            let ntee = self.ntee;
            let pattern = self.rng.choose(patterns);
            self.write(pattern, out);
            self.ntee = ntee;
        }
    }

    fn write(&mut self, pattern: &[Piece], out: &mut String) {
        for piece in pattern {
            self.write_piece(*piece, out);
        }
    }

    fn write_piece(&mut self, piece: Piece, out: &mut String) {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::List(list) => self.write_entry(list, out),
            Piece::City => out.push_str(&self.place.city),
            Piece::Town if self.rng.chance(4_000) => out.push_str(&self.place.city),
            Piece::Town => self.places.write_town(self.rng, out),
            Piece::State if self.place.state.is_empty() => out.push_str(&self.place.city),
            Piece::State => out.push_str(self.place.state_name),
            Piece::Region => self.write_region(out),
            Piece::School => self.write_school(out),
            Piece::County => {
                self.names.families.write(self.rng.rank(COUNTIES, 64), out);
                out.push_str(" COUNTY");
            }
            Piece::Family => self.names.families.write(self.rng.rank(FAMILY_NAMES, 64), out),
            Piece::Given => out.push_str(self.rng.choose_skewed::<&str>(&self.names.given)),
            Piece::Coined => self.names.coined.write(self.rng.rank(COINED_WORDS, 256), out),
            Piece::Letter => self.write_letters(1, out),
            Piece::Acronym => {
                let letters = 3 + self.rng.below(3);
                self.write_letters(letters, out);
            }
            Piece::Number => out.push_str(&(1 + self.rng.rank(1 << 14, 64)).to_string()),
            Piece::LongNumber => out.push_str(&(10_000 + self.rng.below(4_990_000)).to_string()),
        }
    }

    fn write_entry(&mut self, list: usize, out: &mut String) {
        let names = self.names;
        let list = &names.lists[list];
        let (pattern, ntee) = self.rng.choose_skewed(list);
        self.ntee = ntee.or(self.ntee);
        self.write(pattern, out);
    }

    fn write_region(&mut self, out: &mut String) {
        const SIDES: [&str; 8] = [
            "GREATER ",
            "NORTH ",
            "SOUTH ",
            "WEST ",
            "EAST ",
            "CENTRAL ",
            "NORTHERN ",
            "SOUTHERN ",
        ];
        match self.rng.below(10) {
            0..4 => out.push_str(&self.place.city),
            4..6 => self.write_piece(Piece::County, out),
            6..8 => self.write_piece(Piece::State, out),
            _ => {
                out.push_str(self.rng.choose_skewed::<&str>(&SIDES));
                out.push_str(&self.place.city);
            }
        }
    }

    fn write_school(&mut self, out: &mut String) {
        match self.rng.below(10) {
            0..6 => self.write_piece(Piece::Town, out),
            6..8 => self.write_piece(Piece::Family, out),
            _ => self.names.write_person(self.rng, out),
        }
        out.push(' ');
        self.write_entry(self.names.grades, out);
    }

    fn write_letters(&mut self, count: u64, out: &mut String) {
        out.extend((0..count).map(|_| char::from(b'A' + self.rng.below(26) as u8)));
    }
}

/// Truncates a text without an ellipsis, as the IRS does. All words are ASCII.
fn truncate(text: &mut String, max_length: usize) {
    text.truncate(max_length);
    text.truncate(text.trim_end().len());
}

fn list_index(list: &str, lists: &[&str]) -> usize {
    lists
        .binary_search(&list)
        .unwrap_or_else(|_| panic!("there is no list {list}"))
}

fn parse(text: &'static str, lists: &[&'static str]) -> Pattern {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let (word, after) = tail
            .split_once('}')
            .unwrap_or_else(|| panic!("a brace is not closed: {text}"));
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        pieces.push(match word {
            "city" => Piece::City,
            "town" => Piece::Town,
            "county" => Piece::County,
            "state" => Piece::State,
            "region" => Piece::Region,
            "family" => Piece::Family,
            "given" => Piece::Given,
            "letter" => Piece::Letter,
            "school" => Piece::School,
            "coined" => Piece::Coined,
            "acronym" => Piece::Acronym,
            "number" => Piece::Number,
            "longnumber" => Piece::LongNumber,
            list => Piece::List(list_index(list, lists)),
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}
