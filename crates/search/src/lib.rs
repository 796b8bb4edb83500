//! MinTree search of names, for an answer on every keystroke.
//!
//! Text in, ranked document numbers out. Documents are short (a name, a few other names, a place) and come in a known
//! order of prominence; queries are what somebody has typed so far. The index is one string of bytes, read where it lies.
//!
//! ```
//! use search::{IndexBuilder, Document, Index, Query};
//!
//! let mut builder = IndexBuilder::new();
//! builder.add(&Document {
//!     name: "Médecins Sans Frontières USA",
//!     aliases: &["Doctors Without Borders", "MSF"],
//!     location: &["New York", "NY"],
//!     prominence: 8.8,
//!     ..Document::default()
//! })?;
//! builder.add(&Document { name: "Doctors of Oregon", location: &["Portland", "OR"], prominence: 6.0, ..Document::default() })?;
//! let index = Index::open(builder.finish()?)?;
//!
//! // A mistake, an alias and a word cut short.
//! let answer = index.search(&Query::new("docters without bor"));
//! assert_eq!(answer.hits[0].document, 0);
//! assert_eq!(answer.matched(&answer.hits[0]).collect::<Vec<_>>(), ["docters", "without", "bor"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The idea
//!
//! General engines visit every document that matches, score it, and sort; a single letter matches half the
//! collection. Here the wanted answer is a page of ten in an order that is known beforehand, so nearly all of that work can be
//! left out.
//!
//! **Documents are numbered by prominence.** The first of any list are the best of it, and reading stops when nothing
//! further down can enter the page: a match is worth a bounded bonus on top of prominence, and prominence only falls.
//!
//! **Names that begin with what was typed are one stretch of a sorted list.** Words are numbered in the order of their
//! letters and names sorted by these numbers, so that each typed word narrows the stretch by a binary search. A tree of minima
//! over the list gives the most prominent names of any stretch without reading it; for the beginnings of single words they
//! are kept ready. This answers most keystrokes, and what it finds outranks nearly all else.
//!
//! **The rest is led by the rarest word or label.** Its documents are walked from the most prominent on. A sieve for each
//! list, and for unfinished words a signature of 64 bits for each document, rule out nearly all that lack another word
//! or a label; the record of a document (its words, in order) settles the rest and says what the match is worth: all words
//! in one name, in order, next to each other.
//!
//! **Mistakes are tried only when there is a reason**: a word that no document has, or hardly anything found. One mistake
//! is looked for by walking the dictionary, a trie with a bit for each letter, with the mistake made at each place in turn.
//!
//! **Every query has an allowance.** Steps through lists, documents judged and readings tried are bounded, so that no
//! input costs more than a fixed multiple of the usual one, and the cost does not grow with the collection.
//!
//! # What is typed, and what it finds
//!
//! Words in any order, the last one perhaps cut short; with or without accents, apostrophes, "&", "Inc", "the", "of"; "St" for
//! "Saint", plural for singular; run together or apart; with a place added; with a mistake in a word of four letters or
//! more; initials where no word is written so; a nine-digit number or its first five digits, with or without dash; a
//! domain. The shown name in full always comes first. See [`Tier`] and [`Reading`] for the steps, and
//! [`Index::explain`] for why a document stands where it stands.

mod builder;
mod explain;
mod index;
mod merge_filter;
#[cfg(test)]
mod property_tests;
mod query;
mod search;
mod segment;
mod text;

pub use builder::{BuildError, Document, IndexBuilder};
pub use explain::Explanation;
pub use index::Index;
pub use merge_filter::Together;
pub use query::{Answer, Hit, Query, Reading, Tier};
pub use segment::format::OpenError;
pub use segment::labels::LabelPostings;
pub use text::domain::parse_domain;
pub use text::tokenizer::Tokens;
