//! Sieves: whether a document stands in a list, told by a few bits for each document of the list.
//!
//! A document sets three bits of one word of eight bytes, chosen by its number; a word is shared by four documents at the
//! most on average. What stands in the list always passes, of the others about one in a hundred does. A sieve is no
//! larger than its list, and a look at it costs one read wherever the document stands, so that long lists are compared
//! without being walked side by side.

/// Documents that share a word.
const SHARING: usize = 4;

/// The sieve of one list.
#[derive(Clone, Copy, Debug)]
pub struct Sieve<'a>(pub &'a [u8]);

impl Sieve<'_> {
    /// Whether the document may stand in the list.
    #[inline]
    pub fn passes(self, document: u32) -> bool {
        let (at, bits) = place(document, self.0.len() / 8);
        match self.0.get(at * 8..at * 8 + 8) {
            Some(word) => !u64::from_le_bytes(word.try_into().unwrap_or_default()) & bits == 0,
            None => true,
        }
    }
}

/// The word of a document among `words`, a power of two, and its bits in it.
#[inline]
fn place(document: u32, words: usize) -> (usize, u64) {
    let hash = u64::from(document).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bit = |shift: u32| 1u64 << (hash >> shift & 63);
    let at = (hash >> 20) as usize & words.wrapping_sub(1);
    (at, bit(58) | bit(52) | bit(46))
}

/// How many words the sieve of a list of `length` documents has.
fn words(length: usize) -> usize {
    match length {
        0 => 0,
        _ => length.div_ceil(SHARING).next_power_of_two(),
    }
}

/// Appends the sieve of `list`; how many words of eight bytes it has.
pub fn build(list: &[u32], bytes: &mut Vec<u8>) -> usize {
    let mut words = vec![0u64; words(list.len())];
    for &document in list {
        let (at, bits) = place(document, words.len());
        words[at] |= bits;
    }
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_document_of_a_list_passes(list in proptest::collection::btree_set(0u32..50_000, 0..900)) {
            let list: Vec<u32> = list.into_iter().collect();
            let mut bytes = Vec::new();
            prop_assert_eq!(build(&list, &mut bytes) * 8, bytes.len());
            prop_assert!(list.iter().all(|&document| Sieve(&bytes).passes(document)));
        }
    }

    #[test]
    fn few_others_pass() {
        let list: Vec<u32> = (0..20_000).map(|n| n * 7).collect();
        let mut bytes = Vec::new();
        build(&list, &mut bytes);
        let others = (0..140_000).filter(|document| document % 7 != 0);
        let passed = others.filter(|&document| Sieve(&bytes).passes(document)).count();
        assert!(passed < 120_000 / 50, "{passed}");
    }

    #[test]
    fn a_sieve_that_is_missing_hides_nothing() {
        assert!(Sieve(&[]).passes(9));
    }
}
