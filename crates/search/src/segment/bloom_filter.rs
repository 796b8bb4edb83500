//! Blocked Bloom filters: approximate membership of documents in posting lists.
//!
//! A hash of the document selects one block of 64 bits and three bits in it, so that a lookup reads a single
//! word of memory. Blocks hold four documents at most on average: a filter is not larger than its list, and
//! about one in a hundred documents outside the list is a false positive. Long lists can thus be intersected
//! without walking them side by side.

/// Average number of documents per block, at most.
const DOCUMENTS_PER_BLOCK: usize = 4;

/// The Bloom filter of a posting list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BloomFilter<'a>(pub &'a [u8]);

impl BloomFilter<'_> {
    /// Returns `false` only if the document is not in the list. An empty filter excludes nothing.
    #[inline]
    pub(crate) fn may_contain(self, document: u32) -> bool {
        let (block, mask) = locate(document, self.0.len() / 8);
        match self.0.get(block * 8..block * 8 + 8) {
            Some(bytes) => !u64::from_le_bytes(bytes.try_into().unwrap_or_default()) & mask == 0,
            None => true,
        }
    }
}

/// Returns the block of a document and its bits in the block. `block_count` must be a power of two.
#[inline]
fn locate(document: u32, block_count: usize) -> (usize, u64) {
    let hash = u64::from(document).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bit = |shift: u32| 1u64 << (hash >> shift & 63);
    let block = (hash >> 20) as usize & block_count.wrapping_sub(1);
    (block, bit(58) | bit(52) | bit(46))
}

fn block_count(documents: usize) -> usize {
    match documents {
        0 => 0,
        _ => documents.div_ceil(DOCUMENTS_PER_BLOCK).next_power_of_two(),
    }
}

/// Appends the filter of `documents` to `bytes` and returns its number of blocks.
pub(crate) fn build(documents: &[u32], bytes: &mut Vec<u8>) -> usize {
    let mut blocks = vec![0u64; block_count(documents.len())];
    for &document in documents {
        let (block, mask) = locate(document, blocks.len());
        blocks[block] |= mask;
    }
    bytes.extend(blocks.iter().flat_map(|block| block.to_le_bytes()));
    blocks.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn there_are_no_false_negatives(documents in proptest::collection::btree_set(0u32..50_000, 0..900)) {
            let documents: Vec<u32> = documents.into_iter().collect();
            let mut bytes = Vec::new();
            prop_assert_eq!(build(&documents, &mut bytes) * 8, bytes.len());
            prop_assert!(documents.iter().all(|&document| BloomFilter(&bytes).may_contain(document)));
        }
    }

    #[test]
    fn false_positives_are_rare() {
        let documents: Vec<u32> = (0..20_000).map(|n| n * 7).collect();
        let mut bytes = Vec::new();
        build(&documents, &mut bytes);
        let others = (0..140_000).filter(|document| document % 7 != 0);
        let positives = others
            .filter(|&document| BloomFilter(&bytes).may_contain(document))
            .count();
        assert!(positives < 120_000 / 50, "{positives}");
    }

    #[test]
    fn an_empty_filter_excludes_nothing() {
        assert!(BloomFilter(&[]).may_contain(9));
    }
}
