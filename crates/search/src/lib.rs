//! Ranked search of names, fast enough for results on every keystroke.
//!
//! Documents are short (a name, a few alternative names, a location) and have a known order of prominence.
//! Queries are whatever has been typed so far. The index is one sequence of bytes that is read in place.
//!
//! ```
//! use search::{Document, Index, IndexBuilder, Query};
//!
//! let mut builder = IndexBuilder::new();
//! builder.add(&Document {
//!     name: "Médecins Sans Frontières USA",
//!     aliases: &["Doctors Without Borders", "MSF"],
//!     location: &["New York", "NY"],
//!     prominence: 8.8,
//!     ..Document::default()
//! })?;
//! builder.add(&Document {
//!     name: "Doctors of Oregon",
//!     location: &["Portland", "OR"],
//!     prominence: 6.0,
//!     ..Document::default()
//! })?;
//! let index = Index::open(builder.finish()?)?;
//!
//! // A typo, an alias and an incomplete word.
//! let results = index.search(&Query::new("docters without bor"));
//! let hit = &results.hits[0];
//! assert_eq!(hit.document, 0);
//! assert_eq!(results.matched_words(hit).collect::<Vec<_>>(), ["docters", "without", "bor"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! A general search engine visits every document that matches, scores it and sorts; a single letter matches
//! half the collection. Here a query needs a page of ten documents in an order that is known in advance, so
//! that nearly all of that work can be skipped.
//!
//! **Documents are numbered by prominence.** The first documents of any list are the best, and reading stops
//! as soon as no later document can be among the best hits: a match adds a bounded bonus to the prominence,
//! and prominence only falls.
//!
//! **Names that start with the query are one range of a sorted list.** Words are numbered in lexicographic
//! order and names sorted by these numbers, so that each typed word narrows the range by a binary search. A
//! tree of minima over the list finds the most prominent names of any range without reading it; for frequent
//! prefixes of a single word they are precomputed. This answers most keystrokes, and these hits outrank
//! nearly all others.
//!
//! **All other matches are driven by the rarest word or label.** Its documents are visited in the order of
//! prominence. A Bloom filter for each posting list, and a signature of 64 bits for each document, rule out
//! nearly all documents that lack another word or label. The record of a document, which has its words in
//! order, decides the rest and determines the bonus: for all words in one name, in order, next to each other.
//!
//! **Typos are corrected only if there is a reason to**: a word that no document has, hardly any hits,
//! or a very rare word whose hits are all obscure. Corrections are found by walking the dictionary, a trie
//! with a bit for each letter, and trying one edit at each position; words that sound alike are corrections
//! as well.
//!
//! **Every query has a budget.** Steps through posting lists, scored documents and rewrites are bounded: no
//! input costs more than a fixed multiple of a typical one, and the cost does not grow with the collection.
//!
//! # What a query can be
//!
//! Words in any order, the last one possibly incomplete; with or without accents, apostrophes, "&", "Inc",
//! "the", "of"; "St" for "Saint", plural for singular; joined or split; with a location added; with a typo in
//! a word of four letters or more; initials that are not themselves a word, joined or letter by letter; digits
//! for words; a nine-digit registration number or its first five digits, with or without hyphens, a space or
//! a label; a postal code; a domain or a URL, or a name spelled as a domain.
//! With a [`Thesaurus`] also aliases and kinds of organizations. The exact display name is among the first
//! three: only aliases, and names that start with the text and belong to a document ten thousand times as
//! large, come before it. The first hits are the same for every limit. Below all of these come documents
//! whose mission has the words. [`MatchKind`] and [`Rewrite`] list the ways to match, and [`Index::explain`]
//! says why a document has its score.

mod builder;
mod explain;
mod index;
mod intent;
mod merge_filter;
#[cfg(test)]
mod property_tests;
mod query;
#[cfg(test)]
mod query_tests;
mod search;
mod segment;
mod spelling;
mod text;
mod unknown_words;

pub use builder::{BuildError, Document, IndexBuilder, Thesaurus};
pub use explain::Explanation;
pub use index::Index;
pub use intent::{Intent, PlaceLabels, TextMeaning, WordVectors, WordVectorsError};
pub use merge_filter::MergeFilter;
pub use query::{Hit, MatchKind, Query, Rewrite, SearchResults};
pub use search::ranking::EXACT_NAME_RANK;
pub use segment::format::OpenError;
pub use segment::labels::LabelPostings;
pub use text::domain::parse_domain;
pub use text::english::{canonical_word, is_stop_word};
pub use text::mission::is_same_word;
pub use text::tokenizer::Tokens;
