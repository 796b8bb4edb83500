//! Document signatures: 64 bits that rule out most documents without a given prefix.
//!
//! Each word of a document sets one bit for its first two letters and one for its first three, as in a
//! signature file. A document whose signature lacks the bits of a prefix has no word with that prefix, and
//! its record need not be read. Tags have no bits, since they are not found by a prefix.

use crate::text::tag::TAG_START;

/// Returns the signature bits of a word or of a prefix.
pub(crate) fn prefix_bits(letters: &[u8]) -> u64 {
    let mut bits = 0;
    if let [first, second, ..] = *letters
        && first != TAG_START as u8
    {
        let two = u32::from(first) << 8 | u32::from(second);
        bits |= 1 << (two.wrapping_mul(0x9e37_79b1) >> 27);
        if let Some(&third) = letters.get(2) {
            let three = two << 8 | u32::from(third);
            bits |= 1 << ((three.wrapping_mul(0x85eb_ca6b) >> 27) + 32);
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_all_bits_of_its_prefixes() {
        for end in 0..=10 {
            let prefix = prefix_bits(&b"foundation"[..end]);
            assert_eq!(prefix_bits(b"foundation") & prefix, prefix);
        }
        assert_eq!(prefix_bits(b"a"), 0);
    }
}
