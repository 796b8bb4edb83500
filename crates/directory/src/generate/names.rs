//! Names out of patterns: `{town} HISTORICAL SOCIETY`, `{given} {family} FOUNDATION`.

use super::places::{Place, Places};
use super::rng::{Rng, Weighted};
use super::words::{Composed, Entry, Lists, lines, number, table};

const FAMILIES: u64 = 1 << 18;
const COINED: u64 = 1 << 18;
const COUNTIES: u64 = 2500;
const LONGEST_NAME: usize = 70;
const LONGEST_SORT_NAME: usize = 35;
/// In ten thousand rows, those whose name is shared by all chapters of a larger body.
const CHAPTERS: u64 = 1150;
const SECOND_NAMES: u64 = 1250;
const NOISE: [&str; 5] = ["SAME", "GROUP RETURN", "NONE", "NA", "-"];

/// What the pattern of a name says about its body.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub subsection: u8,
    pub foundation: &'static str,
    pub ntee: &'static str,
    /// The median revenue, as a power of two.
    pub size: u8,
    /// The group exemption of a chapter; 0000 for a body of its own.
    pub group: &'static str,
}

pub struct Names {
    lists: Vec<Vec<(Pattern, Option<&'static str>)>>,
    patterns: Weighted<(Kind, u64, Pattern)>,
    orders: Weighted<(Kind, Pattern, Pattern)>,
    seconds: Vec<Pattern>,
    given: Vec<&'static str>,
    families: Composed,
    coined: Composed,
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
    pub fn new(mut lists: Lists) -> Names {
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
            seconds: [
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
            families: Composed::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/families.txt"
                )),
                0xFA31,
            ),
            coined: Composed::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/coined.txt"
                )),
                0xC019,
            ),
            grades: place_of("grade", &names),
        }
    }

    /// Draws a name and a second name line, and says what kind of body bears them.
    pub fn draw(
        &self,
        rng: &mut Rng,
        at: &Place,
        places: &Places,
        name: &mut String,
        second: &mut String,
    ) -> Kind {
        name.clear();
        second.clear();
        let mut writer = Writer {
            names: self,
            places,
            at,
            rng,
            ntee: None,
        };
        let kind = if writer.rng.chance(CHAPTERS) {
            let (kind, pattern, second_pattern) = self.orders.draw(writer.rng);
            writer.write(pattern, name);
            if writer.rng.chance(9_700) {
                writer.write(second_pattern, second);
            }
            *kind
        } else {
            let (kind, inc, pattern) = self.patterns.draw(writer.rng);
            writer.write_named(pattern, *inc, name);
            if writer.rng.chance(SECOND_NAMES) {
                writer.write_second_name(second);
            }
            *kind
        };
        let ntee = writer.ntee.unwrap_or(kind.ntee);
        cut(name, LONGEST_NAME);
        cut(second, LONGEST_SORT_NAME);
        Kind { ntee, ..kind }
    }

    /// Writes the name of a person whom nobody has met.
    pub fn write_person(&self, rng: &mut Rng, out: &mut String) {
        out.push_str(rng.choose_skewed::<&str>(&self.given));
        out.push(' ');
        self.families.write(rng.rank(FAMILIES, 64), out);
    }
}

/// Fills patterns for one row.
struct Writer<'a> {
    names: &'a Names,
    places: &'a Places,
    at: &'a Place,
    rng: &'a mut Rng,
    ntee: Option<&'static str>,
}

impl Writer<'_> {
    fn write_named(&mut self, pattern: &[Piece], inc: u64, out: &mut String) {
        if self.rng.chance(150) && !matches!(pattern[0], Piece::Text(text) if text.starts_with("THE ")) {
            out.push_str("THE ");
        }
        self.write(pattern, out);
        match self.rng.below(10_000) {
            thrown if thrown < inc * 100 => out.push_str(" INC"),
            9_600..9_730 => out.push_str(" INCORPORATED"),
            9_730..9_860 => out.push_str(" CORPORATION"),
            9_860..9_930 => out.push_str(" CORP"),
            9_930..9_970 => out.push_str(" LTD"),
            _ => {}
        }
    }

    fn write_second_name(&mut self, out: &mut String) {
        if self.rng.chance(300) {
            out.push_str(self.rng.choose::<&str>(&NOISE));
        } else {
            let patterns = &self.names.seconds;
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
            Piece::City => out.push_str(&self.at.city),
            Piece::Town if self.rng.chance(4_000) => out.push_str(&self.at.city),
            Piece::Town => self.places.write_town(self.rng, out),
            Piece::State if self.at.state.is_empty() => out.push_str(&self.at.city),
            Piece::State => out.push_str(self.at.state_name),
            Piece::Region => self.write_region(out),
            Piece::School => self.write_school(out),
            Piece::County => {
                self.names.families.write(self.rng.rank(COUNTIES, 64), out);
                out.push_str(" COUNTY");
            }
            Piece::Family => self.names.families.write(self.rng.rank(FAMILIES, 64), out),
            Piece::Given => out.push_str(self.rng.choose_skewed::<&str>(&self.names.given)),
            Piece::Coined => self.names.coined.write(self.rng.rank(COINED, 256), out),
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
            0..4 => out.push_str(&self.at.city),
            4..6 => self.write_piece(Piece::County, out),
            6..8 => self.write_piece(Piece::State, out),
            _ => {
                out.push_str(self.rng.choose_skewed::<&str>(&SIDES));
                out.push_str(&self.at.city);
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

/// The IRS cuts without a mark. All our words are ASCII.
fn cut(text: &mut String, longest: usize) {
    text.truncate(longest);
    text.truncate(text.trim_end().len());
}

fn place_of(list: &str, lists: &[&str]) -> usize {
    lists
        .binary_search(&list)
        .unwrap_or_else(|_| panic!("a list named {list}"))
}

fn parse(text: &'static str, lists: &[&'static str]) -> Pattern {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('{') {
        let (word, after) = tail
            .split_once('}')
            .unwrap_or_else(|| panic!("a closing brace in: {text}"));
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
            list => Piece::List(place_of(list, lists)),
        });
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}
