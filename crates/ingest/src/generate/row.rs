//! Generates the rows of an EO BMF file.

use std::fmt::Write as _;

use super::names::{Kind, Names};
use super::places::{Place, Places};
use super::rng::Rng;
use super::words::{Entry, WordLists};

/// Invalid NTEE codes. About one row in 250 of the real files has one.
const INVALID_NTEE: [&str; 6] = ["0000", "A6XZ", "N6XZ", "Z9", "b2a", "P8X"];
/// The upper bounds of the IRS amount codes, from code 1.
const AMOUNT_CODE_BOUNDS: [i64; 8] = [
    10_000, 25_000, 100_000, 500_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000,
];

/// Generates rows, and reuses its buffers.
pub(super) struct RowGenerator {
    names: Names,
    places: Places,
    streets: Vec<Entry>,
    street_types: Vec<Entry>,
    place: Place,
    name: String,
    second_name: String,
}

/// The amounts of a nonprofit. `None` if it reported nothing.
#[derive(Default)]
struct Amounts {
    assets: Option<i64>,
    income: Option<i64>,
    revenue: Option<i64>,
}

impl RowGenerator {
    pub(super) fn new() -> RowGenerator {
        let mut lists = WordLists::new(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../data/generate/lists.txt"
        )));
        let places = Places::new(lists.take("foreign"));
        let (streets, street_types) = (lists.take("street"), lists.take("way"));
        RowGenerator {
            names: Names::new(lists),
            places,
            streets,
            street_types,
            place: Place::default(),
            name: String::new(),
            second_name: String::new(),
        }
    }

    /// Appends a row.
    pub(super) fn write(&mut self, ein: u64, rng: &mut Rng, out: &mut String) {
        self.places.generate(rng, &mut self.place);
        let kind = self.names.generate(
            rng,
            &self.place,
            &self.places,
            &mut self.name,
            &mut self.second_name,
        );
        let _ = write!(out, "{ein:09},");
        push_field(&self.name, out);
        out.push(',');
        if rng.chance(6_000) {
            out.push_str("% ");
            self.names.write_person(rng, out);
        }
        out.push(',');
        self.write_street(rng, out);
        let Place { city, state, zip, .. } = &self.place;
        let zip_extension = if state.is_empty() || rng.chance(200) {
            0
        } else {
            1 + rng.below(9_999)
        };
        let _ = write!(out, ",{city},{state},{zip:05}-{zip_extension:04}");
        write_facts(&kind, state.is_empty(), rng, out);
        write_ntee(&kind, rng, out);
        out.push(',');
        push_field(&self.second_name, out);
        out.push_str("\r\n");
    }

    /// Returns the name in the row that was written last.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the city and the state in the row that was written last.
    pub(super) fn place(&self) -> (&str, &str) {
        (&self.place.city, self.place.state)
    }

    fn write_street(&self, rng: &mut Rng, out: &mut String) {
        if rng.chance(2_800) {
            let _ = write!(out, "PO BOX {}", 1 + rng.rank(1 << 14, 64));
            return;
        }
        let street = rng.choose_skewed(&self.streets).text;
        let street_type = rng.choose_skewed(&self.street_types).text;
        let _ = write!(out, "{} {street} {street_type}", 1 + rng.rank(1 << 14, 64));
        if rng.chance(1_200) {
            let _ = write!(out, " STE {}", 1 + rng.below(900));
        }
    }
}

fn write_facts(kind: &Kind, is_foreign: bool, rng: &mut Rng, out: &mut String) {
    let is_chapter = kind.group != "0000";
    let is_private = matches!(kind.foundation, "02" | "03" | "04");
    let affiliation = match rng.below(100) {
        0 => 0,
        1 if is_chapter => 6,
        _ if is_chapter => 9,
        _ => 3,
    };
    let classification = match (kind.subsection, kind.foundation) {
        (3, "10") => 7000,
        (3, "11") => 2000,
        (3, _) => *rng.choose_skewed(&[1000, 2000, 1200, 1700]),
        _ => *rng.choose_skewed(&[1000, 2000, 3000]),
    };
    let deductibility = match kind.subsection {
        3 | 13 | 19 if is_foreign => 4,
        3 | 13 | 19 => 1,
        8 | 10 if rng.chance(5_000) => 1,
        2 => 0,
        _ => 2,
    };
    let organization = if is_private && rng.chance(3_000) {
        2
    } else {
        [1, 5][usize::from(rng.chance(2_200))]
    };
    let status = match rng.below(1000) {
        0 => "02",
        1..4 => "12",
        4 => "25",
        _ => "01",
    };
    let fiscal_year_end = *rng.choose_skewed(&[12, 6, 12, 9, 8, 3, 5, 7, 4, 10, 1, 11, 2]);
    let Kind {
        subsection,
        foundation,
        group,
        ..
    } = kind;
    let _ = write!(out, ",{group},{subsection:02},{affiliation},{classification},");
    write_ruling(rng, out);
    let activity = if rng.chance(6_200) {
        0
    } else {
        rng.below(999) * 1_000_000
    };
    let _ = write!(
        out,
        ",{deductibility},{foundation},{activity:09},{organization},{status},"
    );
    if !rng.chance(2_100) {
        let _ = write!(
            out,
            "{}{fiscal_year_end:02}",
            2024 - rng.rank(9, 1) + rng.below(2)
        );
    }
    let amounts = amounts(kind, rng);
    let filing = match (kind.foundation, amounts.income) {
        ("10", _) => "06",
        (_, Some(50_001..)) => "01",
        _ if is_private => "00",
        _ => "02",
    };
    let _ = write!(
        out,
        ",{},{},{filing},{},{fiscal_year_end:02}",
        amount_code(amounts.assets),
        amount_code(amounts.income),
        u8::from(is_private)
    );
    for amount in [amounts.assets, amounts.income, amounts.revenue] {
        out.push(',');
        if let Some(amount) = amount {
            let _ = write!(out, "{amount}");
        }
    }
    out.push(',');
}

/// Writes the month of the ruling. Recent rulings are more common than old ones.
fn write_ruling(rng: &mut Rng, out: &mut String) {
    if rng.chance(70) {
        out.push_str("000000");
    } else {
        let _ = write!(out, "{}{:02}", 2025 - rng.rank(95, 8), 1 + rng.below(12));
    }
}

fn amounts(kind: &Kind, rng: &mut Rng) -> Amounts {
    let is_church = kind.foundation == "10";
    let is_private = matches!(kind.foundation, "02" | "03" | "04");
    let unreported_per_ten_thousand = if is_church { 9_300 } else { 850 };
    if rng.chance(unreported_per_ten_thousand) {
        return Amounts::default();
    }
    let zero_per_ten_thousand = match kind {
        _ if is_private => 500,
        Kind { group: "0000", .. } => 4_500,
        _ => 8_000,
    };
    let (assets, revenue) = if rng.chance(zero_per_ten_thousand) {
        (0, 0)
    } else {
        let size = kind.size.max(14);
        (
            rng.amount(size),
            if rng.chance(20) {
                -(rng.below(90_000) as i64)
            } else {
                rng.amount(size)
            },
        )
    };
    let income = if revenue < 0 {
        rng.amount(12)
    } else {
        revenue + revenue / 100 * rng.below(30) as i64
    };
    Amounts {
        assets: Some(assets),
        income: Some(income),
        revenue: (!is_private && !is_church).then_some(revenue),
    }
}

fn amount_code(amount: Option<i64>) -> usize {
    match amount {
        None | Some(..=0) => 0,
        Some(amount) => {
            1 + AMOUNT_CODE_BOUNDS
                .iter()
                .take_while(|bound| amount >= **bound)
                .count()
        }
    }
}

fn write_ntee(kind: &Kind, rng: &mut Rng, out: &mut String) {
    let blank_per_ten_thousand = match kind.foundation {
        "10" => 4_500,
        _ => 1_350,
    };
    if kind.ntee.is_empty() || rng.chance(blank_per_ten_thousand) {
        return;
    }
    if rng.chance(60) {
        out.push_str(rng.choose::<&str>(&INVALID_NTEE));
        return;
    }
    out.push_str(kind.ntee);
    match rng.below(100) {
        0..6 => out.push('Z'),
        6..9 => out.push('0'),
        _ => {}
    }
}

/// Appends a field, in quotes if it contains a comma. No generated field contains a quote.
fn push_field(text: &str, out: &mut String) {
    if text.contains(',') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(text);
    }
}
