//! How one word of an upper-case filing is written: `YMCA` stays, `MCDONALD` is McDonald, `4TH` is 4th.
//!
//! The IRS files names and cities in capitals without apostrophes. What a rule can tell is told here; what only
//! knowledge can tell (acronyms, abbreviations, O'Brien) stands in `data/name-words.csv`.

use std::collections::HashMap;
use std::sync::LazyLock;

type Forms = HashMap<&'static str, &'static str>;

/// Words of names: everywhere, and those that change only behind a saint's `ST`.
static NAME_WORDS: LazyLock<(Forms, Forms)> = LazyLock::new(|| {
    let rows = forms(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/name-words.csv"
    )));
    let (behind_saint, everywhere): (Vec<_>, Vec<_>) = rows.partition(|(_, _, after)| *after == "ST");
    let table = |rows: Vec<_>| {
        rows.into_iter()
            .map(|(filed, written, _)| (filed, written))
            .collect()
    };
    (table(everywhere), table(behind_saint))
});

/// Words of cities, most of them the short forms of the post office.
static CITY_WORDS: LazyLock<Forms> = LazyLock::new(|| {
    forms(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/city-words.csv"
    )))
    .map(|(filed, written, _)| (filed, written))
    .collect()
});

/// The rows `filed,written[,after]` of a table.
fn forms(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split(',');
        Some((fields.next()?, fields.next()?, fields.next().unwrap_or_default()))
    })
}

/// The longest word of the table; longer ones need no lookup.
const LONGEST_KNOWN: usize = 14;

/// The form of a word that is known by itself.
pub fn lookup(word: &str) -> Option<&'static str> {
    (word.len() <= LONGEST_KNOWN)
        .then(|| NAME_WORDS.0.get(word).copied())
        .flatten()
}

/// The form of a word behind `ST` or `SAINT`: the church of `ST PETERS` is St Peter's.
pub fn lookup_after_saint(word: &str) -> Option<&'static str> {
    NAME_WORDS.1.get(word).copied()
}

/// The form of a word of a city.
pub fn lookup_city_word(word: &str) -> Option<&'static str> {
    CITY_WORDS.get(word).copied()
}

/// Words that are small inside a name: `Friends of the Library`.
pub fn is_minor_word(word: &str) -> bool {
    word.len() <= 4 && SMALL.contains(&word)
}

const SMALL: [&str; 28] = [
    "OF", "THE", "AND", "FOR", "IN", "AT", "ON", "TO", "A", "AN", "BY", "OR", "WITH", "FROM", "DE", "DEL",
    "LA", "LAS", "LOS", "Y", "EN", "DU", "DES", "AS", "VON", "UND", "PARA", "CON",
];

/// Codes of states that are no word, so that at the end of a name they can only be the state. Those without a
/// vowel need no list.
pub fn is_plain_state_code(word: &str) -> bool {
    word.len() == 2 && PLAIN_STATES.contains(&word)
}

const PLAIN_STATES: [&str; 27] = [
    "AK", "AR", "AZ", "CA", "DE", "GA", "IA", "ID", "IL", "IN", "KY", "LA", "MA", "MI", "MO", "NE", "NY",
    "OH", "OK", "OR", "PA", "RI", "UT", "VA", "WA", "WI", "WY",
];

/// Writes one word of capitals: looks it up, else applies the rules of digits, numerals, initials and Mc.
pub fn write_word(out: &mut String, word: &str) {
    if let Some(written) = lookup(word) {
        out.push_str(written);
    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
        write_numbered(out, word);
    } else if is_roman(word) || !is_pronounceable(word) {
        out.push_str(word);
    } else if let Some(rest) = clan(word) {
        out.push_str("Mc");
        write_capitalized(out, rest);
    } else {
        write_capitalized(out, word);
    }
}

/// `1ST`, `80S`: the letters behind the digits are small where they are an ending; `5K`, `3D` stay.
fn write_numbered(out: &mut String, word: &str) {
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

/// First letter large, the others small; an apostrophe inside does not start a new word.
pub fn write_capitalized(out: &mut String, word: &str) {
    let first = word.chars().next().map_or(0, char::len_utf8);
    out.push_str(&word[..first]);
    write_lowercase(out, &word[first..]);
}

/// All letters small.
pub fn write_lowercase(out: &mut String, word: &str) {
    if word.is_ascii() {
        let start = out.len();
        out.push_str(word);
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
}

/// The rest of a Scottish or Irish name: `MC` and three letters or more, of which one is a vowel.
fn clan(word: &str) -> Option<&str> {
    word.strip_prefix("MC")
        .filter(|rest| rest.len() >= 3 && rest.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Numerals of two letters and more up to XXXIX; a lone I, V or X is an initial and large anyway.
fn is_roman(word: &str) -> bool {
    let units = word.trim_start_matches('X');
    word.len() - units.len() <= 3
        && matches!(
            units,
            "" | "I" | "II" | "III" | "IV" | "V" | "VI" | "VII" | "VIII" | "IX"
        )
}

/// Without A, E, I, O, U or Y a word of letters cannot be spoken: in a name it is an acronym.
pub fn is_pronounceable(word: &str) -> bool {
    word.bytes()
        .any(|b| !b.is_ascii_uppercase() || matches!(b, b'A' | b'E' | b'I' | b'O' | b'U' | b'Y'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(word: &str) -> String {
        let mut out = String::new();
        write_word(&mut out, word);
        out
    }

    #[test]
    fn acronyms_stay_large_and_abbreviations_do_not() {
        for (filed, expected) in [
            ("YMCA", "YMCA"),
            ("VFW", "VFW"),
            ("LLC", "LLC"),
            ("BMX", "BMX"),
            ("LTD", "Ltd"),
            ("ST", "St"),
            ("INC", "Inc"),
        ] {
            assert_eq!(written(filed), expected);
        }
    }

    #[test]
    fn clan_names_have_two_large_letters() {
        assert_eq!(written("MCDONALD"), "McDonald");
        assert_eq!(written("MCKAY"), "McKay");
        assert_eq!(written("MCAT"), "Mcat");
        assert_eq!(written("MCC"), "MCC");
        assert_eq!(written("OBRIEN"), "O'Brien");
    }

    #[test]
    fn numerals_stay_and_endings_of_numbers_are_small() {
        for (filed, expected) in [
            ("III", "III"),
            ("XVII", "XVII"),
            ("21ST", "21st"),
            ("80S", "80s"),
            ("5K", "5K"),
            ("4H", "4-H"),
            ("MIX", "Mix"),
        ] {
            assert_eq!(written(filed), expected);
        }
    }

    #[test]
    fn letters_beyond_ascii_are_made_small_too() {
        assert_eq!(written("NIÑOS"), "Niños");
    }

    #[test]
    fn no_word_of_the_table_is_longer_than_the_lookup_reads() {
        assert!(NAME_WORDS.0.keys().all(|word| word.len() <= LONGEST_KNOWN));
        assert!(NAME_WORDS.0.len() > 500 && NAME_WORDS.1.len() > 40 && CITY_WORDS.len() > 40);
    }
}
