//! The words of one document, kept together so that a candidate is judged with one look.
//!
//! A record starts with the number of its names and, for each, how many words it has and which of them are its
//! *spine* (the name without a leading "the" and without the forms of law at its end), and whether it is an alias. The numbers of the words follow,
//! three bytes each, name after name, then those of its places.

/// Words of a name that count; what stands behind is found by its word but not by its place in the name.
pub const LONGEST_NAME: usize = 63;

/// Names of a document, the shown one included.
pub const MOST_NAMES: usize = 8;

/// Set in the number of a word that is noise.
pub const NOISE: u32 = 1 << 23;

/// The words of one name as the builder knows them.
#[derive(Debug)]
pub struct NameWords<'a> {
    /// All words.
    pub terms: &'a [u32],
    /// Where the spine starts and ends.
    pub spine: (u8, u8),
    /// Whether it is an alias: another name that counts like the shown one.
    pub alias: bool,
}

/// Writes a record.
pub fn write(names: &[NameWords<'_>], places: &[u32], noise: impl Fn(u32) -> bool, bytes: &mut Vec<u8>) {
    bytes.push(names.len() as u8);
    for name in names {
        let alias = u8::from(name.alias) << 6;
        bytes.extend([name.terms.len() as u8, name.spine.0 << 7 | alias | name.spine.1]);
    }
    bytes.push(places.len() as u8);
    for &term in names.iter().flat_map(|name| name.terms).chain(places) {
        let marked = term | if noise(term) { NOISE } else { 0 };
        bytes.extend_from_slice(&marked.to_le_bytes()[..3]);
    }
}

/// A record read in place.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a>(pub &'a [u8]);

/// The words of one name, or of the places, read in place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<'a> {
    bytes: &'a [u8],
    spine: (usize, usize),
    alias: bool,
}

impl<'a> Terms<'a> {
    /// How many words there are.
    #[inline]
    pub fn len(self) -> usize {
        self.bytes.len() / 3
    }

    /// The word `at`, with its mark of noise.
    #[inline]
    pub fn marked(self, at: usize) -> u32 {
        match self.bytes.get(at * 3..at * 3 + 3) {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]),
            None => 0,
        }
    }

    /// The word `at`.
    #[inline]
    pub fn term(self, at: usize) -> u32 {
        self.marked(at) & !NOISE
    }

    /// All words in their order, with their marks of noise.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.bytes
            .chunks_exact(3)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
    }

    /// The name without article and form of law.
    #[inline]
    pub fn spine(self) -> Self {
        let (from, to) = self.spine;
        let bytes = self.bytes.get(from * 3..to * 3).unwrap_or_default();
        Self {
            bytes,
            spine: (0, bytes.len() / 3),
            alias: self.alias,
        }
    }

    /// Where the spine starts.
    #[inline]
    pub fn spine_start(self) -> usize {
        self.spine.0
    }

    /// Whether the name is an alias.
    #[inline]
    pub fn alias(self) -> bool {
        self.alias
    }

    /// Whether the words are exactly these.
    #[cfg(test)]
    pub fn equals(self, terms: &[u32]) -> bool {
        self.len() == terms.len() && self.iter().zip(terms).all(|(mine, term)| mine & !NOISE == *term)
    }
}

impl<'a> Record<'a> {
    /// How many names there are, the shown one first.
    #[inline]
    pub fn names(self) -> usize {
        self.0.first().map_or(0, |&count| usize::from(count))
    }

    #[inline]
    fn byte(self, at: usize) -> usize {
        self.0.get(at).map_or(0, |&byte| usize::from(byte))
    }

    /// The words of name `which`.
    #[inline]
    pub fn name(self, which: usize) -> Terms<'a> {
        let names = self.names();
        if which >= names {
            return Terms {
                bytes: &[],
                spine: (0, 0),
                alias: false,
            };
        }
        let mut from = 2 + names * 2;
        for earlier in 0..which {
            from += self.byte(1 + earlier * 2) * 3;
        }
        let length = self.byte(1 + which * 2);
        let spine = self.byte(2 + which * 2);
        Terms {
            bytes: self.0.get(from..from + length * 3).unwrap_or_default(),
            spine: (spine >> 7, spine & 63),
            alias: spine & 64 != 0,
        }
    }

    /// The words of the places.
    #[inline]
    pub fn places(self) -> Terms<'a> {
        let names = self.names();
        let length = self.byte(1 + names * 2) * 3;
        let bytes = self
            .0
            .get(self.0.len().saturating_sub(length)..)
            .unwrap_or_default();
        Terms {
            bytes,
            spine: (0, 0),
            alias: false,
        }
    }

    /// Every word of the document, with its mark of noise.
    #[inline]
    pub fn all(self) -> Terms<'a> {
        Terms {
            bytes: self.0.get(2 + self.names() * 2..).unwrap_or_default(),
            spine: (0, 0),
            alias: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_gives_back_what_was_written() {
        let mut bytes = Vec::new();
        let names = [
            NameWords {
                terms: &[9, 70_000, 4],
                spine: (1, 2),
                alias: false,
            },
            NameWords {
                terms: &[5],
                spine: (0, 1),
                alias: true,
            },
        ];
        write(&names, &[1, 2], |term| term == 4, &mut bytes);
        let record = Record(&bytes);
        assert_eq!(record.names(), 2);
        assert!(record.name(0).equals(&[9, 70_000, 4]));
        assert_eq!((record.name(0).alias(), record.name(1).alias()), (false, true));
        assert_eq!(record.name(0).marked(2), 4 | NOISE);
        assert!(record.name(0).spine().equals(&[70_000]));
        assert!(record.name(1).spine().equals(&[5]));
        assert!(record.places().equals(&[1, 2]));
        assert_eq!(record.all().len(), 6);
        assert_eq!(record.name(2).len(), 0);
    }

    #[test]
    fn false_bytes_give_no_words_and_no_panic() {
        for bytes in [&[][..], &[3], &[255, 255, 255], &[1, 200, 200, 9, 1]] {
            let record = Record(bytes);
            for which in 0..9 {
                let _ = (
                    record.name(which).spine().len(),
                    record.places().len(),
                    record.all().len(),
                );
            }
        }
    }
}
