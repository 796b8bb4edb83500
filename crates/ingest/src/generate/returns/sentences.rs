//! Sentences, websites and made-up people for generated returns.

use crate::generate::rng::Rng;
use std::fmt::Write as _;

/// Returns a website as filers write it, or that there is none.
pub(super) fn website(rng: &mut Rng) -> String {
    match rng.below(10) {
        0 => "N/A".to_owned(),
        1 => format!("HTTP://WWW.EXAMPLE{}.ORG/About", rng.below(1 << 20)),
        _ => format!("WWW.EXAMPLE{}.ORG", rng.below(1 << 20)),
    }
}

/// Returns some sentences, most of them in capitals.
pub(super) fn text(rng: &mut Rng, sentences: u64) -> String {
    let mut out = String::new();
    for sentence in 0..=rng.below(sentences) {
        if sentence > 0 {
            out.push(' ');
        }
        let _ = write!(
            out,
            "{} {} FOR {} IN {} THROUGH {} AND {}.",
            rng.choose(&VERBS),
            rng.choose(&SERVICES),
            rng.choose(&PEOPLE),
            rng.choose(&PLACES),
            rng.choose(&SERVICES),
            rng.choose(&SERVICES),
        );
    }
    if rng.chance(2_500) {
        let first = out.remove(0);
        out.make_ascii_lowercase();
        out.insert(0, first);
    }
    out
}

const VERBS: [&str; 8] = [
    "TO PROVIDE",
    "WE OFFER",
    "THE ORGANIZATION SUPPORTS",
    "PROMOTING",
    "TO ADVANCE",
    "WE BUILD",
    "IT ORGANIZES",
    "TO EXPAND",
];
const SERVICES: [&str; 16] = [
    "FOOD AND CLOTHING",
    "HEALTH CARE",
    "LEGAL AID",
    "AFTER-SCHOOL PROGRAMS",
    "AFFORDABLE HOUSING",
    "MUSIC EDUCATION",
    "JOB TRAINING",
    "SCHOLARSHIPS",
    "COUNSELING",
    "EMERGENCY RELIEF",
    "ANIMAL RESCUE",
    "COMMUNITY GARDENS",
    "YOUTH SPORTS",
    "MENTORING",
    "PUBLIC CONCERTS",
    "RESEARCH GRANTS",
];
const PEOPLE: [&str; 10] = [
    "LOW-INCOME FAMILIES",
    "VETERANS",
    "CHILDREN",
    "OLDER ADULTS",
    "IMMIGRANTS AND REFUGEES",
    "STUDENTS",
    "WOMEN AND GIRLS",
    "PEOPLE WITH DISABILITIES",
    "NEIGHBORS IN NEED",
    "ARTISTS",
];
const PLACES: [&str; 10] = [
    "OUR COUNTY",
    "NEW YORK",
    "RURAL COMMUNITIES",
    "THE UNITED STATES",
    "EL PASO",
    "CENTRAL AMERICA",
    "CHICAGO",
    "OUR SCHOOLS",
    "THE PACIFIC NORTHWEST",
    "TEXAS AND NEW MEXICO",
];
pub(crate) const GIVEN_NAMES: [&str; 8] = [
    "ALEX", "SAM", "JORDAN", "TAYLOR", "MORGAN", "CASEY", "RILEY", "ROBIN",
];
pub(crate) const FAMILY_NAMES: [&str; 8] = [
    "EXAMPLE", "SAMPLE", "SPECIMEN", "PATTERN", "MODEL", "INSTANCE", "CASE", "DUMMY",
];
pub(super) const TITLES: [&str; 6] = [
    "DIRECTOR",
    "TREASURER",
    "SECRETARY",
    "CHAIR",
    "EXECUTIVE DIRECTOR",
    "TRUSTEE",
];
