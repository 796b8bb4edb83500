//! Documents in, one segment out.
//!
//! Documents are added in falling order of prominence and only noted; all work is done at the end, on as many threads
//! as there are independent parts. The same documents always give the same bytes.

mod documents;
mod initials;
mod labels;
mod names;
mod postings;
mod synonyms;
mod vocabulary;

use std::fmt;
use std::io::{self, Write};

use crate::segment::format::{self, SECTION_COUNT, Section};
use crate::segment::forward_index::MAX_NAMES;
use crate::segment::packed::pack_u32s;
use crate::segment::trie;
use crate::text::domain;
use crate::text::english;
use crate::text::tokenizer::Tokens;
use documents::{Documents, NameKind};
use vocabulary::Vocabulary;

/// The sections of a segment as they become ready.
type Sections = Vec<(Section, Vec<u8>)>;

/// What is known of one document, in the words people may type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Document<'a> {
    /// The shown name.
    pub name: &'a str,
    /// Names that people use for it, as good as the shown one: "ACLU", "Doctors Without Borders".
    pub aliases: &'a [&'a str],
    /// Lesser names: a chapter, a trade name, a name as filed.
    pub also: &'a [&'a str],
    /// Where it is: city, state.
    pub place: &'a [&'a str],
    /// Its registered number, nine digits.
    pub number: Option<&'a str>,
    /// The domain of its website.
    pub domain: Option<&'a str>,
    /// Prominence, about the decimal logarithm of its dollars: from 0 to 63, in falling order.
    pub weight: f32,
    /// Labels to filter by and to list.
    pub labels: &'a [&'a str],
}

/// Why a document or a segment could not be written.
#[derive(Debug)]
pub enum BuildError {
    /// A document is more prominent than the one before it.
    Order,
    /// A number is not nine digits.
    Number,
    /// There are more documents, words or bytes than a segment can hold.
    TooMany,
    /// Writing failed.
    Write(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order => f.write_str("documents must be added in falling order of weight"),
            Self::Number => f.write_str("a number must have nine digits"),
            Self::TooMany => f.write_str("more than a segment can hold"),
            Self::Write(error) => write!(f, "cannot write the segment: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Collects documents and writes them as a segment.
///
/// ```
/// use search::{Builder, Document, Index, Query};
///
/// let mut builder = Builder::new();
/// builder.add(&Document { name: "American Red Cross", weight: 9.5, ..Document::default() })?;
/// builder.add(&Document { name: "Redwood Animal Rescue", weight: 5.0, ..Document::default() })?;
/// let index = Index::open(builder.finish()?)?;
/// let answer = index.find(&Query::new("red c"));
/// assert_eq!(answer.hits[0].document, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    terms: Vocabulary,
    labels: Vocabulary,
    documents: Documents,
    folded: Tokens,
    words: Vec<u32>,
}

impl Builder {
    /// A builder without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next document; it gets the next number, from 0.
    pub fn add(&mut self, document: &Document<'_>) -> Result<u32, BuildError> {
        let weight = format::quantize_prominence(document.weight);
        let number = document.number.map(parse_number).transpose()?;
        let at = self.documents.begin(weight, number)?;
        self.name(document.name, NameKind::Shown);
        let aliases = document.aliases.iter().map(|name| (name, NameKind::Alias));
        let others = document.also.iter().map(|name| (name, NameKind::Other));
        for (name, kind) in aliases.chain(others).take(MAX_NAMES - 1) {
            self.name(name, kind);
        }
        self.words.clear();
        for place in document.place {
            self.fold(place);
        }
        if let Some(domain) = document.domain.and_then(domain::parse_domain) {
            let (name, _) = domain.split_once('.').unwrap_or((&domain, ""));
            self.words.push(self.terms.number(name));
            self.words.push(self.terms.number(&domain));
        }
        self.documents.places(&self.words);
        self.words.clear();
        for label in document.labels {
            self.words.push(self.labels.number(label));
        }
        self.documents.labels(&self.words);
        Ok(at)
    }

    /// Appends the words of `text` to `words`.
    fn fold(&mut self, text: &str) {
        self.folded.tokenize(text);
        for word in self.folded.iter() {
            self.words.push(self.terms.number(word));
        }
    }

    fn name(&mut self, text: &str, kind: NameKind) {
        self.words.clear();
        self.fold(text);
        let count = self.folded.len();
        let start = usize::from(count > 1 && self.folded.word(0) == english::ARTICLE);
        let mut end = count;
        while end > start + 1 && english::is_legal_suffix(self.folded.word(end - 1)) {
            end -= 1;
        }
        self.documents.name(&self.words, (start, end), kind);
    }

    /// The segment as bytes.
    pub fn finish(self) -> Result<Vec<u8>, BuildError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Puts every way to write a word of the documents into the dictionary: "saint" finds "St", though no document has it.
    fn add_other_writings(&mut self) {
        for class in english::SYNONYMS {
            if class.iter().any(|word| self.terms.find(word).is_some()) {
                for word in *class {
                    self.terms.number(word);
                }
            }
        }
    }

    /// Writes the segment to `out`.
    pub fn write(mut self, out: &mut impl Write) -> Result<(), BuildError> {
        self.add_other_writings();
        let sorted = self.terms.sorted();
        if sorted.len() >= crate::segment::forward_index::STOP_WORD_FLAG as usize {
            return Err(BuildError::TooMany);
        }
        self.documents.renumber(
            &self.terms.places(&sorted),
            &self.labels.places(&self.labels.sorted()),
        );
        let label_text = self.labels.sorted();
        let documents = &self.documents;
        let (names, mut sections) = std::thread::scope(|scope| {
            let side = scope.spawn(|| {
                let mut sections = dictionary(&sorted);
                sections.extend(synonyms::sections(&sorted));
                sections.extend(postings::sections(documents, sorted.len()));
                sections.extend(initials::sections(documents, &sorted));
                sections
            });
            let names = names::Names::sort(documents, sorted.len());
            let mut sections = documents.sections(&sorted)?;
            sections.extend(side.join().map_err(|_| BuildError::TooMany)?);
            Ok::<_, BuildError>((names, sections))
        })?;
        sections.extend(labels::sections(documents, &label_text, &names));
        let nodes = sections
            .iter()
            .find(|(section, _)| *section == Section::TrieNodes);
        let nodes = nodes.map(|(_, nodes)| nodes.clone()).unwrap_or_default();
        sections.extend(names.sections(&nodes));
        let mut all: [Vec<u8>; SECTION_COUNT] = std::array::from_fn(|_| Vec::new());
        for (section, bytes) in sections {
            if bytes.len() > u32::MAX as usize && section == Section::Records {
                return Err(BuildError::TooMany);
            }
            all[section as usize] = bytes;
        }
        let count = documents.len();
        format::write(&all, count, out)?;
        Ok(())
    }
}

fn parse_number(text: &str) -> Result<u32, BuildError> {
    match text.parse() {
        Ok(number) if text.len() == 9 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        _ => Err(BuildError::Number),
    }
}

fn dictionary(sorted: &[&str]) -> Sections {
    let (nodes, kids) = trie::build(sorted);
    vec![
        (Section::TermOffsets, starts(sorted.iter().map(|word| word.len()))),
        (Section::TermText, sorted.concat().into_bytes()),
        (Section::TrieNodes, nodes),
        (Section::TrieChildren, kids),
    ]
}

/// Where parts of these lengths start when laid end to end, and where the last ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut end = 0u32;
    let ends = lengths.map(|length| {
        end += length as u32;
        end
    });
    pack_u32s(std::iter::once(0).chain(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, weight: f32) -> Document<'_> {
        Document {
            name,
            weight,
            ..Document::default()
        }
    }

    #[test]
    fn documents_must_come_in_falling_order() {
        let mut builder = Builder::new();
        assert_eq!(builder.add(&document("One", 3.0)).unwrap(), 0);
        assert!(matches!(
            builder.add(&document("Two", 4.0)),
            Err(BuildError::Order)
        ));
        assert_eq!(builder.add(&document("Three", 3.0)).unwrap(), 1);
    }

    #[test]
    fn a_number_has_nine_digits() {
        for number in ["12345678", "1234567890", "12-345678", "+12345678", ""] {
            let wrong = Document {
                number: Some(number),
                ..document("One", 1.0)
            };
            assert!(
                matches!(Builder::new().add(&wrong), Err(BuildError::Number)),
                "{number}"
            );
        }
    }

    #[test]
    fn the_same_documents_give_the_same_bytes() {
        let build = || {
            let mut builder = Builder::new();
            for name in ["Food Bank of Iowa", "The Iowa Zoo Inc", "Zoo"] {
                let labels = ["state:IA", "cause:animals"];
                builder
                    .add(&Document {
                        labels: &labels,
                        ..document(name, 2.0)
                    })
                    .unwrap();
            }
            builder.finish().unwrap()
        };
        assert_eq!(build(), build());
    }

    #[test]
    fn a_word_is_found_by_a_writing_that_no_document_has() {
        let mut builder = Builder::new();
        builder.add(&document("St Zquoxly Mission", 2.0)).unwrap();
        let index = crate::Index::open(builder.finish().unwrap()).unwrap();
        let answer = index.find(&crate::Query::new("saint zquoxly"));
        assert_eq!(answer.hits[0].reading, crate::Reading::Typed);
    }

    #[test]
    fn a_segment_without_documents_is_a_segment() {
        assert!(crate::Index::open(Builder::new().finish().unwrap()).is_ok());
    }
}
