//! The dictionary: all words in order, and a trie over them.
//!
//! Words are numbered in lexicographic order, so that all words with a given prefix are one range of terms. A
//! node of the trie holds a bit for each symbol that can follow, its range of terms and the position of its
//! children. A child with a single word is a leaf and refers to the word itself. A step costs one bit test
//! and one read, which makes it affordable to try every single edit of a word.

use std::collections::VecDeque;

use crate::segment::packed::{PackedU32s, pack_u32s};

// Symbols are numbered in the order of the bytes that they encode: 0 is a hyphen, 1 any other ASCII
// character, then digits and letters. A byte beyond ASCII takes two symbols, one for each half.
const HYPHEN: u8 = 0;
const OTHER_ASCII: u8 = 1;
const DIGITS: u8 = 2;
pub(crate) const LETTERS: u8 = 12;
const HIGH_HALVES: u8 = 38;
const LOW_HALVES: u8 = 46;

/// Size of an encoded node: following symbols, first child, first term, end of the terms.
const NODE_BYTES: usize = 20;
/// Set in a child that is a leaf; the other bits are its term.
const LEAF_FLAG: u32 = 1 << 31;
/// Set in the end of the terms of a node if a word ends at the node.
const WORD_FLAG: u32 = 1 << 31;

/// A range of terms, `low..high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TermRange {
    /// The first term.
    pub low: u32,
    /// The term after the last.
    pub high: u32,
}

impl TermRange {
    /// Creates a range of one term.
    pub(crate) fn single(term: u32) -> Self {
        Self {
            low: term,
            high: term + 1,
        }
    }

    /// Returns the number of terms. In a damaged segment, the end can be before the start.
    #[inline]
    pub(crate) fn count(self) -> usize {
        self.high.saturating_sub(self.low) as usize
    }

    /// Returns `true` if the range contains `term`.
    #[inline]
    pub(crate) fn contains(self, term: u32) -> bool {
        self.low <= term && term < self.high
    }
}

/// Returns `true` if the symbol is a letter from "a" to "z".
pub(crate) fn is_letter(symbol: u8) -> bool {
    (LETTERS..HIGH_HALVES).contains(&symbol)
}

/// Replaces `symbols` with those of a word or of a prefix.
pub(crate) fn encode(word: &str, symbols: &mut Vec<u8>) {
    symbols.clear();
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' => symbols.push(byte - b'a' + LETTERS),
            b'0'..=b'9' => symbols.push(byte - b'0' + DIGITS),
            b'-' => symbols.push(HYPHEN),
            0x80.. => symbols.extend([HIGH_HALVES + (byte >> 4 & 7), LOW_HALVES + (byte & 15)]),
            _ => symbols.push(OTHER_ASCII),
        }
    }
}

/// A position in the trie, reached by a prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cursor<'a> {
    /// At a node: several words have the prefix.
    Node(Node),
    /// Inside a leaf: only this term has the prefix, and the suffix is the rest of its word.
    Leaf(u32, Suffix<'a>),
}

/// A node of the trie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    id: u32,
    next_symbols: u64,
    first_child: u32,
    terms: TermRange,
    ends_word: bool,
}

/// The rest of a word in a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suffix<'a> {
    bytes: &'a [u8],
    /// Whether the high half of the first byte has been read.
    is_half_read: bool,
}

impl<'a> Suffix<'a> {
    /// Returns the rest of a word after its first `count` symbols.
    fn after(word: &'a [u8], count: usize) -> Option<Self> {
        let is_half_read = false;
        match word.split_at_checked(count) {
            // Each of these bytes is one symbol.
            Some((read, bytes)) if read.is_ascii() => Some(Self { bytes, is_half_read }),
            _ => {
                let mut suffix = Self {
                    bytes: word,
                    is_half_read,
                };
                for _ in 0..count {
                    suffix.first_symbol()?;
                    suffix = suffix.skip_symbol();
                }
                Some(suffix)
            }
        }
    }

    fn first_symbol(self) -> Option<u8> {
        let byte = *self.bytes.first()?;
        Some(match byte {
            b'a'..=b'z' => byte - b'a' + LETTERS,
            b'0'..=b'9' => byte - b'0' + DIGITS,
            b'-' => HYPHEN,
            0x80.. if self.is_half_read => LOW_HALVES + (byte & 15),
            0x80.. => HIGH_HALVES + (byte >> 4 & 7),
            _ => OTHER_ASCII,
        })
    }

    fn skip_symbol(self) -> Self {
        if self.bytes[0] >= 0x80 && !self.is_half_read {
            Self {
                bytes: self.bytes,
                is_half_read: true,
            }
        } else {
            Self {
                bytes: &self.bytes[1..],
                is_half_read: false,
            }
        }
    }
}

/// The dictionary of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trie<'a> {
    nodes: &'a [u8],
    children: PackedU32s<'a>,
    word_offsets: PackedU32s<'a>,
    text: &'a [u8],
}

impl<'a> Trie<'a> {
    /// Creates a trie over four sections of a segment.
    pub(crate) fn new(
        nodes: &'a [u8],
        children: PackedU32s<'a>,
        word_offsets: PackedU32s<'a>,
        text: &'a [u8],
    ) -> Self {
        Self {
            nodes,
            children,
            word_offsets,
            text,
        }
    }

    /// Returns the word of a term.
    pub(crate) fn word(self, term: u32) -> &'a str {
        std::str::from_utf8(self.word_bytes(term)).unwrap_or_default()
    }

    /// Returns the bytes of the word of a term.
    #[inline]
    pub(crate) fn word_bytes(self, term: u32) -> &'a [u8] {
        let (from, to) = (
            self.word_offsets.get(term as usize),
            self.word_offsets.get(term as usize + 1),
        );
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Returns the cursor of the empty prefix.
    pub(crate) fn root(self) -> Option<Cursor<'a>> {
        self.node(0).map(Cursor::Node)
    }

    #[inline]
    fn node(self, id: u32) -> Option<Node> {
        let from = id as usize * NODE_BYTES;
        let bytes = self.nodes.get(from..from + NODE_BYTES)?;
        let number = |from: usize| {
            u32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]])
        };
        let high = number(16);
        Some(Node {
            id,
            next_symbols: u64::from(number(0)) | u64::from(number(4)) << 32,
            first_child: number(8),
            terms: TermRange {
                low: number(12),
                high: high & !WORD_FLAG,
            },
            ends_word: high & WORD_FLAG != 0,
        })
    }

    /// Extends the prefix of `cursor`, which has `depth` symbols, by one symbol.
    #[inline]
    pub(crate) fn step(self, cursor: Cursor<'a>, depth: usize, symbol: u8) -> Option<Cursor<'a>> {
        match cursor {
            Cursor::Node(node) => {
                let bit = 1u64 << symbol;
                if node.next_symbols & bit == 0 {
                    return None;
                }
                let index = node.first_child + (node.next_symbols & (bit - 1)).count_ones();
                let child = self.children.get(index as usize);
                if child & LEAF_FLAG == 0 {
                    return self.node(child).map(Cursor::Node);
                }
                let term = child & !LEAF_FLAG;
                Some(Cursor::Leaf(
                    term,
                    Suffix::after(self.word_bytes(term), depth + 1)?,
                ))
            }
            Cursor::Leaf(term, suffix) => {
                (suffix.first_symbol()? == symbol).then(|| Cursor::Leaf(term, suffix.skip_symbol()))
            }
        }
    }

    /// Extends the prefix of `cursor`, which has `depth` symbols, by all of `symbols`.
    #[inline]
    pub(crate) fn walk(self, mut cursor: Cursor<'a>, depth: usize, symbols: &[u8]) -> Option<Cursor<'a>> {
        for (at, &symbol) in symbols.iter().enumerate() {
            cursor = self.step(cursor, depth + at, symbol)?;
        }
        Some(cursor)
    }

    /// Returns the cursor of a word or prefix.
    pub(crate) fn find(self, prefix: &str) -> Option<Cursor<'a>> {
        let mut symbols = Vec::with_capacity(prefix.len());
        encode(prefix, &mut symbols);
        self.find_symbols(&symbols)
    }

    /// Returns the cursor of an encoded word or prefix.
    pub(crate) fn find_symbols(self, symbols: &[u8]) -> Option<Cursor<'a>> {
        self.walk(self.root()?, 0, symbols)
    }
}

impl Cursor<'_> {
    /// Returns the terms that have the prefix.
    #[inline]
    pub(crate) fn terms(self) -> TermRange {
        match self {
            Cursor::Node(node) => node.terms,
            Cursor::Leaf(term, _) => TermRange::single(term),
        }
    }

    /// Returns the number of the node, unless the cursor is inside a leaf.
    pub(crate) fn node_id(self) -> Option<u32> {
        match self {
            Cursor::Node(node) => Some(node.id),
            Cursor::Leaf(..) => None,
        }
    }

    /// Returns the term that equals the prefix.
    #[inline]
    pub(crate) fn exact_term(self) -> Option<u32> {
        match self {
            Cursor::Node(node) => node.ends_word.then_some(node.terms.low),
            Cursor::Leaf(term, suffix) => suffix.bytes.is_empty().then_some(term),
        }
    }

    /// Iterates over the symbols that can follow the prefix, in ascending order.
    #[inline]
    pub(crate) fn next_symbols(self) -> impl Iterator<Item = u8> {
        let mut left = match self {
            Cursor::Node(node) => node.next_symbols,
            Cursor::Leaf(_, suffix) => suffix.first_symbol().map_or(0, |symbol| 1 << symbol),
        };
        std::iter::from_fn(move || {
            let symbol = (left != 0).then(|| left.trailing_zeros() as u8);
            left &= left.wrapping_sub(1);
            symbol
        })
    }
}

/// Iterates over the terms of each node, in the order of the nodes.
pub(crate) fn node_terms(nodes: &[u8]) -> impl Iterator<Item = TermRange> {
    let number = |bytes: &[u8], from: usize| PackedU32s(bytes).get(from / 4);
    nodes.chunks_exact(NODE_BYTES).map(move |node| TermRange {
        low: number(node, 12),
        high: number(node, 16) & !WORD_FLAG,
    })
}

/// Encodes the nodes and their children for `words`, which must be sorted and distinct.
///
/// Nodes are written breadth first, so that those near the root, which every query reads, share a few pages.
pub(crate) fn build(words: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let mut all_symbols = Vec::new();
    let mut ends = Vec::with_capacity(words.len());
    let mut buffer = Vec::new();
    for word in words {
        encode(word, &mut buffer);
        all_symbols.extend_from_slice(&buffer);
        ends.push(all_symbols.len());
    }
    let symbols = |term: usize| &all_symbols[if term == 0 { 0 } else { ends[term - 1] }..ends[term]];
    let (mut nodes, mut children) = (Vec::new(), Vec::<u32>::new());
    let mut queue = VecDeque::from([(0, words.len(), 0)]);
    let mut node_count = 1u32;
    while let Some((low, high, depth)) = queue.pop_front() {
        let ends_word = low < high && symbols(low).len() == depth;
        let mut next_symbols = 0u64;
        let first_child = children.len() as u32;
        let mut from = low + usize::from(ends_word);
        while from < high {
            let symbol = symbols(from)[depth];
            let mut to = from + 1;
            while to < high && symbols(to)[depth] == symbol {
                to += 1;
            }
            next_symbols |= 1 << symbol;
            if to - from == 1 {
                children.push(from as u32 | LEAF_FLAG);
            } else {
                children.push(node_count);
                node_count += 1;
                queue.push_back((from, to, depth + 1));
            }
            from = to;
        }
        nodes.extend_from_slice(&next_symbols.to_le_bytes());
        let flag = if ends_word { WORD_FLAG } else { 0 };
        for number in [first_child, low as u32, high as u32 | flag] {
            nodes.extend_from_slice(&number.to_le_bytes());
        }
    }
    (nodes, pack_u32s(children))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Calls `check` with a trie of `words`.
    pub(crate) fn with_trie<T>(words: &[&str], check: impl FnOnce(Trie<'_>) -> T) -> T {
        let (nodes, children) = build(words);
        let text = words.concat();
        let offsets = pack_u32s((0..=words.len()).map(|at| words[..at].concat().len() as u32));
        check(Trie::new(
            &nodes,
            PackedU32s(&children),
            PackedU32s(&offsets),
            text.as_bytes(),
        ))
    }

    #[test]
    fn a_prefix_is_a_range_of_terms() {
        with_trie(&["cat", "cats", "cattle", "dog", "школа"], |trie| {
            let cat = trie.find("cat").unwrap();
            assert_eq!(
                (cat.terms(), cat.exact_term()),
                (TermRange { low: 0, high: 3 }, Some(0))
            );
            assert_eq!(trie.find("шко").unwrap().terms(), TermRange::single(4));
            assert_eq!(trie.find("школа").unwrap().exact_term(), Some(4));
            assert!(trie.find("cow").is_none());
        });
    }

    #[test]
    fn an_empty_dictionary_has_no_words() {
        with_trie(&[], |trie| {
            assert!(trie.find("a").is_none());
        });
    }

    proptest! {
        #[test]
        fn the_trie_finds_what_a_scan_finds(
            words in proptest::collection::btree_set("[abé0-]{1,5}", 0..40), prefix in "[abé0-]{0,5}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let expected: Vec<u32> =
                (0..words.len() as u32).filter(|&term| words[term as usize].starts_with(&prefix)).collect();
            with_trie(&words, |trie| {
                let cursor = trie.find(&prefix);
                let found: Vec<u32> =
                    cursor.map_or_else(Vec::new, |it| (it.terms().low..it.terms().high).collect());
                assert_eq!(found, expected);
                let exact = cursor.and_then(Cursor::exact_term).map(|term| words[term as usize]);
                assert_eq!(exact, words.iter().copied().find(|word| *word == prefix));
            });
        }
    }
}
