//! One made-up row of the EO BMF, with the habits of the real ones.

use std::fmt::Write as _;

use super::names::{Kind, Names};
use super::places::{Place, Places};
use super::rng::Rng;
use super::words::{Entry, Lists};

/// NTEE codes that are in no table, as one row in 250 has one.
const BROKEN_NTEE: [&str; 6] = ["0000", "A6XZ", "N6XZ", "Z9", "b2a", "P8X"];
/// Upper bounds of the classes in which the IRS puts amounts, from class 1 on.
const CLASSES: [i64; 8] = [
    10_000, 25_000, 100_000, 500_000, 1_000_000, 5_000_000, 10_000_000, 50_000_000,
];

/// Makes rows; its buffers serve every row.
pub struct Rows {
    names: Names,
    places: Places,
    streets: Vec<Entry>,
    ways: Vec<Entry>,
    place: Place,
    name: String,
    second_name: String,
}

/// What a body has and took in; nothing where it told the IRS nothing.
#[derive(Default)]
struct Money {
    assets: Option<i64>,
    income: Option<i64>,
    revenue: Option<i64>,
}

impl Rows {
    pub fn new() -> Rows {
        let mut lists = Lists::new(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../data/generate/lists.txt"
        )));
        let places = Places::new(lists.take("foreign"));
        let (streets, ways) = (lists.take("street"), lists.take("way"));
        Rows {
            names: Names::new(lists),
            places,
            streets,
            ways,
            place: Place::default(),
            name: String::new(),
            second_name: String::new(),
        }
    }

    /// Appends one line.
    pub fn write(&mut self, ein: u64, rng: &mut Rng, out: &mut String) {
        self.places.draw(rng, &mut self.place);
        let kind = self.names.draw(
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
        let four = if state.is_empty() || rng.chance(200) {
            0
        } else {
            1 + rng.below(9_999)
        };
        let _ = write!(out, ",{city},{state},{zip:05}-{four:04}");
        write_facts(&kind, state.is_empty(), rng, out);
        write_ntee(&kind, rng, out);
        out.push(',');
        push_field(&self.second_name, out);
        out.push_str("\r\n");
    }

    fn write_street(&self, rng: &mut Rng, out: &mut String) {
        if rng.chance(2_800) {
            let _ = write!(out, "PO BOX {}", 1 + rng.rank(1 << 14, 64));
            return;
        }
        let street = rng.choose_skewed(&self.streets).text;
        let way = rng.choose_skewed(&self.ways).text;
        let _ = write!(out, "{} {street} {way}", 1 + rng.rank(1 << 14, 64));
        if rng.chance(1_200) {
            let _ = write!(out, " STE {}", 1 + rng.below(900));
        }
    }
}

fn write_facts(kind: &Kind, abroad: bool, rng: &mut Rng, out: &mut String) {
    let chapter = kind.group != "0000";
    let private = matches!(kind.foundation, "02" | "03" | "04");
    let affiliation = match rng.below(100) {
        0 => 0,
        1 if chapter => 6,
        _ if chapter => 9,
        _ => 3,
    };
    let classification = match (kind.subsection, kind.foundation) {
        (3, "10") => 7000,
        (3, "11") => 2000,
        (3, _) => *rng.choose_skewed(&[1000, 2000, 1200, 1700]),
        _ => *rng.choose_skewed(&[1000, 2000, 3000]),
    };
    let deductibility = match kind.subsection {
        3 | 13 | 19 if abroad => 4,
        3 | 13 | 19 => 1,
        8 | 10 if rng.chance(5_000) => 1,
        2 => 0,
        _ => 2,
    };
    let organization = if private && rng.chance(3_000) {
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
    let closes = *rng.choose_skewed(&[12, 6, 12, 9, 8, 3, 5, 7, 4, 10, 1, 11, 2]);
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
        let _ = write!(out, "{}{closes:02}", 2024 - rng.rank(9, 1) + rng.below(2));
    }
    let money = money(kind, rng);
    let filing = match (kind.foundation, money.income) {
        ("10", _) => "06",
        (_, Some(50_001..)) => "01",
        _ if private => "00",
        _ => "02",
    };
    let _ = write!(
        out,
        ",{},{},{filing},{},{closes:02}",
        class(money.assets),
        class(money.income),
        u8::from(private)
    );
    for amount in [money.assets, money.income, money.revenue] {
        out.push(',');
        if let Some(amount) = amount {
            let _ = write!(out, "{amount}");
        }
    }
    out.push(',');
}

/// Young bodies are many, old ones few; the oldest rulings date from before the war.
fn write_ruling(rng: &mut Rng, out: &mut String) {
    if rng.chance(70) {
        out.push_str("000000");
    } else {
        let _ = write!(out, "{}{:02}", 2025 - rng.rank(95, 8), 1 + rng.below(12));
    }
}

fn money(kind: &Kind, rng: &mut Rng) -> Money {
    let church = kind.foundation == "10";
    let private = matches!(kind.foundation, "02" | "03" | "04");
    let silent = if church { 9_300 } else { 850 };
    if rng.chance(silent) {
        return Money::default();
    }
    let idle = match kind {
        _ if private => 500,
        Kind { group: "0000", .. } => 4_500,
        _ => 8_000,
    };
    let (assets, revenue) = if rng.chance(idle) {
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
    Money {
        assets: Some(assets),
        income: Some(income),
        revenue: (!private && !church).then_some(revenue),
    }
}

fn class(amount: Option<i64>) -> usize {
    match amount {
        None | Some(..=0) => 0,
        Some(amount) => 1 + CLASSES.iter().take_while(|bound| amount >= **bound).count(),
    }
}

fn write_ntee(kind: &Kind, rng: &mut Rng, out: &mut String) {
    let blank = match kind.foundation {
        "10" => 4_500,
        _ => 1_350,
    };
    if kind.ntee.is_empty() || rng.chance(blank) {
        return;
    }
    if rng.chance(60) {
        out.push_str(rng.choose::<&str>(&BROKEN_NTEE));
        return;
    }
    out.push_str(kind.ntee);
    match rng.below(100) {
        0..6 => out.push('Z'),
        6..9 => out.push('0'),
        _ => {}
    }
}

/// Quotes stand only around a field that holds a comma, and no field of ours holds a quote.
fn push_field(text: &str, out: &mut String) {
    if text.contains(',') {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(text);
    }
}
