//! Words for names: lists of words, and generators that combine parts of words into names of families and towns.
//!
//! In a real directory, a few words occur in every third name and a hundred thousand occur once. Complete words produce the
//! frequent ones, and combined parts the rare ones. A word is determined by its rank in this distribution.

use std::collections::HashMap;

use super::rng::{Rng, Weighted, mix};

/// The rank from which generated words have a middle part.
const LONG_WORD_RANK: u64 = 4096;

/// Generates words from parts.
pub(super) struct WordGenerator {
    whole: Vec<&'static str>,
    before: Vec<&'static str>,
    front: Vec<&'static str>,
    middle: Vec<&'static str>,
    end: Vec<&'static str>,
    after: Vec<&'static str>,
    salt: u64,
}

impl WordGenerator {
    /// Parses the parts. `salt` makes the words of different generators independent.
    pub(super) fn new(text: &'static str, salt: u64) -> WordGenerator {
        let mut sections: HashMap<_, _> = sections(text)
            .map(|(name, lines)| {
                (
                    name,
                    lines.iter().flat_map(|line| line.split_whitespace()).collect(),
                )
            })
            .collect();
        let mut take = |name| sections.remove(name).unwrap_or_default();
        WordGenerator {
            whole: take("whole"),
            before: take("before"),
            front: take("front"),
            middle: take("middle"),
            end: take("end"),
            after: take("after"),
            salt,
        }
    }

    /// Writes the word with a rank.
    pub(super) fn write(&self, rank: u64, out: &mut String) {
        if let Some(word) = usize::try_from(rank).ok().and_then(|rank| self.whole.get(rank)) {
            out.push_str(word);
            return;
        }
        let mut rng = Rng::for_row(self.salt, mix(rank));
        let mut pick = |parts: &[&'static str]| *rng.choose(parts);
        let hash = mix(rank ^ self.salt);
        if !self.before.is_empty() && hash.is_multiple_of(7) {
            out.push_str(pick(&self.before));
            out.push(' ');
        }
        out.push_str(pick(&self.front));
        if rank >= LONG_WORD_RANK && !hash.is_multiple_of(5) {
            out.push_str(pick(&self.middle));
        }
        out.push_str(pick(&self.end));
        if !self.after.is_empty() && hash % 8 == 1 {
            out.push(' ');
            out.push_str(pick(&self.after));
        }
    }
}

/// An entry of a list: a text and optionally the NTEE code of nonprofits with it.
pub(super) struct Entry {
    pub text: &'static str,
    pub ntee: Option<&'static str>,
}

/// Named lists, most frequent entries first.
pub(super) struct WordLists(HashMap<&'static str, Vec<Entry>>);

impl WordLists {
    pub(super) fn new(text: &'static str) -> WordLists {
        WordLists(
            sections(text)
                .map(|(name, lines)| {
                    let entries = lines.iter().flat_map(|line| line.split(',')).map(str::trim);
                    (
                        name,
                        entries.filter(|entry| !entry.is_empty()).map(entry).collect(),
                    )
                })
                .collect(),
        )
    }

    /// Removes and returns a list.
    ///
    /// # Panics
    ///
    /// Panics if there is no list of this name.
    pub(super) fn take(&mut self, name: &str) -> Vec<Entry> {
        self.0
            .remove(name)
            .unwrap_or_else(|| panic!("there is no list {name}"))
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.keys().copied().collect()
    }
}

fn entry(text: &'static str) -> Entry {
    match text.split_once('=') {
        Some((text, ntee)) => Entry {
            text,
            ntee: Some(ntee),
        },
        None => Entry { text, ntee: None },
    }
}

/// Returns the lines that are neither blank nor comments.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Parses lines of fields separated by semicolons. The field with index `weight_at` is the weight.
pub(super) fn table<const N: usize, T>(
    text: &'static str,
    weight_at: usize,
    read: impl Fn([&'static str; N]) -> T,
) -> Weighted<T> {
    Weighted::new(lines(text).map(|line| {
        let fields: Vec<&str> = line.splitn(N, ';').map(str::trim).collect();
        let fields: [&str; N] = fields
            .try_into()
            .unwrap_or_else(|_| panic!("the line does not have {N} fields: {line}"));
        (number(fields[weight_at]), read(fields))
    }))
}

/// Parses a number in a built-in file.
pub(super) fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("not a number: {text}"))
}

/// Splits a text into sections: `[name]` and the lines below it.
fn sections(text: &'static str) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let mut sections: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in lines(text) {
        match line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(name) => sections.push((name, Vec::new())),
            None => {
                if let Some((_, lines)) = sections.last_mut() {
                    lines.push(line);
                }
            }
        }
    }
    sections.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const PARTS: &str = "# parts\n[whole]\nSMITH JONES\n[front]\nAB BA\nCO\n[middle]\nE I\n[end]\nTON LEY\n";

    #[test]
    fn a_rank_always_has_the_same_word() {
        let words = WordGenerator::new(PARTS, 1);
        let word = |rank| {
            let mut out = String::new();
            words.write(rank, &mut out);
            out
        };
        assert_eq!((word(0), word(1)), ("SMITH".to_owned(), "JONES".to_owned()));
        assert!((0..10_000).all(|rank| word(rank) == word(rank)));
        let distinct: HashSet<String> = (2..10_000).map(word).collect();
        assert_eq!(distinct.len(), 3 * 2 + 3 * 2 * 2);
    }

    #[test]
    fn entries_may_have_a_code() {
        let mut lists = WordLists::new("[animal]\nDOG, WOLF=D30,\nCAT\n");
        let animals = lists.take("animal");
        let entries: Vec<_> = animals.iter().map(|entry| (entry.text, entry.ntee)).collect();
        assert_eq!(entries, [("DOG", None), ("WOLF", Some("D30")), ("CAT", None)]);
    }
}
