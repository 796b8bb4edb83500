//! Converts texts of sentences from capital letters: `TO FEED THE HUNGRY IN EL PASO.` becomes To feed the hungry in El Paso.
//!
//! Words become lowercase unless something says otherwise: the own name of the nonprofit, an acronym, or a name in
//! `data/proper-words.txt`. A text that already has lowercase letters was written by a person, and keeps its case.

mod proper_names;
mod word;

use self::proper_names::{PROPER_NAMES, find_acronyms, mark_own_name, mark_places, mark_proper_names};
use self::word::{Word, is_dotted};
use super::capitalization;
use std::collections::HashSet;

/// Returns a text with its whitespace cleaned, missing spaces after periods and commas added, and its case restored if it
/// is in capitals. `names` are the names of the nonprofit.
pub fn readable(text: &str, names: &[&str]) -> String {
    let spaced = mend_spaces(text);
    if is_in_capitals(&spaced) {
        restore_case(&spaced, names)
    } else {
        spaced
    }
}

/// Returns whether most letters of a text are capitals.
pub fn is_in_capitals(text: &str) -> bool {
    let uppercase = text.chars().filter(|c| c.is_uppercase()).count();
    let lowercase = text.chars().filter(|c| c.is_lowercase()).count();
    uppercase > 0 && lowercase * 2 < uppercase
}

/// Splits a text after the end of each sentence. The parts keep their spaces.
pub fn sentences(text: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let mut words = text.split_inclusive(' ').peekable();
    let mut end = 0;
    while let Some(word) = words.next() {
        end += word.len();
        if ends_sentence(word.trim_end()) && words.peek().is_some() {
            parts.push(&text[start..end]);
            start = end;
        }
    }
    if start < text.len() {
        parts.push(&text[start..]);
    }
    parts
}

/// Returns whether a sentence ends with a word.
fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', ']', '”', '’']);
    if bare.ends_with(['!', '?']) {
        return true;
    }
    let Some(before) = bare.strip_suffix('.') else {
        return false;
    };
    let before = before.trim_start_matches(|c: char| !c.is_alphanumeric());
    let is_abbreviation = ABBREVIATIONS
        .iter()
        .any(|abbreviation| before.eq_ignore_ascii_case(abbreviation));
    !(is_abbreviation || before.len() == 1 && before.chars().all(char::is_alphabetic) || is_dotted(before))
}

const ABBREVIATIONS: [&str; 18] = [
    "MR", "MRS", "MS", "DR", "ST", "MT", "FT", "INC", "JR", "SR", "NO", "VS", "E.G", "I.E", "DEPT", "CO",
    "REV", "PH.D",
];

/// Replaces whitespace and control characters by single spaces, and adds spaces that are missing after punctuation, because
/// line breaks are lost in filings: `ISSUES.THESE`.
fn mend_spaces(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !out.is_empty() {
            out.push(' ');
        }
        mend_word(&mut out, word);
    }
    out
}

fn mend_word(out: &mut String, word: &str) {
    if is_link(word) {
        out.push_str(word);
        return;
    }
    let mut start = 0;
    for (at, mark) in word.match_indices(['.', ',', ';', ':']) {
        let (before, after) = (&word[start..at], &word[at + 1..]);
        if is_space_missing(mark, before, after) {
            out.push_str(&word[start..=at]);
            out.push(' ');
            start = at + 1;
        }
    }
    out.push_str(&word[start..]);
}

/// Returns whether two words with a punctuation mark between them were written without a space.
fn is_space_missing(mark: &str, before: &str, after: &str) -> bool {
    let before = trailing_letters(before);
    let after_length = after.chars().take_while(|c| c.is_alphabetic()).count();
    if before < 2 || after_length == 0 {
        return false;
    }
    let is_capital = after.chars().next().is_some_and(char::is_uppercase);
    match mark {
        // A period inside a word without a capital after it belongs to a name such as `example.org`.
        "." => {
            before >= 3
                && after_length >= 2
                && is_capital
                && after.chars().nth(after_length).is_none_or(|c| c != '.')
        }
        ":" => before >= 3 && after_length >= 2,
        _ => true,
    }
}

fn trailing_letters(text: &str) -> usize {
    text.trim_end_matches([')', '"', '\'', '”', '’'])
        .chars()
        .rev()
        .take_while(|c| c.is_alphabetic())
        .count()
}

/// Returns whether a word is a URL, a host name or an email address.
fn is_link(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let lower = word.to_ascii_lowercase();
    let has_ending = || {
        lower
            .split('/')
            .next()
            .unwrap_or_default()
            .rsplit('.')
            .next()
            .is_some_and(|last| matches!(last, "org" | "com" | "net" | "edu" | "gov" | "info" | "us"))
    };
    lower.contains('@') && lower.contains('.')
        || lower.contains("://")
        || lower.contains("www.")
        || lower.contains('.') && has_ending()
}

/// Restores the case of a text in capitals.
fn restore_case(text: &str, names: &[&str]) -> String {
    let words: Vec<Word<'_>> = text.split(' ').map(Word::new).collect();
    let acronyms = find_acronyms(&words, names);
    let mut forms: Vec<Option<String>> = vec![None; words.len()];
    mark_proper_names(&words, &mut forms);
    for name in names {
        mark_own_name(&words, name, &mut forms);
    }
    mark_places(&words, &mut forms);
    let mut out = String::with_capacity(text.len());
    let mut starts_sentence = true;
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(word.front);
        let start = out.len();
        match &forms[index] {
            Some(form) => write_form(&mut out, word, form),
            None => write_in_sentence(&mut out, &words, index, &acronyms),
        }
        if starts_sentence && !is_link(word.core) {
            capitalize_first(&mut out, start);
        }
        out.push_str(word.back);
        let is_mark = word.core.is_empty() || is_list_number(word);
        starts_sentence = starts_sentence && is_mark || ends_sentence_here(word, words.get(index + 1));
    }
    out
}

/// Returns whether a word only numbers an entry of a list, such as `1)`.
fn is_list_number(word: &Word<'_>) -> bool {
    word.core.len() <= 2 && word.back.starts_with([')', '.']) && word.core.bytes().all(|b| b.is_ascii_digit())
}

fn ends_sentence_here(word: &Word<'_>, next: Option<&Word<'_>>) -> bool {
    let text = [word.core, word.back].concat();
    // An abbreviation such as `U.S.` can end a sentence too: then an article or a pronoun follows.
    let is_start = |next: &Word<'_>| {
        matches!(
            next.key.as_str(),
            "THE" | "WE" | "OUR" | "THIS" | "IT" | "THESE" | "THEY"
        )
    };
    ends_sentence(&text) || is_dotted(word.core.trim_end_matches('.')) && next.is_some_and(is_start)
}

fn capitalize_first(out: &mut String, start: usize) {
    let Some(first) = out[start..].chars().next() else {
        return;
    };
    // A word with capitals inside is a name that is written like this.
    let has_capitals = out[start..].chars().any(char::is_uppercase);
    if first.is_lowercase() && !has_capitals {
        let upper: String = first.to_uppercase().collect();
        out.replace_range(start..start + first.len_utf8(), &upper);
    }
}

/// Writes the form of a word of a name, with the possessive ending of the word.
fn write_form(out: &mut String, word: &Word<'_>, form: &str) {
    out.push_str(form);
    let stem = word.stem().len();
    if stem < word.key.len() && form.to_uppercase() != word.key {
        out.push_str(&word.key[stem..].to_lowercase());
    }
}

/// Writes a word that is not part of a name.
fn write_in_sentence(out: &mut String, words: &[Word<'_>], index: usize, acronyms: &HashSet<String>) {
    let word = &words[index];
    let core = word.core;
    if core.chars().any(char::is_lowercase) {
        out.push_str(core);
    } else if is_link(core) {
        capitalization::write_lowercase(out, core);
    } else if acronyms.contains(word.stem()) || acronyms.contains(core) {
        let stem = word.stem().len().min(core.len());
        out.push_str(&core[..stem]);
        capitalization::write_lowercase(out, &core[stem..]);
    } else if is_dotted(core.trim_end_matches('.')) {
        match core {
            "E.G." | "I.E." | "A.K.A." | "D.B.A." | "E.G" | "I.E" => {
                capitalization::write_lowercase(out, core);
            }
            _ => out.push_str(core),
        }
    } else if let Some(form) = form_in_context(words, index) {
        out.push_str(form);
    } else {
        write_word_pieces(out, core, acronyms);
    }
}

/// Returns the form of a word that depends on the words next to it.
fn form_in_context(words: &[Word<'_>], index: usize) -> Option<&'static str> {
    let previous = index
        .checked_sub(1)
        .map_or("", |before| words[before].key.as_str());
    let next = words.get(index + 1).map_or("", |next| next.key.as_str());
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    match words[index].key.as_str() {
        "US" if previous == "THE"
            || matches!(
                next,
                "CITIZENS" | "CITIZEN" | "GOVERNMENT" | "MILITARY" | "CONGRESS"
            ) =>
        {
            Some("US")
        }
        "US" => Some("us"),
        "MAY" if is_number(next) || previous == "IN" => Some("May"),
        "MARCH" if is_number(next) || previous == "IN" || previous == "SINCE" => Some("March"),
        "STEM" if !matches!(next, "FROM" | "CELL" | "CELLS") => Some("STEM"),
        "IT" if matches!(next, "SUPPORT" | "INFRASTRUCTURE") && matches!(previous, "AND" | "OF" | "FOR") => {
            Some("IT")
        }
        "K-12" => Some("K-12"),
        "PRE-K" => Some("pre-K"),
        "PH.D" => Some("Ph.D"),
        _ => None,
    }
}

/// Writes a word with punctuation inside, one piece at a time: `LOW-INCOME`, `LATINO/HISPANIC`, `501(C)(3)`.
fn write_word_pieces(out: &mut String, core: &str, acronyms: &HashSet<String>) {
    let is_section = core.starts_with(|c: char| c.is_ascii_digit()) && core.contains('(');
    let mut rest = core;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')))
            .unwrap_or(rest.len());
        let (piece, tail) = rest.split_at(end);
        if is_section {
            capitalization::write_lowercase(out, piece);
        } else {
            write_piece(out, piece, acronyms);
        }
        let separator = tail.chars().next().map_or(0, char::len_utf8);
        out.push_str(&tail[..separator]);
        rest = &tail[separator..];
    }
}

fn write_piece(out: &mut String, piece: &str, acronyms: &HashSet<String>) {
    let (stem, ending) = match piece.find(['\'', '’']) {
        Some(at) => piece.split_at(at),
        None => (piece, ""),
    };
    let listed = capitalization::lookup(stem).filter(|written| {
        let capitals = written.chars().filter(char::is_ascii_uppercase).count();
        let has_same_letters = written.eq_ignore_ascii_case(stem);
        has_same_letters && (capitals >= 2 && !AMBIGUOUS.contains(&stem) || TITLES.contains(&stem))
    });
    if stem == "I" || acronyms.contains(stem) {
        out.push_str(stem);
    } else if let Some(written) = listed {
        out.push_str(written);
    } else if let Some(proper) = PROPER_NAMES.get(stem).filter(|proper| proper.len() == stem.len()) {
        out.push_str(proper);
    } else if matches!(stem, "II" | "III" | "IV" | "VII" | "VIII" | "IX") {
        out.push_str(stem);
    } else if stem.starts_with(|c: char| c.is_ascii_digit()) && capitalization::lookup(stem).is_none() {
        capitalization::write_word(out, stem);
    } else if stem.len() >= 2
        && !capitalization::is_pronounceable(stem)
        && capitalization::lookup(stem).is_none()
    {
        out.push_str(stem);
    } else {
        capitalization::write_lowercase(out, stem);
    }
    capitalization::write_lowercase(out, ending);
}

/// Titles that have a capital in sentences too.
const TITLES: [&str; 12] = [
    "DR", "MR", "MRS", "MS", "JR", "SR", "ST", "MT", "FT", "INC", "LTD", "LLC",
];

/// Acronyms that are also words of sentences, or codes that are rarely meant.
const AMBIGUOUS: [&str; 41] = [
    "US", "AA", "AAF", "AI", "AMA", "AME", "AK", "ASA", "ATA", "AZA", "BART", "CA", "CIA", "ENT", "ID",
    "MIT", "NAR", "OC", "OK", "ORT", "PAC", "RI", "SAG", "SAR", "SOS", "TOPS", "TUA", "UN", "UNA", "UNO",
    "UPS", "URI", "UT", "UTA", "VIP", "WAC", "ABC", "AHA", "APO", "STEM", "IRA",
];

#[cfg(test)]
mod tests;
