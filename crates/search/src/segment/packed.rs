//! Numbers read in place from the bytes of a segment.
//!
//! Every read is checked and answers zero past the end, so that a segment with false content behind a true checksum
//! can give a wrong answer but never reads out of bounds.

/// Little-endian numbers of four bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct U32s<'a>(pub &'a [u8]);

impl<'a> U32s<'a> {
    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.0.len() / 4
    }

    /// The number `at`.
    #[inline]
    pub fn get(self, at: usize) -> u32 {
        match self.0.get(at * 4..at * 4 + 4) {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            None => 0,
        }
    }

    /// The numbers `from..to`, fewer where they end before.
    #[inline]
    pub fn slice(self, from: usize, to: usize) -> Self {
        let to = to.min(self.len());
        Self(self.0.get(from.min(to) * 4..to * 4).unwrap_or_default())
    }

    /// All numbers in turn.
    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.0
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// How many of these rising numbers are below `bound`.
    #[inline]
    pub fn below(self, bound: u32) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle) < bound {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether `number` is one of these rising numbers.
    #[inline]
    pub fn holds(self, number: u32) -> bool {
        let at = self.below(number);
        at < self.len() && self.get(at) == number
    }
}

/// Little-endian numbers of two bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct U16s<'a>(pub &'a [u8]);

impl U16s<'_> {
    /// The number `at`.
    #[inline]
    pub fn get(self, at: usize) -> u16 {
        match self.0.get(at * 2..at * 2 + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        }
    }
}

/// One bit for each document.
#[derive(Clone, Copy, Debug)]
pub struct Bits<'a>(pub &'a [u8]);

impl Bits<'_> {
    /// Whether the bit `at` is set.
    #[inline]
    pub fn has(self, at: u32) -> bool {
        self.0
            .get(at as usize / 8)
            .is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }
}

/// Numbers as bytes, in the order of a segment.
pub fn pack(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let numbers = numbers.into_iter();
    let mut bytes = Vec::with_capacity(numbers.size_hint().0 * 4);
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes
}

/// The rising `numbers` below `count` as bits.
pub fn pack_bits(numbers: impl Iterator<Item = u32>, count: usize) -> Vec<u8> {
    let mut bits = vec![0u8; count.div_ceil(64) * 8];
    for number in numbers {
        bits[number as usize / 8] |= 1 << (number % 8);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_read_past_the_end_is_zero() {
        let bytes = pack([7, 9]);
        assert_eq!(
            (U32s(&bytes).get(1), U32s(&bytes).get(2), U32s(&bytes).get(99)),
            (9, 0, 0)
        );
        assert_eq!(U16s(&[1]).get(0), 0);
        assert!(!Bits(&[]).has(3));
    }

    proptest! {
        #[test]
        fn bits_and_lists_hold_the_numbers_that_were_packed(
            numbers in proptest::collection::btree_set(0u32..300, 0..50)
        ) {
            let bits = pack_bits(numbers.iter().copied(), 300);
            let list = pack(numbers.iter().copied());
            for number in 0..400 {
                prop_assert_eq!(Bits(&bits).has(number), numbers.contains(&number));
                prop_assert_eq!(U32s(&list).holds(number), numbers.contains(&number));
            }
        }
    }
}
