//! Capitalizes single words: `YMCA` stays, `MCDONALD` becomes McDonald, `4TH` becomes 4th.
//!
//! The IRS files contain names and cities in capitals, without apostrophes. Rules handle what they can; acronyms,
//! abbreviations and names such as O'Brien are listed in `data/name-words.csv`.

use foldhash::HashMap;
use std::sync::LazyLock;

type Forms = HashMap<&'static str, &'static str>;

/// Words of names, and words that have another form after `ST` for saint.
static NAME_WORDS: LazyLock<(Forms, Forms)> = LazyLock::new(|| {
    let rows = forms(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/name-words.csv"
    )));
    let (after_saint, anywhere): (Vec<_>, Vec<_>) = rows.partition(|(_, _, after)| *after == "ST");
    let table = |rows: Vec<_>| {
        rows.into_iter()
            .map(|(filed, written, _)| (filed, written))
            .collect()
    };
    (table(anywhere), table(after_saint))
});

/// Words of cities, most of them postal abbreviations.
static CITY_WORDS: LazyLock<Forms> = LazyLock::new(|| {
    forms(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/city-words.csv"
    )))
    .map(|(filed, written, _)| (filed, written))
    .collect()
});

/// Parses the rows `filed,written[,after]` of a table.
fn forms(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split(',');
        Some((fields.next()?, fields.next()?, fields.next().unwrap_or_default()))
    })
}

/// The length of the longest word in the table. Longer words need no lookup.
const MAX_LISTED_LENGTH: usize = 14;

/// Returns the listed form of a word.
pub(crate) fn lookup(word: &str) -> Option<&'static str> {
    (word.len() <= MAX_LISTED_LENGTH)
        .then(|| NAME_WORDS.0.get(word).copied())
        .flatten()
}

/// Returns the form of a word after `ST` or `SAINT`: the church `ST PETERS` is St Peter's.
pub(crate) fn lookup_after_saint(word: &str) -> Option<&'static str> {
    NAME_WORDS.1.get(word).copied()
}

/// Returns the listed form of a word in the name of a city.
pub(crate) fn lookup_city_word(word: &str) -> Option<&'static str> {
    CITY_WORDS.get(word).copied()
}

/// Returns whether a word is lowercase inside a name: `Friends of the Library`.
pub(crate) fn is_minor_word(word: &str) -> bool {
    word.len() <= 4 && MINOR_WORDS.contains(&word)
}

const MINOR_WORDS: [&str; 28] = [
    "OF", "THE", "AND", "FOR", "IN", "AT", "ON", "TO", "A", "AN", "BY", "OR", "WITH", "FROM", "DE", "DEL",
    "LA", "LAS", "LOS", "Y", "EN", "DU", "DES", "AS", "VON", "UND", "PARA", "CON",
];

/// Returns whether a word at the end of a name can only be a state. Codes without a vowel stay in capitals anyway.
pub(crate) fn is_state_code(word: &str) -> bool {
    word.len() == 2 && STATE_CODES.contains(&word)
}

const STATE_CODES: [&str; 27] = [
    "AK", "AR", "AZ", "CA", "DE", "GA", "IA", "ID", "IL", "IN", "KY", "LA", "MA", "MI", "MO", "NE", "NY",
    "OH", "OK", "OR", "PA", "RI", "UT", "VA", "WA", "WI", "WY",
];

/// Writes a word in its usual form: the listed form, or the one that the rules for digits, Roman numerals, acronyms and Mc
/// produce.
pub(crate) fn write_word(out: &mut String, word: &str) {
    if let Some(written) = lookup(word) {
        out.push_str(written);
    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
        write_number_word(out, word);
    } else if is_roman_numeral(word) || !is_pronounceable(word) {
        out.push_str(word);
    } else if let Some(rest) = after_mc(word) {
        out.push_str("Mc");
        write_capitalized(out, rest);
    } else {
        write_capitalized(out, word);
    }
}

/// Writes a word that starts with digits. Endings become lowercase (`1ST`, `80S`); other letters stay (`5K`, `3D`).
fn write_number_word(out: &mut String, word: &str) {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (number, ending) = word.split_at(digits);
    out.push_str(number);
    let is_ending = matches!(ending, "ST" | "ND" | "RD" | "TH") || (ending == "S" && digits >= 2);
    if is_ending {
        write_lowercase(out, ending);
    } else {
        out.push_str(ending);
    }
}

/// Writes a word with its first letter as it is and the others in lowercase.
pub(crate) fn write_capitalized(out: &mut String, word: &str) {
    let first = word.chars().next().map_or(0, char::len_utf8);
    out.push_str(&word[..first]);
    write_lowercase(out, &word[first..]);
}

/// Writes a word in lowercase.
pub(crate) fn write_lowercase(out: &mut String, word: &str) {
    if word.is_ascii() {
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// Returns the rest of a Scottish or Irish name: `MC` and at least three letters.
fn after_mc(word: &str) -> Option<&str> {
    word.strip_prefix("MC")
        .filter(|rest| rest.len() >= 3 && rest.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Returns whether a word is a Roman numeral up to XXXIX.
fn is_roman_numeral(word: &str) -> bool {
    let units = word.trim_start_matches('X');
    word.len() - units.len() <= 3
        && matches!(
            units,
            "" | "I" | "II" | "III" | "IV" | "V" | "VI" | "VII" | "VIII" | "IX"
        )
}

/// Returns whether a word can be pronounced. A word without A, E, I, O, U or Y is an acronym.
pub(crate) fn is_pronounceable(word: &str) -> bool {
    word.bytes()
        .any(|b| !b.is_ascii_uppercase() || matches!(b, b'A' | b'E' | b'I' | b'O' | b'U' | b'Y'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(word: &str) -> String {
        let mut out = String::new();
        write_word(&mut out, word);
        out
    }

    #[test]
    fn acronyms_keep_their_capitals_and_abbreviations_do_not() {
        for (filed, expected) in [
            ("YMCA", "YMCA"),
            ("VFW", "VFW"),
            ("LLC", "LLC"),
            ("BMX", "BMX"),
            ("LTD", "Ltd"),
            ("ST", "St"),
            ("INC", "Inc"),
        ] {
            assert_eq!(write(filed), expected);
        }
    }

    #[test]
    fn names_with_mc_have_two_capitals() {
        assert_eq!(write("MCDONALD"), "McDonald");
        assert_eq!(write("MCKAY"), "McKay");
        assert_eq!(write("MCAT"), "Mcat");
        assert_eq!(write("MCC"), "MCC");
        assert_eq!(write("OBRIEN"), "O'Brien");
    }

    #[test]
    fn numerals_keep_their_capitals_and_ordinal_endings_are_lowercase() {
        for (filed, expected) in [
            ("III", "III"),
            ("XVII", "XVII"),
            ("21ST", "21st"),
            ("80S", "80s"),
            ("5K", "5K"),
            ("4H", "4-H"),
            ("MIX", "Mix"),
        ] {
            assert_eq!(write(filed), expected);
        }
    }

    #[test]
    fn letters_outside_ascii_become_lowercase() {
        assert_eq!(write("NIÑOS"), "Niños");
    }

    #[test]
    fn no_listed_word_is_longer_than_the_limit_of_the_lookup() {
        assert!(NAME_WORDS.0.keys().all(|word| word.len() <= MAX_LISTED_LENGTH));
        assert!(NAME_WORDS.0.len() > 500 && NAME_WORDS.1.len() > 40 && CITY_WORDS.len() > 40);
    }
}
