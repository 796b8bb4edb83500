//! Queries and search results.

use std::fmt;

use crate::intent::Intent;
use crate::text::tokenizer::Tokens;

/// Maximum number of words of a query; further words are ignored.
pub(crate) const MAX_WORDS: usize = 32;

/// A search query.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The text typed so far. Unless it ends in a space, its last word may be the prefix of a longer one.
    pub text: &'a str,
    /// Maximum number of hits.
    pub limit: usize,
    /// Groups of labels. A document matches if it carries at least one label of every group.
    pub filter: &'a [Vec<String>],
    /// Documents for which this returns `true` are excluded.
    pub exclude: Option<&'a dyn Fn(u32) -> bool>,
    /// Read on until there are `limit` hits or no further document matches, within a larger budget. The first
    /// hits stay those of the usual search.
    pub is_exhaustive: bool,
    /// What is known about the meaning of words. If it is set, documents that match only a part of the query or
    /// its meaning follow those that match all of it, until the first page is full.
    pub intent: Option<&'a Intent>,
}

impl<'a> Query<'a> {
    /// Creates a query for ten documents, without a filter.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            limit: 10,
            filter: &[],
            exclude: None,
            is_exhaustive: false,
            intent: None,
        }
    }
}

impl fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("text", &self.text)
            .field("limit", &self.limit)
            .field("filter", &self.filter)
            .field("exclude", &self.exclude.is_some())
            .field("is_exhaustive", &self.is_exhaustive)
            .field("intent", &self.intent.is_some())
            .finish()
    }
}

/// How a document matches the words, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchKind {
    /// The text is the registration number or a prefix of it.
    RegistrationNumber,
    /// The text is the postal code.
    PostalCode,
    /// The text is the domain or a prefix of it.
    Domain,
    /// The words are the complete name.
    ExactName,
    /// The words are the name without its article or its legal suffixes.
    FullName,
    /// The name starts with the words.
    NamePrefix,
    /// A word is the initials of the name.
    Initials,
    /// The name starts with the first word, and the document has the others.
    FirstWord,
    /// The document has all words.
    Anywhere,
    /// The mission has the words, except for those in a name or in the location.
    Mission,
}

/// How the query was rewritten to find a document. Numbers are the indexes of words in the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rewrite {
    /// The words as typed.
    AsTyped,
    /// This word and the next were joined, or all of several single letters.
    Join(u8),
    /// This word was split in two or three.
    Split(u8),
    /// This digit or letter, and any other, was read as the short word that it stands for, or the reverse.
    Shorthand(u8),
    /// The words from this one on were read as a kind of organization.
    Kind(u8),
    /// This postal code was read as the area around it.
    Area(u8),
    /// This word was read as initials.
    Initials(u8),
    /// A typo in this word was corrected.
    Typo(u8),
    /// The first letter of this word was corrected.
    FirstLetter(u8),
    /// Typos in these two words were corrected.
    TwoTypos(u8, u8),
    /// This word was dropped.
    Drop(u8),
    /// Only the words with these bits were searched for.
    Part(u32),
    /// The query was read as a kind of organization: that of the phrase with this number of the
    /// [`Intent`](crate::Intent).
    Meaning(u16),
}

impl Rewrite {
    /// Returns `true` if the rewrite changes the words rather than their boundaries.
    pub fn is_correction(self) -> bool {
        matches!(
            self,
            Self::Typo(_) | Self::FirstLetter(_) | Self::TwoTypos(..) | Self::Drop(_)
        ) || self.is_relaxed()
    }

    /// Returns `true` if the document matches only a part of the query or its meaning.
    pub(crate) fn is_relaxed(self) -> bool {
        matches!(self, Self::Part(_) | Self::Meaning(_))
    }
}

/// A document that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of the document.
    pub document: u32,
    /// The prominence of the document plus the bonus of the match. Scores from different segments are
    /// comparable.
    pub score: f32,
    /// How the document matches.
    pub kind: MatchKind,
    /// The index of the matching name, 0 for the display name, where the match is about one name.
    pub name: u8,
    /// How the query was rewritten.
    pub rewrite: Rewrite,
    /// Index of the rewrite among those that were tried.
    pub(crate) rewrite_index: u8,
    /// The matching words of the query, one bit for each.
    pub(crate) matched: u64,
}

/// The hits of a query.
#[derive(Clone, Debug)]
pub struct SearchResults<'a> {
    /// The hits, best first; hits with equal scores in rank order.
    pub hits: Vec<Hit>,
    /// Whether an exhaustive search found every document that matches. Never `true` for any other search.
    pub is_complete: bool,
    pub(crate) text: &'a str,
    pub(crate) tokens: Tokens,
}

impl SearchResults<'_> {
    /// Returns the words that match `hit` as a bit mask, which is cheaper to compare than the words.
    pub fn matched_mask(&self, hit: &Hit) -> u64 {
        hit.matched
    }

    /// Iterates over the words that match `hit`, as typed but in lowercase, in the order typed.
    pub fn matched_words(&self, hit: &Hit) -> impl Iterator<Item = String> {
        let mask = hit.matched;
        let whole_text = (self.tokens.is_empty() || mask == 0).then(|| self.text.trim().to_lowercase());
        let words = (0..self.tokens.len().min(MAX_WORDS)).filter(move |index| mask >> index & 1 == 1);
        whole_text
            .into_iter()
            .chain(words.map(|index| self.text[self.tokens.source_range(index)].to_lowercase()))
    }

    /// Returns `true` if the words as typed are the complete display name of `hit`.
    pub fn is_exact_name(&self, hit: &Hit) -> bool {
        hit.kind == MatchKind::ExactName && hit.rewrite == Rewrite::AsTyped && self.tokens.last_is_prefix()
    }

    /// Returns the text of the query.
    pub fn text(&self) -> &str {
        self.text
    }

    /// Returns the normalized words of the query.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }
}
