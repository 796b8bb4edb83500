//! What is asked and what is answered.

use crate::text::tokenizer::Tokens;

/// Words of a query that count; the rest is not read.
pub const MOST_WORDS: usize = 32;

/// A query: what was typed, and what the answer may hold.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// What was typed so far. Unless it ends in a blank, its last word may be the beginning of a longer one.
    pub text: &'a str,
    /// How many documents are wanted.
    pub take: usize,
    /// A document must carry one label of each group.
    pub filter: &'a [&'a [&'a str]],
    /// Documents for which this is true are passed over.
    pub hidden: Option<&'a dyn Fn(u32) -> bool>,
}

impl<'a> Query<'a> {
    /// Ten documents for `text`, unfiltered.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            take: 10,
            filter: &[],
            hidden: None,
        }
    }
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query")
            .field("text", &self.text)
            .field("take", &self.take)
            .field("filter", &self.filter)
            .field("hidden", &self.hidden.is_some())
            .finish()
    }
}

/// Where in a document the words were found; the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The number of the document, or its beginning.
    Number,
    /// The domain of the document, or its beginning.
    Domain,
    /// The whole name, word for word.
    Exact,
    /// The whole name but for an article or a form of law.
    Whole,
    /// The name begins with the words.
    Begins,
    /// The initials of the name.
    Initials,
    /// The name begins with the first word, the others stand anywhere.
    First,
    /// All words stand somewhere.
    Anywhere,
}

/// How the typed words were read to find a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As typed.
    Typed,
    /// The word at this place and the next as one.
    Joined(u8),
    /// The word at this place as two.
    Split(u8),
    /// The word at this place as initials of a name.
    Initials(u8),
    /// The word at this place with a mistake.
    Typo(u8),
    /// The words at these places with a mistake each.
    Typos(u8, u8),
    /// Without the word at this place.
    Without(u8),
}

impl Reading {
    /// Whether something else was read than what was typed.
    pub(crate) fn is_guess(self) -> bool {
        matches!(self, Self::Typo(_) | Self::Typos(..) | Self::Without(_))
    }
}

/// A document found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its number.
    pub document: u32,
    /// Its score: prominence and how well it matches. Scores of several segments may be compared.
    pub score: f32,
    /// Where the words were found.
    pub tier: Tier,
    /// Which of its names was found, 0 being the shown one, for the tiers that are about one name.
    pub name: u8,
    /// How the words were read.
    pub reading: Reading,
    /// The place of its reading among those tried.
    pub(crate) by: u8,
    /// The matched words, a bit for each.
    pub(crate) matched: u64,
}

/// The documents found, best first.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The documents, best first; those of equal score in rank order.
    pub hits: Vec<Hit>,
    pub(crate) text: &'a str,
    pub(crate) words: Tokens,
}

impl Answer<'_> {
    /// A number that is the same for two hits of this answer if the same words matched them.
    pub fn same_words(&self, hit: &Hit) -> u64 {
        hit.matched
    }

    /// The typed words that matched `hit`, in lower case and in the order typed.
    pub fn matched(&self, hit: &Hit) -> impl Iterator<Item = String> {
        let bits = hit.matched;
        let whole = (self.words.is_empty() || bits == 0).then(|| self.text.trim().to_lowercase());
        let words = (0..self.words.len().min(MOST_WORDS)).filter(move |at| bits >> at & 1 == 1);
        whole
            .into_iter()
            .chain(words.map(|at| self.text[self.words.source_range(at)].to_lowercase()))
    }

    /// The words as they were read.
    pub fn words(&self) -> &Tokens {
        &self.words
    }
}
