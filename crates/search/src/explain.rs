//! Why a document stands where it stands, in words.

use std::fmt;

use crate::query::{Hit, Query, Reading, Tier};
use crate::search::searcher::Finder;
use crate::segment::forward_index::STOP_WORD_FLAG;
use crate::segment::reader::Segment;

/// The account of one hit.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The hit.
    pub hit: Hit,
    /// Its prominence; the rest of its score is what the match is worth.
    pub prominence: f32,
    /// The name by which it was found, folded.
    pub name: String,
    /// The typed words and what each was found as.
    pub words: Vec<(String, String)>,
}

/// The accounts of all hits of a query, best first.
pub fn explain(segment: Segment<'_>, query: &Query<'_>) -> Vec<Explanation> {
    let (answer, readings) = Finder::new(segment, query).finish();
    let trie = segment.trie();
    let account = |hit: &Hit| {
        let record = segment.record(hit.document);
        let name: Vec<&str> = record
            .name(usize::from(hit.name))
            .iter()
            .map(|term| trie.word(term & !STOP_WORD_FLAG))
            .collect();
        let mut words = Vec::new();
        if let Some(slots) = readings.get(usize::from(hit.by)) {
            for slot in slots.all() {
                let found = record
                    .all_terms()
                    .iter()
                    .map(|term| term & !STOP_WORD_FLAG)
                    .find(|&term| slots.has(slot, term));
                let typed = (0..answer.words.len()).filter(|&at| slot.words >> at & 1 == 1);
                let typed: Vec<&str> = typed.map(|at| answer.words.word(at)).collect();
                if let Some(found) = found {
                    words.push((typed.join(" "), trie.word(found).to_owned()));
                }
            }
        }
        Explanation {
            hit: *hit,
            prominence: segment.prominence(hit.document),
            name: name.join(" "),
            words,
        }
    };
    answer.hits.iter().map(account).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hit { score, .. } = self.hit;
        let worth = score - self.prominence;
        write!(
            f,
            "{score:.2} = {:.2} prominence + {worth:.2} because ",
            self.prominence
        )?;
        let name = &self.name;
        match self.hit.tier {
            Tier::Number => f.write_str("its number is or begins with what was typed")?,
            Tier::Domain => f.write_str("its domain is or begins with what was typed")?,
            Tier::Exact => write!(f, "its name is \"{name}\" word for word")?,
            Tier::Whole => write!(f, "\"{name}\" says no more than the words")?,
            Tier::Begins => write!(f, "\"{name}\" begins with the words")?,
            Tier::Initials => write!(f, "the word is the initials of \"{name}\"")?,
            Tier::First => write!(
                f,
                "\"{name}\" starts with the first word and the others are there"
            )?,
            Tier::Anywhere => f.write_str("all words are there")?,
        }
        if self.hit.name > 0 {
            f.write_str(", found by another name")?;
        }
        match self.hit.reading {
            Reading::Typed => {}
            Reading::Joined(_) => f.write_str("; two words read as one")?,
            Reading::Split(_) => f.write_str("; one word read as two")?,
            Reading::Initials(_) => f.write_str("; no word is written so")?,
            Reading::Typo(_) => f.write_str("; a word read with a mistake")?,
            Reading::Typos(..) => f.write_str("; two words read with a mistake each")?,
            Reading::Without(_) => f.write_str("; one word left out")?,
        }
        for (typed, found) in self.words.iter().filter(|(typed, found)| typed != found) {
            write!(f, "; {typed} found as {found}")?;
        }
        Ok(())
    }
}
