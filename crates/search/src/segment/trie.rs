//! The dictionary: all words in order, and a trie over them.
//!
//! Words are numbered in the order of their letters, so that all words with one beginning are one range of numbers.
//! A node of the trie holds a bit for each letter that follows, its range of words, and where its children are; a
//! child that only one word passes through is that word itself. A step costs one bit test and one read, which is
//! what makes trying every single-letter mistake affordable (see [`crate::search::fuzzy`]).

use crate::segment::packed::U32s;

/// The letters of the trie, in the order of the bytes they stand for.
///
/// A byte of a letter beyond ASCII takes two symbols, one for each half.
const HIGH_HALF: u8 = 38;
const LOW_HALF: u8 = 46;
const NODE: usize = 20;
const LEAF: u32 = 1 << 31;

/// Numbers of neighbouring words: `low..high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first word.
    pub low: u32,
    /// The word after the last.
    pub high: u32,
}

impl Range {
    /// The range of one word.
    pub fn one(term: u32) -> Self {
        Self {
            low: term,
            high: term + 1,
        }
    }

    /// How many they are. In a damaged segment the end may stand before the beginning.
    #[inline]
    pub fn count(self) -> usize {
        self.high.saturating_sub(self.low) as usize
    }

    /// Whether the word is one of them.
    #[inline]
    pub fn has(self, term: u32) -> bool {
        self.low <= term && term < self.high
    }
}

/// A word or a beginning of one, as symbols of the trie.
pub fn symbols(word: &str, symbols: &mut Vec<u8>) {
    symbols.clear();
    for byte in word.bytes() {
        match byte {
            b'a'..=b'z' => symbols.push(byte - b'a' + 12),
            b'0'..=b'9' => symbols.push(byte - b'0' + 2),
            b'-' => symbols.push(0),
            0x80.. => symbols.extend([HIGH_HALF + (byte >> 4 & 7), LOW_HALF + (byte & 15)]),
            _ => symbols.push(1),
        }
    }
}

/// Where a walk through the trie stands.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// At a node: several words go on from here.
    Node(Node),
    /// Inside the only word that goes on from here: its number and the symbols left.
    Word(u32, Tail<'a>),
}

/// A node: several words share the letters that lead here.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    at: u32,
    followers: u64,
    kids: u32,
    range: Range,
    ends: bool,
}

/// The bytes left of a word, and whether a high half was read of the first of them.
#[derive(Clone, Copy, Debug)]
pub struct Tail<'a> {
    left: &'a [u8],
    half: bool,
}

impl Tail<'_> {
    fn first(self) -> Option<u8> {
        let byte = *self.left.first()?;
        Some(match byte {
            b'a'..=b'z' => byte - b'a' + 12,
            b'0'..=b'9' => byte - b'0' + 2,
            b'-' => 0,
            0x80.. if self.half => LOW_HALF + (byte & 15),
            0x80.. => HIGH_HALF + (byte >> 4 & 7),
            _ => 1,
        })
    }

    fn rest(self) -> Self {
        if self.left[0] >= 0x80 && !self.half {
            Self {
                left: self.left,
                half: true,
            }
        } else {
            Self {
                left: &self.left[1..],
                half: false,
            }
        }
    }
}

/// The dictionary of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Trie<'a> {
    nodes: &'a [u8],
    kids: U32s<'a>,
    starts: U32s<'a>,
    text: &'a [u8],
}

impl<'a> Trie<'a> {
    /// The trie in these sections of a segment.
    pub fn new(nodes: &'a [u8], kids: U32s<'a>, starts: U32s<'a>, text: &'a [u8]) -> Self {
        Self {
            nodes,
            kids,
            starts,
            text,
        }
    }

    /// The word with this number.
    pub fn word(self, term: u32) -> &'a str {
        std::str::from_utf8(self.letters(term)).unwrap_or_default()
    }

    /// The bytes of the word with this number.
    #[inline]
    pub fn letters(self, term: u32) -> &'a [u8] {
        let (from, to) = (self.starts.get(term as usize), self.starts.get(term as usize + 1));
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The place before the first letter.
    pub fn root(self) -> Option<Place<'a>> {
        self.node(0).map(Place::Node)
    }

    #[inline]
    fn node(self, at: u32) -> Option<Node> {
        let from = at as usize * NODE;
        let bytes = self.nodes.get(from..from + NODE)?;
        let number = |from: usize| {
            u32::from_le_bytes([bytes[from], bytes[from + 1], bytes[from + 2], bytes[from + 3]])
        };
        let high = number(16);
        Some(Node {
            at,
            followers: u64::from(number(0)) | u64::from(number(4)) << 32,
            kids: number(8),
            range: Range {
                low: number(12),
                high: high & !LEAF,
            },
            ends: high & LEAF != 0,
        })
    }

    /// One step by `symbol`; `depth` symbols led to `place`.
    #[inline]
    pub fn step(self, place: Place<'a>, depth: usize, symbol: u8) -> Option<Place<'a>> {
        match place {
            Place::Node(node) => {
                let bit = 1u64 << symbol;
                if node.followers & bit == 0 {
                    return None;
                }
                let child = node.kids + (node.followers & (bit - 1)).count_ones();
                let kid = self.kids.get(child as usize);
                if kid & LEAF == 0 {
                    return self.node(kid).map(Place::Node);
                }
                let term = kid & !LEAF;
                let mut tail = Tail {
                    left: self.letters(term),
                    half: false,
                };
                for _ in 0..=depth {
                    tail.first()?;
                    tail = tail.rest();
                }
                Some(Place::Word(term, tail))
            }
            Place::Word(term, tail) => (tail.first()? == symbol).then(|| Place::Word(term, tail.rest())),
        }
    }

    /// Walks by all of `symbols`.
    #[inline]
    pub fn walk(self, mut place: Place<'a>, depth: usize, symbols: &[u8]) -> Option<Place<'a>> {
        for (at, &symbol) in symbols.iter().enumerate() {
            place = self.step(place, depth + at, symbol)?;
        }
        Some(place)
    }

    /// The place after all letters of `word`.
    pub fn place(self, word: &str) -> Option<Place<'a>> {
        let mut spelled = Vec::with_capacity(word.len());
        symbols(word, &mut spelled);
        self.find(&spelled)
    }

    /// The place after all letters of `symbols`.
    pub fn find(self, symbols: &[u8]) -> Option<Place<'a>> {
        self.walk(self.root()?, 0, symbols)
    }
}

impl Place<'_> {
    /// All words that pass here.
    #[inline]
    pub fn range(self) -> Range {
        match self {
            Place::Node(node) => node.range,
            Place::Word(term, _) => Range::one(term),
        }
    }

    /// The number of the node, if several words go on from here.
    pub fn node(self) -> Option<u32> {
        match self {
            Place::Node(node) => Some(node.at),
            Place::Word(..) => None,
        }
    }

    /// The word that ends here.
    #[inline]
    pub fn ends(self) -> Option<u32> {
        match self {
            Place::Node(node) => node.ends.then_some(node.range.low),
            Place::Word(term, tail) => tail.left.is_empty().then_some(term),
        }
    }

    /// The symbols that may follow, as bits.
    #[inline]
    pub fn followers(self) -> u64 {
        match self {
            Place::Node(node) => node.followers,
            Place::Word(_, tail) => tail.first().map_or(0, |symbol| 1 << symbol),
        }
    }
}

/// The words that pass each node, in the order of the nodes.
pub fn ranges(nodes: &[u8]) -> impl Iterator<Item = Range> {
    let number = |bytes: &[u8], from: usize| U32s(bytes).get(from / 4);
    nodes.chunks_exact(NODE).map(move |node| Range {
        low: number(node, 12),
        high: number(node, 16) & !LEAF,
    })
}

/// Builds the nodes and their children over `words`, which must be sorted and distinct.
pub fn build(words: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let mut spelled = Vec::new();
    let mut ends = Vec::with_capacity(words.len());
    let mut one = Vec::new();
    for word in words {
        symbols(word, &mut one);
        spelled.extend_from_slice(&one);
        ends.push(spelled.len());
    }
    let letters = |term: usize| &spelled[if term == 0 { 0 } else { ends[term - 1] }..ends[term]];
    let (mut nodes, mut kids) = (Vec::new(), Vec::<u32>::new());
    let mut queue = std::collections::VecDeque::from([(0, words.len(), 0)]);
    let mut known = 1u32;
    while let Some((low, high, depth)) = queue.pop_front() {
        let ended = low < high && letters(low).len() == depth;
        let mut followers = 0u64;
        let first = kids.len() as u32;
        let mut from = low + usize::from(ended);
        while from < high {
            let symbol = letters(from)[depth];
            let mut to = from + 1;
            while to < high && letters(to)[depth] == symbol {
                to += 1;
            }
            followers |= 1 << symbol;
            if to - from == 1 {
                kids.push(from as u32 | LEAF);
            } else {
                kids.push(known);
                known += 1;
                queue.push_back((from, to, depth + 1));
            }
            from = to;
        }
        nodes.extend_from_slice(&followers.to_le_bytes());
        for number in [first, low as u32, high as u32 | if ended { LEAF } else { 0 }] {
            nodes.extend_from_slice(&number.to_le_bytes());
        }
    }
    (nodes, crate::segment::packed::pack(kids))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::segment::packed::pack;
    use proptest::prelude::*;

    /// Builds a trie of `words` and hands it to `check`.
    pub fn with_trie<T>(words: &[&str], check: impl FnOnce(Trie<'_>) -> T) -> T {
        let (nodes, kids) = build(words);
        let text = words.concat();
        let starts = pack((0..=words.len()).map(|at| words[..at].concat().len() as u32));
        check(Trie::new(&nodes, U32s(&kids), U32s(&starts), text.as_bytes()))
    }

    #[test]
    fn a_beginning_is_a_range_of_words() {
        with_trie(&["cat", "cats", "cattle", "dog", "школа"], |trie| {
            let cat = trie.place("cat").unwrap();
            assert_eq!((cat.range(), cat.ends()), (Range { low: 0, high: 3 }, Some(0)));
            assert_eq!(trie.place("шко").unwrap().range(), Range::one(4));
            assert_eq!(trie.place("школа").unwrap().ends(), Some(4));
            assert!(trie.place("cow").is_none());
        });
    }

    #[test]
    fn an_empty_dictionary_has_no_words() {
        with_trie(&[], |trie| {
            assert!(trie.place("a").is_none());
        });
    }

    proptest! {
        #[test]
        fn the_range_of_a_beginning_is_what_a_scan_finds(
            words in proptest::collection::btree_set("[abé0-]{1,5}", 0..40), letters in "[abé0-]{0,5}",
        ) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let wanted: Vec<u32> =
                (0..words.len() as u32).filter(|&at| words[at as usize].starts_with(&letters)).collect();
            with_trie(&words, |trie| {
                let place = trie.place(&letters);
                let found: Vec<u32> = place.map_or_else(Vec::new, |it| (it.range().low..it.range().high).collect());
                assert_eq!(found, wanted);
                let ends = place.and_then(Place::ends).map(|term| words[term as usize]);
                assert_eq!(ends, words.iter().copied().find(|word| *word == letters));
            });
        }
    }
}
