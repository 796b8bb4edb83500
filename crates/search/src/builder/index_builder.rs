//! The builder: tokenizes documents as they are added and assembles the segment at the end.

use std::io::Write;
use std::sync::Arc;

use crate::builder::document::Document;
use crate::builder::documents::{Documents, NameKind};
use crate::builder::error::BuildError;
use crate::builder::initials;
use crate::builder::kinds;
use crate::builder::labels;
use crate::builder::missions::Missions;
use crate::builder::names::NameList;
use crate::builder::postings;
use crate::builder::sections::{Sections, pack_offsets};
use crate::builder::synonyms;
use crate::builder::thesaurus::Thesaurus;
use crate::builder::vocabulary::Vocabulary;
use crate::intent::WordVectors;
use crate::segment::format::{self, SECTION_COUNT, Section};
use crate::segment::forward_index::{MAX_NAMES, STOP_WORD_FLAG};
use crate::segment::trie;
use crate::text::domain;
use crate::text::english;
use crate::text::letters;
use crate::text::tag;
use crate::text::tokenizer::Tokens;

/// Collects documents and writes them as a segment.
///
/// ```
/// use search::{Document, Index, IndexBuilder, Query};
///
/// let mut builder = IndexBuilder::new();
/// builder.add(&Document { name: "American Red Cross", prominence: 9.5, ..Document::default() })?;
/// builder.add(&Document { name: "Redwood Animal Rescue", prominence: 5.0, ..Document::default() })?;
/// let index = Index::open(builder.finish()?)?;
/// let results = index.search(&Query::new("red c"));
/// assert_eq!(results.hits[0].document, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct IndexBuilder {
    words: Vocabulary,
    labels: Vocabulary,
    documents: Documents,
    missions: Missions,
    thesaurus: Arc<Thesaurus>,
    vectors: Option<&'static WordVectors>,
    /// Reused buffers.
    tokens: Tokens,
    ids: Vec<u32>,
}

impl IndexBuilder {
    /// Creates a builder without documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a builder that knows which words and phrases mean the same.
    pub fn with_thesaurus(thesaurus: Arc<Thesaurus>) -> Self {
        Self {
            thesaurus,
            ..Self::default()
        }
    }

    /// Sets the word vectors with which missions are ranked.
    #[must_use]
    pub fn with_vectors(self, vectors: &'static WordVectors) -> Self {
        Self {
            vectors: Some(vectors),
            ..self
        }
    }

    /// Adds a document and returns its number. Numbers start at 0.
    pub fn add(&mut self, document: &Document<'_>) -> Result<u32, BuildError> {
        let prominence = format::quantize_prominence(document.prominence);
        let registration_number = document
            .registration_number
            .map(parse_registration_number)
            .transpose()?;
        let number = self.documents.start(prominence, registration_number)?;
        self.add_name(document.name, NameKind::Display);
        let aliases = document.aliases.iter().map(|name| (name, NameKind::Alias));
        let secondary = document
            .secondary_names
            .iter()
            .map(|name| (name, NameKind::Secondary));
        for (name, kind) in aliases.chain(secondary).take(MAX_NAMES - 1) {
            self.add_name(name, kind);
        }
        for name in document.aliases.iter().chain([&document.name]) {
            self.add_variants(name, NameKind::Derived);
        }
        for name in document.secondary_names {
            self.add_variants(name, NameKind::Secondary);
        }
        let names = [document.name]
            .into_iter()
            .chain(document.secondary_names.iter().copied());
        for name in names.chain(document.aliases.iter().copied()) {
            self.add_joined_letters(name);
        }
        self.ids.clear();
        self.push_words(&document.location.join(" "));
        let thesaurus = Arc::clone(&self.thesaurus);
        let location: Vec<&str> = self.tokens.iter().collect();
        for word in thesaurus.place_words(&location) {
            self.ids.push(self.words.intern(word));
        }
        let postal_code = document.postal_code.and_then(tag::postal_code_tag);
        let kinds = document.kinds.iter().map(|kind| tag::kind_tag(kind));
        for tag in postal_code.into_iter().chain(kinds) {
            self.ids.push(self.words.intern(&tag));
        }
        if let Some(domain) = document.domain.and_then(domain::parse_domain) {
            let (name, _) = domain.split_once('.').unwrap_or((&domain, ""));
            self.ids.push(self.words.intern(name));
            self.ids.push(self.words.intern(&domain));
        }
        if let Some(domain) = document.filed_domain.and_then(domain::parse_domain) {
            self.ids.push(self.words.intern(&tag::filed_domain_tag(&domain)));
        }
        self.documents.add_location(&self.ids);
        self.ids.clear();
        for label in document.labels {
            self.ids.push(self.labels.intern(label));
        }
        self.documents.add_labels(&self.ids);
        self.missions
            .add(number, document.mission, &mut self.tokens, self.vectors);
        Ok(number)
    }

    /// Appends the words of `text` to `self.ids`.
    fn push_words(&mut self, text: &str) {
        self.tokens.tokenize(text);
        for word in self.tokens.iter() {
            self.ids.push(self.words.intern(word));
        }
    }

    /// Adds what the thesaurus makes of a name, aliases as `alias_kind`, as long as there is space for more
    /// names.
    fn add_variants(&mut self, name: &str, alias_kind: NameKind) {
        self.tokens.tokenize(name);
        let words: Vec<&str> = self.tokens.iter().collect();
        for (variant, is_alias) in self.thesaurus.name_variants(&words) {
            let kind = if is_alias { alias_kind } else { NameKind::Secondary };
            if self.documents.last_name_count() < MAX_NAMES {
                self.add_name(&variant.join(" "), kind);
            }
        }
    }

    /// Adds a name that is spelled with single letters, "P T A of Salem", with these letters as one word. It
    /// ranks lower, because the word may mean something else: "F U N".
    fn add_joined_letters(&mut self, name: &str) {
        self.tokens.tokenize(name);
        let words: Vec<&str> = self.tokens.iter().collect();
        if let Some(joined) = letters::join_letters(&words)
            && self.documents.last_name_count() < MAX_NAMES
        {
            self.add_name(&joined.join(" "), NameKind::Secondary);
        }
    }

    fn add_name(&mut self, text: &str, kind: NameKind) {
        self.ids.clear();
        self.push_words(text);
        let count = self.tokens.len();
        let start = usize::from(count > 1 && self.tokens.word(0) == english::ARTICLE);
        let mut end = count;
        while end > start + 1 && english::is_legal_suffix(self.tokens.word(end - 1)) {
            end -= 1;
        }
        self.documents.add_name(&self.ids, (start, end), kind);
    }

    /// Returns the segment as bytes.
    pub fn finish(self) -> Result<Vec<u8>, BuildError> {
        let mut bytes = Vec::new();
        self.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Adds the synonyms of all words to the dictionary, so that "saint" finds "St" even if no document has
    /// "saint".
    fn add_synonyms(&mut self) {
        let thesaurus = Arc::clone(&self.thesaurus);
        for group in synonyms::groups(&thesaurus) {
            if group.iter().any(|word| self.words.find(word).is_some()) {
                for word in group {
                    self.words.intern(word);
                }
            }
        }
    }

    /// Writes the segment to `out`.
    pub fn write(mut self, out: &mut impl Write) -> Result<(), BuildError> {
        self.add_synonyms();
        let sorted_words = self.words.sorted();
        if sorted_words.len() >= STOP_WORD_FLAG as usize {
            return Err(BuildError::TooLarge);
        }
        let sorted_labels = self.labels.sorted();
        self.documents.renumber(
            &self.words.sorted_indexes(&sorted_words),
            &self.labels.sorted_indexes(&sorted_labels),
        );
        let documents = &self.documents;
        let (missions, thesaurus) = (&self.missions, &*self.thesaurus);
        let (names, mut sections) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let mut sections = dictionary_sections(&sorted_words);
                sections.extend(synonyms::sections(thesaurus, &sorted_words));
                sections.extend(kinds::sections(thesaurus, &sorted_words));
                sections.extend(postings::sections(documents, sorted_words.len()));
                sections.extend(initials::sections(documents, &sorted_words));
                sections.extend(missions.sections());
                sections
            });
            let names = NameList::sort(documents, sorted_words.len());
            let mut sections = documents.sections(&sorted_words)?;
            sections.extend(other.join().map_err(|_| BuildError::TooLarge)?);
            Ok::<_, BuildError>((names, sections))
        })?;
        sections.extend(labels::sections(documents, &sorted_labels, &names));
        let trie_nodes = sections
            .iter()
            .find(|(section, _)| *section == Section::TrieNodes);
        let trie_nodes = trie_nodes.map(|(_, nodes)| nodes.clone()).unwrap_or_default();
        sections.extend(names.sections(&trie_nodes));
        let mut all: [Vec<u8>; SECTION_COUNT] = std::array::from_fn(|_| Vec::new());
        for (section, bytes) in sections {
            if bytes.len() > u32::MAX as usize && section == Section::Records {
                return Err(BuildError::TooLarge);
            }
            all[section as usize] = bytes;
        }
        format::write(&all, documents.len(), out)?;
        Ok(())
    }
}

fn parse_registration_number(text: &str) -> Result<u32, BuildError> {
    match text.parse() {
        Ok(number) if text.len() == 9 && text.bytes().all(|b| b.is_ascii_digit()) => Ok(number),
        _ => Err(BuildError::InvalidRegistrationNumber),
    }
}

fn dictionary_sections(sorted_words: &[&str]) -> Sections {
    let (nodes, children) = trie::build(sorted_words);
    vec![
        (
            Section::TermOffsets,
            pack_offsets(sorted_words.iter().map(|word| word.len())),
        ),
        (Section::TermText, sorted_words.concat().into_bytes()),
        (Section::TrieNodes, nodes),
        (Section::TrieChildren, children),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(name: &str, prominence: f32) -> Document<'_> {
        Document {
            name,
            prominence,
            ..Document::default()
        }
    }

    #[test]
    fn documents_must_be_added_in_descending_order() {
        let mut builder = IndexBuilder::new();
        assert_eq!(builder.add(&document("One", 3.0)).unwrap(), 0);
        assert!(matches!(
            builder.add(&document("Two", 4.0)),
            Err(BuildError::WrongOrder)
        ));
        assert_eq!(builder.add(&document("Three", 3.0)).unwrap(), 1);
    }

    #[test]
    fn a_registration_number_has_nine_digits() {
        for number in ["12345678", "1234567890", "12-345678", "+12345678", ""] {
            let invalid = Document {
                registration_number: Some(number),
                ..document("One", 1.0)
            };
            assert!(
                matches!(
                    IndexBuilder::new().add(&invalid),
                    Err(BuildError::InvalidRegistrationNumber)
                ),
                "{number}"
            );
        }
    }

    #[test]
    fn the_same_documents_give_the_same_bytes() {
        let build = || {
            let mut builder = IndexBuilder::new();
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
}
