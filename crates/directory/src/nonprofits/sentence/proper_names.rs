//! Finds names and acronyms in a text in capitals.

use super::word::{Word, is_alphabetic};
use crate::nonprofits::{capitalization, name};
use foldhash::HashMap;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Names by their words in capitals.
pub(crate) static PROPER_NAMES: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
    include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/proper-words.txt"
    ))
    .lines()
    .filter(|line| !line.starts_with('#'))
    .map(|line| (line.to_uppercase(), line))
    .collect()
});

/// The words with which these names begin.
static FIRST_WORDS: LazyLock<foldhash::HashSet<&str>> = LazyLock::new(|| {
    let first_word = |name: &'static String| name.split(' ').next();
    PROPER_NAMES.keys().filter_map(first_word).collect()
});

/// The number of words of the longest of these names.
const MAX_PROPER_NAME_WORDS: usize = 4;

/// Finds acronyms: those in parentheses after what they stand for, and the initials of the nonprofit.
pub(crate) fn find_acronyms(words: &[Word<'_>], names: &[&str]) -> HashSet<String> {
    let mut acronyms = HashSet::new();
    for name in names {
        let upper = name.to_uppercase();
        let parts: Vec<&str> = upper
            .split(|c: char| !c.is_alphanumeric())
            .filter(|part| !part.is_empty() && !matches!(*part, "INC" | "LLC" | "S"))
            .collect();
        let major = parts.iter().filter(|part| !capitalization::is_minor_word(part));
        for initials in [
            parts
                .iter()
                .filter_map(|part| part.chars().next())
                .collect::<String>(),
            major.filter_map(|part| part.chars().next()).collect(),
            parts
                .iter()
                .filter(|part| !matches!(**part, "OF" | "THE" | "AND" | "FOR" | "IN" | "A" | "ON" | "TO"))
                .filter_map(|part| part.chars().next())
                .collect(),
        ] {
            if initials.len() >= 3 && !COMMON_WORDS.contains(&initials.as_str()) {
                acronyms.insert(initials);
            }
        }
    }
    for (index, word) in words.iter().enumerate() {
        let is_enclosed = word.front.ends_with(['(', '"', '\'']) && word.back.starts_with([')', '"', '\'']);
        let letters = word.stem().trim_end_matches('S');
        if is_enclosed && (2..=7).contains(&letters.len()) && is_initials(letters, &words[..index]) {
            acronyms.insert(word.stem().to_owned());
            acronyms.insert(letters.to_owned());
        }
    }
    acronyms
}

/// Returns whether letters are the first letters of the words before them, in their order.
fn is_initials(letters: &str, before: &[Word<'_>]) -> bool {
    let from = before.len().saturating_sub(letters.len() + 4);
    let mut initials = before[from..]
        .iter()
        .flat_map(|word| word.key.split(['-', '/']).filter_map(|part| part.chars().next()));
    letters.len() >= 2
        && letters
            .chars()
            .all(|letter| initials.any(|initial| initial == letter))
}

/// Gives the words of the nonprofit's own name their form, where at least two of them stand together.
pub(crate) fn mark_own_name(words: &[Word<'_>], own_name: &str, forms: &mut [Option<String>]) {
    let readable = name::readable(own_name);
    let filed: Vec<String> = own_name
        .split_whitespace()
        .map(|part| Word::new(part).key)
        .collect();
    let written: Vec<&str> = readable.split(' ').map(|part| Word::new(part).core).collect();
    if filed.len() != written.len() {
        return;
    }
    let last = filed
        .iter()
        .rposition(|word| !matches!(word.as_str(), "INC" | "CORP" | "LLC" | ""));
    let mut index = 0;
    while index < words.len() {
        let run = (0..filed.len())
            .map(|start| (start, common_words(&words[index..], &filed[start..])))
            .filter(|&(start, count)| {
                let run = &filed[start..start + count];
                let major = run
                    .iter()
                    .filter(|word| !capitalization::is_minor_word(word))
                    .count();
                let is_specific = run.iter().any(|word| is_specific(word));
                let is_whole = start == 0 && last.is_some_and(|last| count > last);
                let is_edge = start == 0 || last.is_some_and(|last| start + count > last);
                let ends_with_major = run
                    .last()
                    .is_some_and(|word| !capitalization::is_minor_word(word));
                let is_start = start == 0 && count >= 2 && ends_with_major;
                major >= 2 && (is_whole || is_specific && (is_edge || major >= 3)) || is_specific && is_start
            })
            .max_by_key(|&(_, count)| count);
        let Some((start, count)) = run else {
            index += 1;
            continue;
        };
        // A minor word at the edge of what was found belongs to the sentence.
        let is_article = index > 0 && filed[start] == "THE";
        for offset in usize::from(is_article)..count {
            forms[index + offset].get_or_insert_with(|| written[start + offset].to_owned());
        }
        index += count;
    }
}

/// Returns whether a word of a name is rare enough to recognize the name by.
fn is_specific(word: &str) -> bool {
    !capitalization::is_minor_word(word) && !COMMON_WORDS.contains(&word)
}

/// Counts the words that are equal from the start, without punctuation between them.
fn common_words(words: &[Word<'_>], name: &[String]) -> usize {
    let mut count = 0;
    for (word, part) in words.iter().zip(name) {
        let has_gap = count > 0 && !words[count - 1].continues();
        if has_gap || part.is_empty() || word.stem() != part && word.key != *part {
            break;
        }
        count += 1;
    }
    count
}

/// Words that occur in many names and in sentences. Two of them are no name.
const COMMON_WORDS: [&str; 72] = [
    "COMMUNITY",
    "COMMUNITIES",
    "HEALTH",
    "CENTER",
    "CENTERS",
    "SERVICE",
    "SERVICES",
    "FOUNDATION",
    "EDUCATION",
    "EDUCATIONAL",
    "SCHOOL",
    "SCHOOLS",
    "PUBLIC",
    "FAMILY",
    "FAMILIES",
    "CHILDREN",
    "CHILD",
    "YOUTH",
    "HOUSING",
    "LEGAL",
    "FOOD",
    "BANK",
    "MENTAL",
    "CARE",
    "LAW",
    "ASSOCIATION",
    "SUPPORT",
    "HOME",
    "HOSPITAL",
    "MEDICAL",
    "RESEARCH",
    "ARTS",
    "ART",
    "MUSIC",
    "CHURCH",
    "SOCIETY",
    "COUNCIL",
    "DEVELOPMENT",
    "HUMAN",
    "SOCIAL",
    "JUSTICE",
    "RIGHTS",
    "POLICY",
    "AFFORDABLE",
    "IMMIGRANT",
    "IMMIGRANTS",
    "WOMEN",
    "VETERANS",
    "ANIMAL",
    "RESCUE",
    "HUMANE",
    "SENIOR",
    "LOCAL",
    "NATIONAL",
    "STATE",
    "COUNTY",
    "CITY",
    "FUND",
    "TRUST",
    "PROGRAM",
    "PROGRAMS",
    "PROJECT",
    "NETWORK",
    "ALLIANCE",
    "COALITION",
    "AID",
    "CLINIC",
    "HOPE",
    "HUNGER",
    "ACTION",
    "AND",
    "ALL",
];

/// Gives names in the table their form, the longest first.
pub(crate) fn mark_proper_names(words: &[Word<'_>], forms: &mut [Option<String>]) {
    let mut index = 0;
    while index < words.len() {
        let first = &words[index];
        if !FIRST_WORDS.contains(first.key.as_str()) && !FIRST_WORDS.contains(first.stem()) {
            index += 1;
            continue;
        }
        let found = (1..=MAX_PROPER_NAME_WORDS.min(words.len() - index))
            .rev()
            .find_map(|count| {
                let run = &words[index..index + count];
                if run[..count - 1].iter().any(|word| !word.continues()) || run[0].key.is_empty() {
                    return None;
                }
                let mut key = String::new();
                for (position, word) in run.iter().enumerate() {
                    if position > 0 {
                        key.push(' ');
                    }
                    key.push_str(if position + 1 == count {
                        word.stem()
                    } else {
                        &word.key
                    });
                }
                PROPER_NAMES.get(&key).map(|written| (count, *written))
            });
        let Some((count, written)) = found else {
            index += 1;
            continue;
        };
        for (offset, part) in written.split(' ').enumerate().take(count) {
            forms[index + offset].get_or_insert_with(|| part.to_owned());
        }
        index += count;
    }
}

/// Capitalizes names of places that stand next to a word that says so: `ALAMEDA COUNTY`, `CITY OF LODI`.
pub(crate) fn mark_places(words: &[Word<'_>], forms: &mut [Option<String>]) {
    let is_name = |word: &Word<'_>| {
        word.key.len() > 2
            && is_alphabetic(&word.key)
            && !capitalization::is_minor_word(&word.key)
            && !BEFORE_COUNTY.contains(&word.key.as_str())
    };
    for index in 1..words.len() {
        let (before, word) = (&words[index - 1], &words[index]);
        let is_county = matches!(word.stem(), "COUNTY" | "UNIVERSITY");
        if is_county && before.continues() && is_name(before) {
            for at in [index - 1, index] {
                let form = capitalized(words[at].stem());
                forms[at].get_or_insert(form);
            }
        }
        let is_of =
            word.key == "OF" && matches!(before.key.as_str(), "CITY" | "TOWN" | "UNIVERSITY" | "COUNTY");
        if let Some(next) = words.get(index + 1).filter(|next| is_of && is_name(next)) {
            let (first, third) = (capitalized(&before.key), capitalized(next.stem()));
            forms[index - 1].get_or_insert(first);
            forms[index + 1].get_or_insert(third);
        }
    }
}

/// Words before `COUNTY` and `UNIVERSITY` that are no name.
const BEFORE_COUNTY: [&str; 26] = [
    "THE",
    "OUR",
    "THIS",
    "EACH",
    "EVERY",
    "ENTIRE",
    "LOCAL",
    "OTHER",
    "SAID",
    "ANY",
    "WHOLE",
    "MULTI",
    "TRI",
    "THAT",
    "THEIR",
    "ITS",
    "SURROUNDING",
    "RURAL",
    "STATE",
    "CITY",
    "COLLEGE",
    "PUBLIC",
    "PRIVATE",
    "EIGHT",
    "THREE",
    "INCLUDING",
];

fn capitalized(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    capitalization::write_capitalized(&mut out, word);
    out
}
