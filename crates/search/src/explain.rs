//! Explanations of the ranking, in words.

use std::fmt;

use crate::query::{Hit, MAX_WORDS, MatchKind, Query, Rewrite};
use crate::search::execute::execute;
use crate::segment::forward_index::STOP_WORD_FLAG;
use crate::segment::reader::Segment;
use crate::text::tag::TAG_START;

/// Why a document is in the results, and with which score.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The hit.
    pub hit: Hit,
    /// The prominence of the document. The rest of the score is the bonus of the match.
    pub prominence: f32,
    /// The matching name, normalized.
    pub name: String,
    /// The typed words, each with the word of the document that it matches.
    pub words: Vec<(String, String)>,
    /// The phrase for a kind of organization whose meaning is near that of the query, if it was found so.
    pub meaning: Option<String>,
    /// The words that were left out.
    pub left_out: Vec<String>,
}

/// Executes a query and explains its hits, best first.
pub(crate) fn explain(segment: Segment<'_>, query: &Query<'_>) -> Vec<Explanation> {
    let (results, rewrites) = execute(segment, query);
    let trie = segment.trie();
    let explain_hit = |hit: &Hit| {
        let record = segment.record(hit.document);
        let name: Vec<&str> = record
            .name(usize::from(hit.name))
            .iter()
            .map(|term| trie.word(term & !STOP_WORD_FLAG))
            .collect();
        let mut words = Vec::new();
        if let Some(rewrite) = rewrites.get(usize::from(hit.rewrite_index)) {
            for clause in rewrite.clauses() {
                let matching = record
                    .all_terms()
                    .iter()
                    .map(|term| term & !STOP_WORD_FLAG)
                    .find(|&term| rewrite.matches(clause, term));
                let typed = (0..results.tokens.len()).filter(|&index| clause.word_mask >> index & 1 == 1);
                let typed: Vec<&str> = typed.map(|index| results.tokens.word(index)).collect();
                if let Some(term) = matching {
                    words.push((
                        typed.join(" "),
                        trie.word(term).trim_start_matches(TAG_START).to_owned(),
                    ));
                }
            }
        }
        let meaning = match (hit.rewrite, query.intent) {
            (Rewrite::Meaning(number), Some(intent)) => intent.concept(number),
            _ => None,
        };
        let left_out = match hit.rewrite {
            Rewrite::Part(kept) => (0..results.tokens.len().min(MAX_WORDS))
                .filter(|index| kept >> index & 1 == 0)
                .map(|index| results.tokens.word(index).to_owned())
                .collect(),
            _ => Vec::new(),
        };
        Explanation {
            meaning: meaning.map(|(phrase, _)| phrase.to_owned()),
            left_out,
            hit: *hit,
            prominence: segment.prominence(hit.document),
            name: name.join(" "),
            words,
        }
    };
    results.hits.iter().map(explain_hit).collect()
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hit { score, .. } = self.hit;
        let bonus = score - self.prominence;
        write!(
            f,
            "{score:.2} = {:.2} prominence + {bonus:.2} because ",
            self.prominence
        )?;
        let name = &self.name;
        match self.hit.kind {
            _ if matches!(self.hit.rewrite, Rewrite::Meaning(_)) => {
                f.write_str("it is of a kind that the words mean")?;
            }
            _ if matches!(self.hit.rewrite, Rewrite::Part(_)) => {
                f.write_str("the document has the words that matter")?;
            }
            MatchKind::RegistrationNumber => {
                f.write_str("its registration number starts with the query")?;
            }
            MatchKind::PostalCode => f.write_str("the query is its postal code")?,
            MatchKind::Domain => f.write_str("its domain starts with the query")?,
            MatchKind::ExactName => write!(f, "its name is exactly \"{name}\"")?,
            MatchKind::FullName => write!(f, "the words are the full name \"{name}\"")?,
            MatchKind::NamePrefix => write!(f, "\"{name}\" starts with the words")?,
            MatchKind::Initials => write!(f, "a word is the initials of \"{name}\"")?,
            MatchKind::FirstWord => write!(
                f,
                "\"{name}\" starts with the first word and the document has the others"
            )?,
            MatchKind::Anywhere => f.write_str("the document has all words")?,
            MatchKind::Mission => f.write_str("its mission has the words")?,
        }
        if self.hit.name > 0 {
            f.write_str(", found by another of its names")?;
        }
        match self.hit.rewrite {
            Rewrite::AsTyped => {}
            Rewrite::Join(_) => f.write_str("; words were joined")?,
            Rewrite::Split(_) => f.write_str("; a word was split")?,
            Rewrite::Shorthand(_) => f.write_str("; a digit or letter was read as a word")?,
            Rewrite::Kind(_) => f.write_str("; words were read as a kind of organization")?,
            Rewrite::Area(_) => f.write_str("; it is in the area around the postal code")?,
            Rewrite::Initials(_) => f.write_str("; a word was read as initials")?,
            Rewrite::Typo(_) => f.write_str("; a typo was corrected")?,
            Rewrite::FirstLetter(_) => f.write_str("; a first letter was corrected")?,
            Rewrite::TwoTypos(..) => f.write_str("; two typos were corrected")?,
            Rewrite::Drop(_) => f.write_str("; a word was dropped")?,
            Rewrite::Part(_) if self.left_out.is_empty() => {}
            Rewrite::Part(_) => write!(f, "; left out: {}", self.left_out.join(", "))?,
            Rewrite::Meaning(_) => {
                let phrase = self.meaning.as_deref().unwrap_or_default();
                write!(f, "; the words were read as \"{phrase}\"")?;
            }
        }
        for (typed, matching) in self.words.iter().filter(|(typed, matching)| typed != matching) {
            write!(f, "; {typed} matched {matching}")?;
        }
        Ok(())
    }
}
