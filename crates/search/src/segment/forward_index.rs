//! The forward index: the terms of each document.
//!
//! The record of a document has all its terms in one place, so that a candidate is checked and scored with
//! one memory access. It starts with the number of names and, for each name, its number of words, its core
//! and whether it is an alias or was derived from another name. The *core* of a name is the name without a leading "the" and without legal
//! suffixes at its end. The terms follow, three bytes each: those of every name, then those of the location
//! and the domain.

/// Maximum number of words of a name. Further words are not indexed.
pub(crate) const MAX_NAME_WORDS: usize = 63;

/// Bits of the first byte of a name that hold its number of words.
const LENGTH_MASK: u8 = 63;
const _: () = assert!(MAX_NAME_WORDS <= LENGTH_MASK as usize);
/// Set in the first byte of a name that was derived from another.
const DERIVED_FLAG: u8 = 1 << 7;

/// Maximum number of names of a document, including the display name.
pub(crate) const MAX_NAMES: usize = 8;

/// Set in a term that is a stop word.
pub(crate) const STOP_WORD_FLAG: u32 = 1 << 23;

/// The terms of one name, before encoding.
#[derive(Debug)]
pub(crate) struct NameTerms<'a> {
    /// All terms.
    pub terms: &'a [u32],
    /// Start and end of the core.
    pub core: (u8, u8),
    /// Whether the name is an alias, which ranks like the display name.
    pub is_alias: bool,
    /// Whether the name was derived from another by an alias of the thesaurus.
    pub is_derived: bool,
}

/// Appends a record to `bytes`.
pub(crate) fn write_record(
    names: &[NameTerms<'_>],
    location: &[u32],
    is_stop_word: impl Fn(u32) -> bool,
    bytes: &mut Vec<u8>,
) {
    bytes.push(names.len() as u8);
    for name in names {
        let alias = u8::from(name.is_alias) << 6;
        let derived = if name.is_derived { DERIVED_FLAG } else { 0 };
        bytes.extend([
            name.terms.len() as u8 | derived,
            name.core.0 << 7 | alias | name.core.1,
        ]);
    }
    bytes.push(location.len() as u8);
    for &term in names.iter().flat_map(|name| name.terms).chain(location) {
        let flagged = term | if is_stop_word(term) { STOP_WORD_FLAG } else { 0 };
        bytes.extend_from_slice(&flagged.to_le_bytes()[..3]);
    }
}

/// The record of a document, read in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocumentRecord<'a>(pub &'a [u8]);

/// A list of terms in a record, read in place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermList<'a> {
    bytes: &'a [u8],
    core: (usize, usize),
    is_alias: bool,
    is_derived: bool,
}

impl<'a> TermList<'a> {
    /// Returns the number of terms.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.bytes.len() / 3
    }

    /// Returns the term at `index` with its stop-word flag.
    #[inline]
    pub(crate) fn flagged_term(self, index: usize) -> u32 {
        match self.bytes.get(index * 3..index * 3 + 3) {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]),
            None => 0,
        }
    }

    /// Returns the term at `index`.
    #[inline]
    pub(crate) fn term(self, index: usize) -> u32 {
        self.flagged_term(index) & !STOP_WORD_FLAG
    }

    /// Iterates over the terms with their stop-word flags.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.bytes
            .chunks_exact(3)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
    }

    /// Returns the core of a name.
    #[inline]
    pub(crate) fn core(self) -> Self {
        let (from, to) = self.core;
        let bytes = self.bytes.get(from * 3..to * 3).unwrap_or_default();
        Self {
            bytes,
            core: (0, bytes.len() / 3),
            is_alias: self.is_alias,
            is_derived: self.is_derived,
        }
    }

    /// Returns the index of the first term of the core.
    #[inline]
    pub(crate) fn core_start(self) -> usize {
        self.core.0
    }

    /// Returns `true` if the name is an alias.
    #[inline]
    pub(crate) fn is_alias(self) -> bool {
        self.is_alias
    }

    /// Returns `true` if the name was derived from another by an alias.
    #[inline]
    pub(crate) fn is_derived(self) -> bool {
        self.is_derived
    }

    /// Returns `true` if the terms, without flags, equal `terms`.
    #[cfg(test)]
    pub(crate) fn equals(self, terms: &[u32]) -> bool {
        self.len() == terms.len()
            && self
                .iter()
                .zip(terms)
                .all(|(flagged, term)| flagged & !STOP_WORD_FLAG == *term)
    }
}

impl<'a> DocumentRecord<'a> {
    /// Returns the number of names.
    #[inline]
    pub(crate) fn name_count(self) -> usize {
        self.0.first().map_or(0, |&count| usize::from(count))
    }

    #[inline]
    fn byte(self, at: usize) -> usize {
        self.0.get(at).map_or(0, |&byte| usize::from(byte))
    }

    /// Returns the number of words of the name at `index`.
    #[inline]
    fn word_count(self, index: usize) -> usize {
        self.byte(1 + index * 2) & usize::from(LENGTH_MASK)
    }

    /// Returns the terms of the name at `index`. The display name is at index 0.
    #[inline]
    pub(crate) fn name(self, index: usize) -> TermList<'a> {
        let name_count = self.name_count();
        if index >= name_count {
            return TermList {
                bytes: &[],
                core: (0, 0),
                is_alias: false,
                is_derived: false,
            };
        }
        let mut from = 2 + name_count * 2;
        for earlier in 0..index {
            from += self.word_count(earlier) * 3;
        }
        let length = self.word_count(index);
        let core = self.byte(2 + index * 2);
        TermList {
            bytes: self.0.get(from..from + length * 3).unwrap_or_default(),
            core: (core >> 7, core & 63),
            is_alias: core & 64 != 0,
            is_derived: self.byte(1 + index * 2) & usize::from(DERIVED_FLAG) != 0,
        }
    }

    /// Returns the terms of the location and the domain.
    #[inline]
    pub(crate) fn location(self) -> TermList<'a> {
        let name_count = self.name_count();
        let length = self.byte(1 + name_count * 2) * 3;
        let bytes = self
            .0
            .get(self.0.len().saturating_sub(length)..)
            .unwrap_or_default();
        TermList {
            bytes,
            core: (0, 0),
            is_alias: false,
            is_derived: false,
        }
    }

    /// Returns all terms of the document.
    #[inline]
    pub(crate) fn all_terms(self) -> TermList<'a> {
        TermList {
            bytes: self.0.get(2 + self.name_count() * 2..).unwrap_or_default(),
            core: (0, 0),
            is_alias: false,
            is_derived: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_returns_what_was_written() {
        let mut bytes = Vec::new();
        let names = [
            NameTerms {
                terms: &[9, 70_000, 4],
                core: (1, 2),
                is_alias: false,
                is_derived: false,
            },
            NameTerms {
                terms: &[5],
                core: (0, 1),
                is_alias: true,
                is_derived: true,
            },
        ];
        write_record(&names, &[1, 2], |term| term == 4, &mut bytes);
        let record = DocumentRecord(&bytes);
        assert_eq!(record.name_count(), 2);
        assert!(record.name(0).equals(&[9, 70_000, 4]));
        assert_eq!(
            (record.name(0).is_alias(), record.name(1).is_alias()),
            (false, true)
        );
        assert_eq!(
            (record.name(0).is_derived(), record.name(1).is_derived()),
            (false, true)
        );
        assert_eq!(record.name(0).flagged_term(2), 4 | STOP_WORD_FLAG);
        assert!(record.name(0).core().equals(&[70_000]));
        assert!(record.name(1).core().equals(&[5]));
        assert!(record.location().equals(&[1, 2]));
        assert_eq!(record.all_terms().len(), 6);
        assert_eq!(record.name(2).len(), 0);
    }

    #[test]
    fn invalid_bytes_do_not_panic() {
        for bytes in [&[][..], &[3], &[255, 255, 255], &[1, 200, 200, 9, 1]] {
            let record = DocumentRecord(bytes);
            for index in 0..9 {
                let _ = (
                    record.name(index).core().len(),
                    record.location().len(),
                    record.all_terms().len(),
                );
            }
        }
    }
}
