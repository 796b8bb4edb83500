//! Readable texts from a return: what the nonprofit says about itself and its programs.
//!
//! Many texts are in capitals, were cut off, or only point to another page: `SEE SCHEDULE O`. Their case is restored,
//! pointers are dropped, and the first sentences become the short description.

use super::filed_return::{Explanation, FiledReturn};
use directory::nonprofits::{name, sentence};

/// The maximum length of a short description, in characters.
const MAX_SHORT_LEN: usize = 300;
/// The minimum number of letters of a text that says something.
const MIN_LETTERS: usize = 10;

/// What a nonprofit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// One or two sentences.
    pub short: String,
    /// What follows the short description. If that had to be cut inside of a sentence, the whole text.
    pub long: Option<String>,
}

/// Returns what the nonprofit says about its mission: Part III of Form 990, else Part I, else Schedule O. If they say
/// nothing, its first program is taken; the form of private foundations has no mission at all.
pub fn description(filed: &FiledReturn) -> Option<Description> {
    let explained = filed.explanations.iter().filter_map(mission_of);
    let first_program = filed.programs.first().map(|program| program.text.as_str());
    let joined = continued_mission(filed);
    let texts = (joined.as_deref().into_iter())
        .chain(filed.mission.as_deref())
        .chain(filed.summary.as_deref());
    let whole = texts
        .chain(explained)
        .chain(first_program)
        .find_map(|text| readable(text, filed))?;
    Some(describe(whole))
}

/// Returns the mission if Part I begins it and Part III continues it: `(continued p 2)`.
fn continued_mission(filed: &FiledReturn) -> Option<String> {
    let (summary, mission) = (filed.summary.as_deref()?.trim_end(), filed.mission.as_deref()?);
    let is_continued = summary.ends_with(')') && summary.to_ascii_uppercase().contains("(CONTINUED");
    (is_continued && mission.starts_with(char::is_lowercase)).then(|| format!("{summary} {mission}"))
}

/// Returns the text of a program, or `None` if it says nothing.
pub fn program_text(text: &str, filed: &FiledReturn) -> Option<String> {
    readable(text, filed)
}

/// Returns the name as the nonprofit writes itself, or `None` if the return has it in capitals.
pub fn display_name(filed: &FiledReturn) -> Option<String> {
    let written = name::readable(filed.name.as_deref()?);
    let is_mixed =
        filed.name.as_deref()?.chars().any(char::is_lowercase) && written.chars().any(char::is_uppercase);
    (is_mixed && !sentence::is_in_capitals(&written)).then_some(written)
}

fn readable(text: &str, filed: &FiledReturn) -> Option<String> {
    let names: Vec<&str> = filed
        .name
        .as_deref()
        .into_iter()
        .chain(filed.trade_name.as_deref())
        .collect();
    let kept = drop_pointers(text);
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '-' | ':' | ';' | ',' | '*' | '•');
    let kept = kept
        .trim_end_matches(is_mark)
        .trim_start_matches(|c| is_mark(c) || c == '.');
    let letters = kept.chars().filter(|c| c.is_alphabetic()).count();
    if letters < MIN_LETTERS || says_nothing(kept) {
        return None;
    }
    Some(sentence::readable(kept, &names))
}

fn says_nothing(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    [
        "NOT APPLICABLE",
        "SAME AS ABOVE",
        "SEE ABOVE",
        "SEE ATTACHED",
        "SEE ATTACHMENT",
        "NONE",
        "[TEXT REMOVED",
    ]
    .iter()
    .any(|phrase| upper.starts_with(phrase) && upper.len() < phrase.len() + 20)
}

/// Returns the text of an entry of Schedule O that explains the mission.
fn mission_of(explanation: &Explanation) -> Option<&str> {
    let text = explanation.text.as_str();
    if is_mission(&explanation.reference) || is_mission(&explanation.title) {
        return Some(without_heading(text));
    }
    // Some entries name their line at the start of the text.
    let start = &text[..text.floor_char_boundary(60)];
    is_mission(start).then(|| without_heading(text))
}

/// Returns whether a reference names the line of the mission: `FORM 990, PART III, LINE 1`.
fn is_mission(reference: &str) -> bool {
    let upper = reference.to_ascii_uppercase();
    let has_line = |part: &str| {
        upper.split_once(part).is_some_and(|(_, rest)| {
            let line = rest.split_once("LINE 1").map(|(_, rest)| rest);
            !rest.starts_with(char::is_alphanumeric)
                && line.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })
    };
    upper.contains("MISSION") || has_line("PART III") || has_line("PART I")
}

/// Removes a heading such as `PART III, Line 1 - Organizational Mission` from the start of a text.
fn without_heading(text: &str) -> &str {
    let upper = text.to_ascii_uppercase();
    if !(upper.starts_with("PART ") || upper.starts_with("FORM 990")) {
        return text;
    }
    let end = text.floor_char_boundary(100);
    let heading = ["MISSION STATEMENT", "MISSION"]
        .iter()
        .filter_map(|word| upper[..end].find(word).map(|at| at + word.len()))
        .max();
    let Some(at) = heading else { return text };
    let rest = text[at..].trim_start_matches([':', '-', '.', ' ']);
    // `Mission & Significant Activities`
    let (front, end) = rest.split_at(rest.floor_char_boundary(40));
    let words = front.to_ascii_uppercase();
    match words.find("ACTIVIT") {
        Some(word) if front.starts_with('&') => {
            let skipped = front[word..].find(' ').map_or(front.len(), |space| word + space);
            rest[skipped..].trim_start_matches([':', '-', '.', ' '])
        }
        _ if front.is_empty() => end,
        _ => rest,
    }
}

/// What follows a pointer word and names the other place.
const TARGETS: [&str; 14] = [
    "SCHEDULE O",
    "SCHEDULE \"O\"",
    "SCH O",
    "SCH. O",
    "SCHED O",
    "PART III, LINE 1",
    "PART III LINE 1",
    "PART III",
    "ATTACHED STATEMENT",
    "STATEMENT",
    "SUPPLEMENTAL INFORMATION",
    "ATTACHMENT",
    "PART I, LINE 1",
    "ATTACHED SCHEDULE",
];

/// The maximum length of a pointer in parentheses.
const MAX_POINTER_LEN: usize = 40;

/// Words that start a pointer.
const POINTERS: [&str; 12] = [
    "PLEASE REFER TO ",
    "PLEASE SEE ",
    "REFER TO ",
    "CONTINUED ON ",
    "CONTINUED IN ",
    "CONTINUED AT ",
    "CONTINUES ON ",
    "CONT'D ON ",
    "CONT ON ",
    "CONT. ON ",
    "ALSO SEE ",
    "SEE ",
];

/// Removes pointers to other pages of the return, such as `(CONTINUED ON SCHEDULE O)`.
fn drop_pointers(text: &str) -> String {
    // ASCII capitals have the same length, so positions are the same in both.
    let upper = text.to_ascii_uppercase();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let is_start = upper[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric());
        if let Some(length) = is_start.then(|| pointer_length(&upper[at..])).flatten() {
            let trimmed = out.trim_end().len();
            out.truncate(trimmed);
            if !out.is_empty() {
                out.push(' ');
            }
            at += length;
            at += text[at..].len() - text[at..].trim_start().len();
        } else if let Some(next) = text[at..].chars().next() {
            out.push(next);
            at += next.len_utf8();
        }
    }
    out
}

/// Returns the length of the pointer at the start of a text.
fn pointer_length(upper: &str) -> Option<usize> {
    let bare = upper.strip_prefix(['(', '[']).unwrap_or(upper);
    let opened = upper.len() - bare.len();
    let is_continued = ["CONTINUED", "CONT'D", "CONT."]
        .iter()
        .any(|word| bare.starts_with(word));
    if opened == 1 && is_continued {
        let end = bare.find([')', ']']).filter(|end| *end <= MAX_POINTER_LEN)?;
        return Some(opened + end + 1);
    }
    let rest = POINTERS.iter().find_map(|pointer| bare.strip_prefix(pointer))?;
    let rest = rest.strip_prefix("FORM 990, ").unwrap_or(rest);
    let rest = rest.strip_prefix("ATTACHED ").unwrap_or(rest);
    let mut rest = TARGETS
        .iter()
        .find_map(|target| rest.strip_prefix(target))
        .filter(|rest| !rest.starts_with(char::is_alphanumeric))?;
    // A number such as that of a statement.
    let numbered = rest
        .trim_start_matches([' ', '#'])
        .trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.starts_with(' ')
        && numbered.len() + 1 < rest.len()
        && !numbered.starts_with(char::is_alphanumeric)
    {
        rest = numbered;
    }
    // `FOR A FULL DESCRIPTION` belongs to the pointer, up to the end of the sentence.
    if let Some(tail) = rest.strip_prefix(" FOR ") {
        let end = tail.find(['.', ')', ';']).unwrap_or(tail.len());
        rest = &tail[end..];
    }
    let rest = if opened == 1 {
        rest.trim_start_matches(['.', ' '])
    } else {
        rest
    };
    let rest = rest
        .strip_prefix([')', ']'])
        .filter(|_| opened == 1)
        .unwrap_or(rest);
    let rest = rest.strip_prefix(['.', ';', ',']).unwrap_or(rest);
    Some(upper.len() - rest.len())
}

/// Takes the first sentences of a text as its short form.
fn describe(whole: String) -> Description {
    let length = |text: &str| text.trim_end().chars().count();
    let parts = sentence::sentences(&whole);
    let first = parts.first().map_or(0, |first| first.len());
    let second = first + parts.get(1).map_or(0, |second| second.len());
    let end = [second, first]
        .into_iter()
        .find(|end| length(&whole[..*end]) <= MAX_SHORT_LEN);
    match end {
        Some(end) => {
            let (short, rest) = (whole[..end].trim(), whole[end..].trim());
            Description {
                short: short.to_owned(),
                long: (!rest.is_empty()).then(|| rest.to_owned()),
            }
        }
        None => Description {
            short: cut(&whole),
            long: Some(whole),
        },
    }
}

/// Cuts a text after a word.
fn cut(text: &str) -> String {
    let end = text
        .char_indices()
        .nth(MAX_SHORT_LEN - 1)
        .map_or(text.len(), |(at, _)| at);
    let word = text[..end].rfind(' ').unwrap_or(end);
    let kept = text[..word].trim_end_matches(|c: char| !c.is_alphanumeric());
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
