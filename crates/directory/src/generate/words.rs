//! The words of which names are made: lists, and parts that are put together into names of families and towns.
//!
//! A real directory has a few words that stand in every third name and a hundred thousand that stand in one.
//! Whole words alone would give the front of that curve and parts alone the end of it; a place on it is drawn
//! first, and the same place always means the same word.

use std::collections::HashMap;

use super::rng::{Rng, Weighted, mix};

/// Places on the curve beyond which words of two parts get a third.
const SHORT_WORDS: u64 = 4096;

/// Words put together from parts.
pub struct Composed {
    whole: Vec<&'static str>,
    before: Vec<&'static str>,
    front: Vec<&'static str>,
    middle: Vec<&'static str>,
    end: Vec<&'static str>,
    after: Vec<&'static str>,
    salt: u64,
}

impl Composed {
    /// Reads the parts; `salt` keeps two kinds of word from walking in step.
    pub fn new(text: &'static str, salt: u64) -> Composed {
        let mut sections: HashMap<_, _> = sections(text)
            .map(|(name, lines)| {
                (
                    name,
                    lines.iter().flat_map(|line| line.split_whitespace()).collect(),
                )
            })
            .collect();
        let mut take = |name| sections.remove(name).unwrap_or_default();
        Composed {
            whole: take("whole"),
            before: take("before"),
            front: take("front"),
            middle: take("middle"),
            end: take("end"),
            after: take("after"),
            salt,
        }
    }

    /// Writes the word that has this place on the curve.
    pub fn write(&self, place: u64, out: &mut String) {
        if let Some(word) = usize::try_from(place)
            .ok()
            .and_then(|place| self.whole.get(place))
        {
            out.push_str(word);
            return;
        }
        let mut rng = Rng::for_row(self.salt, mix(place));
        let mut pick = |parts: &[&'static str]| *rng.choose(parts);
        let turn = mix(place ^ self.salt);
        if !self.before.is_empty() && turn.is_multiple_of(7) {
            out.push_str(pick(&self.before));
            out.push(' ');
        }
        out.push_str(pick(&self.front));
        if place >= SHORT_WORDS && !turn.is_multiple_of(5) {
            out.push_str(pick(&self.middle));
        }
        out.push_str(pick(&self.end));
        if !self.after.is_empty() && turn % 8 == 1 {
            out.push(' ');
            out.push_str(pick(&self.after));
        }
    }
}

/// An entry of a list: what to write, and the NTEE code that comes with it.
pub struct Entry {
    pub text: &'static str,
    pub ntee: Option<&'static str>,
}

/// Named lists, the commonest entries first.
pub struct Lists(HashMap<&'static str, Vec<Entry>>);

impl Lists {
    pub fn new(text: &'static str) -> Lists {
        Lists(
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

    /// The list of that name, which must be there.
    pub fn take(&mut self, name: &str) -> Vec<Entry> {
        self.0
            .remove(name)
            .unwrap_or_else(|| panic!("a list named {name}"))
    }

    pub fn names(&self) -> Vec<&'static str> {
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

/// The lines that say something, without comments.
pub fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Lines of fields with semicolons between them; field `weight_at`, counted from 0, is the weight.
pub fn table<const N: usize, T>(
    text: &'static str,
    weight_at: usize,
    read: impl Fn([&'static str; N]) -> T,
) -> Weighted<T> {
    Weighted::new(lines(text).map(|line| {
        let fields: Vec<&str> = line.splitn(N, ';').map(str::trim).collect();
        let fields: [&str; N] = fields
            .try_into()
            .unwrap_or_else(|_| panic!("{N} fields in: {line}"));
        (number(fields[weight_at]), read(fields))
    }))
}

/// A number out of one of our own files.
pub fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("a number, not {text}"))
}

/// `[name]` and the lines below it.
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
    fn the_same_place_is_always_the_same_word() {
        let words = Composed::new(PARTS, 1);
        let word = |place| {
            let mut out = String::new();
            words.write(place, &mut out);
            out
        };
        assert_eq!((word(0), word(1)), ("SMITH".to_owned(), "JONES".to_owned()));
        assert!((0..10_000).all(|place| word(place) == word(place)));
        let distinct: HashSet<String> = (2..10_000).map(word).collect();
        assert_eq!(distinct.len(), 3 * 2 + 3 * 2 * 2);
    }

    #[test]
    fn entries_bring_their_codes() {
        let mut lists = Lists::new("[animal]\nDOG, WOLF=D30,\nCAT\n");
        let animals = lists.take("animal");
        let seen: Vec<_> = animals.iter().map(|entry| (entry.text, entry.ntee)).collect();
        assert_eq!(seen, [("DOG", None), ("WOLF", Some("D30")), ("CAT", None)]);
    }
}
