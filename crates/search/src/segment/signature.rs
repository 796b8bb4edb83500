//! A glance at a document: 64 bits that tell most documents without a beginning from those with it.
//!
//! Each word of a document sets one bit for its first two letters and one for its first three. A document that lacks
//! the bits of what was typed has no word that begins so, which spares a look at its record.

/// The bits of a word, or of its beginning.
pub fn bits(letters: &[u8]) -> u64 {
    let mut bits = 0;
    if let [first, second, ..] = *letters {
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
    fn a_word_has_all_bits_of_its_beginnings() {
        for end in 0..=10 {
            let start = bits(&b"foundation"[..end]);
            assert_eq!(bits(b"foundation") & start, start);
        }
        assert_eq!(bits(b"a"), 0);
    }
}
