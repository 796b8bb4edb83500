//! The collected documents: term and label numbers of all documents in a few long vectors.

use crate::builder::error::BuildError;
use crate::builder::sections::Sections;
use crate::segment::format::Section;
use crate::segment::forward_index::{self, MAX_NAME_WORDS, NameTerms};
use crate::segment::name_entry::MAX_DOCUMENTS;
use crate::segment::packed::pack_u32s;
use crate::segment::signature;
use crate::text::english;

/// The role of a name for its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Display,
    /// Ranks like the display name.
    Alias,
    /// Ranks lower.
    Secondary,
    /// An alias that was derived from another name: ranks like an alias as a whole, lower as a prefix.
    Derived,
}

/// The length and the core of a name.
#[derive(Clone, Copy, Debug)]
struct NameShape {
    length: u8,
    core: (u8, u8),
    is_alias: bool,
    is_derived: bool,
}

/// All documents added so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Documents {
    terms: Vec<u32>,
    /// Where the terms of each document start in `terms`, and its names in `shapes`.
    starts: Vec<(usize, usize)>,
    shapes: Vec<NameShape>,
    labels: Vec<u32>,
    label_starts: Vec<usize>,
    prominences: Vec<u16>,
    /// Registration numbers with their documents.
    registrations: Vec<(u32, u32)>,
}

/// The terms of one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct DocumentTerms<'a> {
    shapes: &'a [NameShape],
    terms: &'a [u32],
}

impl<'a> DocumentTerms<'a> {
    /// Iterates over the names, starting with the display name.
    pub(super) fn names(self) -> impl Iterator<Item = NameTerms<'a>> {
        let mut from = 0;
        self.shapes.iter().map(move |shape| {
            let to = from + usize::from(shape.length);
            let terms = &self.terms[from..to];
            from = to;
            NameTerms {
                terms,
                core: shape.core,
                is_alias: shape.is_alias,
                is_derived: shape.is_derived,
            }
        })
    }

    /// Returns the terms of the location and the domain.
    pub(super) fn location(self) -> &'a [u32] {
        let in_names: usize = self.shapes.iter().map(|shape| usize::from(shape.length)).sum();
        &self.terms[in_names..]
    }

    /// Returns all terms.
    pub(super) fn all(self) -> &'a [u32] {
        self.terms
    }
}

impl Documents {
    /// Starts the next document and returns its number.
    pub(super) fn start(
        &mut self,
        prominence: u16,
        registration_number: Option<u32>,
    ) -> Result<u32, BuildError> {
        let document = self.prominences.len() as u32;
        if self.prominences.last().is_some_and(|&last| last < prominence) {
            return Err(BuildError::WrongOrder);
        }
        if document >= MAX_DOCUMENTS {
            return Err(BuildError::TooLarge);
        }
        self.starts.push((self.terms.len(), self.shapes.len()));
        self.label_starts.push(self.labels.len());
        self.prominences.push(prominence);
        self.registrations
            .extend(registration_number.map(|number| (number, document)));
        Ok(document)
    }

    /// Adds a name to the last document. Empty and duplicate names are skipped, except for the display name.
    pub(crate) fn add_name(&mut self, terms: &[u32], core: (usize, usize), kind: NameKind) {
        let terms = &terms[..terms.len().min(MAX_NAME_WORDS)];
        let document = self.prominences.len() - 1;
        if kind != NameKind::Display {
            let same = self
                .terms(document as u32)
                .names()
                .position(|name| name.terms == terms);
            if let (Some(0), NameKind::Alias) = (same, kind) {
                // People call the organization by its display name, with or without the article.
                let (_, first) = self.starts[document];
                self.shapes[first].is_alias = true;
            }
            if terms.is_empty() || same.is_some() {
                return;
            }
        }
        self.terms.extend_from_slice(terms);
        self.shapes.push(NameShape {
            length: terms.len() as u8,
            core: (core.0 as u8, core.1.min(terms.len()) as u8),
            is_alias: matches!(kind, NameKind::Alias | NameKind::Derived),
            is_derived: kind == NameKind::Derived,
        });
    }

    /// Returns the number of names of the last document.
    pub(crate) fn last_name_count(&self) -> usize {
        self.starts.last().map_or(0, |(_, from)| self.shapes.len() - from)
    }

    /// Adds the location and the domain to the last document, after its names.
    pub(crate) fn add_location(&mut self, terms: &[u32]) {
        self.terms
            .extend_from_slice(&terms[..terms.len().min(usize::from(u8::MAX))]);
    }

    /// Adds the labels to the last document.
    pub(crate) fn add_labels(&mut self, labels: &[u32]) {
        let from = self.labels.len();
        self.labels.extend_from_slice(labels);
        self.labels[from..].sort_unstable();
        let mut end = from;
        for at in from..self.labels.len() {
            if end == from || self.labels[at] != self.labels[end - 1] {
                self.labels[end] = self.labels[at];
                end += 1;
            }
        }
        self.labels.truncate(end);
    }

    /// Replaces each term and label with its new number.
    pub(crate) fn renumber(&mut self, new_terms: &[u32], new_labels: &[u32]) {
        for term in &mut self.terms {
            *term = new_terms[*term as usize];
        }
        for label in &mut self.labels {
            *label = new_labels[*label as usize];
        }
    }

    /// Returns the number of documents.
    pub(super) fn len(&self) -> u32 {
        self.prominences.len() as u32
    }

    /// Returns the terms of a document.
    pub(super) fn terms(&self, document: u32) -> DocumentTerms<'_> {
        let at = document as usize;
        let (from, shapes_from) = self.starts[at];
        let (to, shapes_to) = *self
            .starts
            .get(at + 1)
            .unwrap_or(&(self.terms.len(), self.shapes.len()));
        DocumentTerms {
            shapes: &self.shapes[shapes_from..shapes_to],
            terms: &self.terms[from..to],
        }
    }

    /// Returns the labels of a document.
    pub(super) fn labels(&self, document: u32) -> &[u32] {
        let at = document as usize;
        let to = *self.label_starts.get(at + 1).unwrap_or(&self.labels.len());
        &self.labels[self.label_starts[at]..to]
    }

    /// Encodes the sections with one element per document, and the registration numbers.
    pub(super) fn sections(&self, sorted_words: &[&str]) -> Result<Sections, BuildError> {
        let is_stop_word: Vec<bool> = sorted_words
            .iter()
            .map(|word| english::is_stop_word(word))
            .collect();
        let mut records = Vec::with_capacity(self.terms.len() * 3 + self.starts.len() * 5);
        let mut record_offsets = Vec::with_capacity((self.starts.len() + 1) * 4);
        record_offsets.extend_from_slice(&0u32.to_le_bytes());
        let mut names = Vec::new();
        let word_bits: Vec<u64> = sorted_words
            .iter()
            .map(|word| signature::prefix_bits(word.as_bytes()))
            .collect();
        let mut signatures = Vec::with_capacity(self.starts.len() * 8);
        for document in 0..self.len() {
            let terms = self.terms(document);
            names.clear();
            names.extend(terms.names());
            forward_index::write_record(
                &names,
                terms.location(),
                |term| is_stop_word[term as usize],
                &mut records,
            );
            let bits = terms
                .all()
                .iter()
                .fold(0, |bits, &term| bits | word_bits[term as usize]);
            signatures.extend_from_slice(&bits.to_le_bytes());
            let end = u32::try_from(records.len()).map_err(|_| BuildError::TooLarge)?;
            record_offsets.extend_from_slice(&end.to_le_bytes());
        }
        let mut registrations = self.registrations.clone();
        registrations.sort_unstable();
        Ok(vec![
            (Section::Records, records),
            (Section::RecordOffsets, record_offsets),
            (Section::Signatures, signatures),
            (
                Section::Prominences,
                self.prominences
                    .iter()
                    .flat_map(|prominence| prominence.to_le_bytes())
                    .collect(),
            ),
            (
                Section::RegistrationNumbers,
                pack_u32s(registrations.iter().map(|it| it.0)),
            ),
            (
                Section::RegistrationDocuments,
                pack_u32s(registrations.iter().map(|it| it.1)),
            ),
        ])
    }
}
