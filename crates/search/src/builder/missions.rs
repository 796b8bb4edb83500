//! The words of missions: a dictionary and posting lists of their own.
//!
//! They are apart from the words of names, so that a word which only missions have does not change what is a
//! typo, an acronym or a compound in a name, and a query that names answer reads none of it. What each mission
//! means is a code of its own.

use crate::builder::sections::{Sections, pack_offsets};
use crate::builder::vocabulary::Vocabulary;
use crate::intent::{Vector, WordSum, WordVector, WordVectors};
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::segment::trie;
use crate::text::mission;
use crate::text::tokenizer::Tokens;

/// Maximum number of different words of a document that are indexed.
const MAX_WORDS_PER_DOCUMENT: usize = 160;

/// The missions of all documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Missions {
    words: Vocabulary,
    /// Each word of each document once, with the documents in ascending order.
    postings: Vec<(u32, u32)>,
    /// The vector of each word that has one.
    vectors: Vec<Option<Box<WordVector>>>,
    /// The documents with a code, in ascending order, and their codes.
    code_documents: Vec<u32>,
    codes: Vec<u8>,
    /// Reused buffer.
    ids: Vec<u32>,
}

impl Missions {
    /// Adds the texts of a document. Documents must be added in order.
    pub(super) fn add(
        &mut self,
        document: u32,
        texts: &[&str],
        tokens: &mut Tokens,
        vectors: Option<&WordVectors>,
    ) {
        self.ids.clear();
        for text in texts {
            tokens.tokenize(text);
            for word in tokens.iter().filter(|word| mission::is_indexed(word)) {
                let id = self.words.intern(word);
                if id as usize == self.vectors.len() {
                    self.vectors
                        .push(vectors.and_then(|table| word_vector(table, word)));
                }
                if self.ids.len() < MAX_WORDS_PER_DOCUMENT && !self.ids.contains(&id) {
                    self.ids.push(id);
                }
            }
        }
        self.postings.extend(self.ids.iter().map(|&id| (id, document)));
        let mut known = self
            .ids
            .iter()
            .filter_map(|&id| self.vectors[id as usize].as_deref())
            .peekable();
        if known.peek().is_some() {
            let mut sum = WordSum::default();
            known.for_each(|vector| sum.add(vector));
            self.code_documents.push(document);
            self.codes.extend(sum.code());
        }
    }

    /// Encodes the dictionary and the posting lists.
    pub(super) fn sections(&self) -> Sections {
        let sorted_words = self.words.sorted();
        let numbers = self.words.sorted_indexes(&sorted_words);
        let mut counts = vec![0usize; sorted_words.len()];
        for (id, _) in &self.postings {
            counts[numbers[*id as usize] as usize] += 1;
        }
        // While the lists are filled, each of these advances from the start to the end of its list.
        let mut ends = Vec::with_capacity(counts.len());
        let mut end = 0;
        for count in &counts {
            ends.push(end);
            end += count;
        }
        let mut lists = vec![0u32; self.postings.len()];
        for (id, document) in &self.postings {
            let end = &mut ends[numbers[*id as usize] as usize];
            lists[*end] = *document;
            *end += 1;
        }
        let (nodes, children) = trie::build(&sorted_words);
        vec![
            (
                Section::MissionTermOffsets,
                pack_offsets(sorted_words.iter().map(|word| word.len())),
            ),
            (Section::MissionTermText, sorted_words.concat().into_bytes()),
            (Section::MissionTrieNodes, nodes),
            (Section::MissionTrieChildren, children),
            (Section::MissionPostingOffsets, pack_offsets(counts.into_iter())),
            (Section::MissionPostings, pack_u32s(lists)),
            (
                Section::MissionCodeDocuments,
                pack_u32s(self.code_documents.iter().copied()),
            ),
            (Section::MissionCodes, self.codes.clone()),
        ]
    }
}

fn word_vector(table: &WordVectors, word: &str) -> Option<Box<WordVector>> {
    let mut vector = Vector::default();
    table
        .add_word(word, &mut vector)
        .then(|| Box::new(vector.to_word_vector()))
}
