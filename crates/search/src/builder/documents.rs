//! The documents as noted while they are added: numbers of words in one long list.

use super::{BuildError, Sections};
use crate::segment::format::Section;
use crate::segment::forward_index::{self, MAX_NAME_WORDS, NameTerms};
use crate::segment::name_entry::MAX_DOCUMENTS;
use crate::segment::packed::pack_u32s;
use crate::segment::signature;
use crate::text::english;

/// What a name is to its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The one that is shown.
    Shown,
    /// Another that counts as much.
    Alias,
    /// A lesser one.
    Other,
}

/// One name: how many words it has, and which are its core.
#[derive(Clone, Copy, Debug)]
struct Shape {
    length: u8,
    core: (u8, u8),
    alias: bool,
}

/// All documents added so far.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    terms: Vec<u32>,
    /// Where the words of each document start in `terms`, and its names in `shapes`.
    starts: Vec<(usize, usize)>,
    shapes: Vec<Shape>,
    labels: Vec<u32>,
    label_starts: Vec<usize>,
    weights: Vec<u16>,
    numbers: Vec<(u32, u32)>,
}

/// The words of one document.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'a> {
    shapes: &'a [Shape],
    terms: &'a [u32],
}

impl<'a> Noted<'a> {
    /// Its names, the shown one first.
    pub fn names(self) -> impl Iterator<Item = NameTerms<'a>> {
        let mut from = 0;
        self.shapes.iter().map(move |shape| {
            let to = from + usize::from(shape.length);
            let terms = &self.terms[from..to];
            from = to;
            NameTerms {
                terms,
                core: shape.core,
                is_alias: shape.alias,
            }
        })
    }

    /// The words of its places.
    pub fn places(self) -> &'a [u32] {
        let named: usize = self.shapes.iter().map(|shape| usize::from(shape.length)).sum();
        &self.terms[named..]
    }

    /// All its words.
    pub fn terms(self) -> &'a [u32] {
        self.terms
    }
}

impl Documents {
    /// Notes the next document.
    pub fn begin(&mut self, weight: u16, number: Option<u32>) -> Result<u32, BuildError> {
        let at = self.weights.len() as u32;
        if self.weights.last().is_some_and(|&last| last < weight) {
            return Err(BuildError::Order);
        }
        if at >= MAX_DOCUMENTS {
            return Err(BuildError::TooMany);
        }
        self.starts.push((self.terms.len(), self.shapes.len()));
        self.label_starts.push(self.labels.len());
        self.weights.push(weight);
        self.numbers.extend(number.map(|number| (number, at)));
        Ok(at)
    }

    /// Notes a name of the document begun last. Other names that are empty or known already are left out.
    pub fn name(&mut self, words: &[u32], core: (usize, usize), kind: NameKind) {
        let words = &words[..words.len().min(MAX_NAME_WORDS)];
        let at = self.weights.len() - 1;
        if kind != NameKind::Shown
            && (words.is_empty() || self.noted(at as u32).names().any(|name| name.terms == words))
        {
            return;
        }
        self.terms.extend_from_slice(words);
        self.shapes.push(Shape {
            length: words.len() as u8,
            core: (core.0 as u8, core.1.min(words.len()) as u8),
            alias: kind == NameKind::Alias,
        });
    }

    /// Notes the places of the document begun last.
    pub fn places(&mut self, words: &[u32]) {
        self.terms
            .extend_from_slice(&words[..words.len().min(usize::from(u8::MAX))]);
    }

    /// Notes the labels of the document begun last.
    pub fn labels(&mut self, labels: &[u32]) {
        let from = self.labels.len();
        self.labels.extend_from_slice(labels);
        self.labels[from..].sort_unstable();
        let mut kept = from;
        for at in from..self.labels.len() {
            if kept == from || self.labels[at] != self.labels[kept - 1] {
                self.labels[kept] = self.labels[at];
                kept += 1;
            }
        }
        self.labels.truncate(kept);
    }

    /// Gives words and labels their final numbers.
    pub fn renumber(&mut self, terms: &[u32], labels: &[u32]) {
        for term in &mut self.terms {
            *term = terms[*term as usize];
        }
        for label in &mut self.labels {
            *label = labels[*label as usize];
        }
    }

    /// How many documents there are.
    pub fn len(&self) -> u32 {
        self.weights.len() as u32
    }

    /// The words of a document.
    pub fn noted(&self, document: u32) -> Noted<'_> {
        let at = document as usize;
        let (from, shapes_from) = self.starts[at];
        let (to, shapes_to) = *self
            .starts
            .get(at + 1)
            .unwrap_or(&(self.terms.len(), self.shapes.len()));
        Noted {
            shapes: &self.shapes[shapes_from..shapes_to],
            terms: &self.terms[from..to],
        }
    }

    /// The labels of a document.
    pub fn labels_of(&self, document: u32) -> &[u32] {
        let at = document as usize;
        let to = *self.label_starts.get(at + 1).unwrap_or(&self.labels.len());
        &self.labels[self.label_starts[at]..to]
    }

    /// The sections that follow the documents one by one.
    pub fn sections(&self, sorted: &[&str]) -> Result<Sections, BuildError> {
        let noise: Vec<bool> = sorted.iter().map(|word| english::is_stop_word(word)).collect();
        let mut records = Vec::with_capacity(self.terms.len() * 3 + self.starts.len() * 5);
        let mut starts = Vec::with_capacity((self.starts.len() + 1) * 4);
        starts.extend_from_slice(&0u32.to_le_bytes());
        let mut names = Vec::new();
        let word_bits: Vec<u64> = sorted
            .iter()
            .map(|word| signature::prefix_bits(word.as_bytes()))
            .collect();
        let mut signatures = Vec::with_capacity(self.starts.len() * 8);
        for document in 0..self.len() {
            let noted = self.noted(document);
            names.clear();
            names.extend(noted.names());
            forward_index::write_record(&names, noted.places(), |term| noise[term as usize], &mut records);
            let bits = noted
                .terms()
                .iter()
                .fold(0, |bits, &term| bits | word_bits[term as usize]);
            signatures.extend_from_slice(&bits.to_le_bytes());
            let end = u32::try_from(records.len()).map_err(|_| BuildError::TooMany)?;
            starts.extend_from_slice(&end.to_le_bytes());
        }
        let mut numbers = self.numbers.clone();
        numbers.sort_unstable();
        Ok(vec![
            (Section::Records, records),
            (Section::RecordOffsets, starts),
            (Section::Signatures, signatures),
            (
                Section::Prominences,
                self.weights
                    .iter()
                    .flat_map(|weight| weight.to_le_bytes())
                    .collect(),
            ),
            (
                Section::RegistrationNumbers,
                pack_u32s(numbers.iter().map(|it| it.0)),
            ),
            (
                Section::RegistrationDocuments,
                pack_u32s(numbers.iter().map(|it| it.1)),
            ),
        ])
    }
}
