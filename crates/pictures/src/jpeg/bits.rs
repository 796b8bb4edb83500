//! The coded bits of a scan, with the zeros that are stuffed behind 0xFF left out.

const RST_FIRST: u8 = 0xD0;
const RST_LAST: u8 = 0xD7;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Bits from the highest to the lowest. Behind the last come zeros, and that they were used is told.
#[derive(Clone, Copy)]
pub struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    word: u64,
    count: u32,
    /// Bits of the word that are not in the data.
    padding: u32,
}

impl<'a> Bits<'a> {
    pub fn new(data: &'a [u8], at: usize) -> Bits<'a> {
        Bits {
            data,
            at,
            word: 0,
            count: 0,
            padding: 0,
        }
    }

    /// Where the bytes begin that were not looked at yet.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Makes sure that 32 bits are there: a code of 16, and a number of 16 behind it.
    #[inline]
    pub fn fill(&mut self) {
        if self.count >= 32 {
            return;
        }
        if let Some(next) = self.data.get(self.at..).and_then(<[u8]>::first_chunk::<8>) {
            let next = u64::from_be_bytes(*next);
            let has_marks = (!next).wrapping_sub(ONES) & next & HIGHS != 0;
            if !has_marks {
                // Bits below `count` may be there already; they are the same ones.
                self.word |= next >> self.count;
                self.at += ((63 - self.count) >> 3) as usize;
                self.count |= 0x38;
                return;
            }
        }
        // By value, so that the bits can stay in registers.
        *self = self.filled_slowly();
    }

    #[inline(never)]
    fn filled_slowly(self) -> Bits<'a> {
        let mut filled = self;
        while filled.count <= 56 {
            let byte = match filled.data.get(filled.at..) {
                Some([0xFF, 0, ..]) => {
                    filled.at += 2;
                    0xFF
                }
                Some([0xFF, ..] | []) | None => {
                    filled.padding += 8;
                    filled.count += 8;
                    continue;
                }
                Some([byte, ..]) => {
                    filled.at += 1;
                    *byte
                }
            };
            filled.word |= u64::from(byte) << (56 - filled.count);
            filled.count += 8;
        }
        filled
    }

    /// The next bits, one at least, without taking them.
    #[inline]
    pub fn peek(&self, count: u32) -> usize {
        (self.word >> (64 - count)) as usize
    }

    #[inline]
    pub fn skip(&mut self, count: u32) {
        self.word <<= count;
        self.count -= count;
    }

    /// Up to 32 bits.
    #[inline]
    pub fn take(&mut self, count: u32) -> u32 {
        if count == 0 {
            return 0;
        }
        let taken = self.peek(count) as u32;
        self.skip(count);
        taken
    }

    /// A number of so many bits; those that begin with 0 are negative.
    #[inline]
    pub fn signed(&mut self, count: u32) -> i32 {
        signed(self.take(count), count)
    }

    /// Were bits taken that the data do not have?
    pub fn is_overdrawn(&self) -> bool {
        self.padding > self.count
    }

    /// Goes on behind the next restart marker.
    pub fn restart(&mut self) -> Option<()> {
        (self.word, self.count, self.padding) = (0, 0, 0);
        loop {
            self.at += memchr::memchr(0xFF, self.data.get(self.at..)?)?;
            match self.data.get(self.at + 1)? {
                0 => self.at += 2,
                0xFF => self.at += 1,
                RST_FIRST..=RST_LAST => {
                    self.at += 2;
                    return Some(());
                }
                _ => return None,
            }
        }
    }
}

/// ITU-T T.81, figure F.12.
#[inline]
pub fn signed(bits: u32, count: u32) -> i32 {
    let (bits, limit) = (bits as i32, 1 << count >> 1);
    match bits < limit {
        true => bits - (1 << count) + 1,
        false => bits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_begin_with_zero_are_negative() {
        assert_eq!(signed(0, 0), 0);
        assert_eq!([signed(0, 1), signed(1, 1)], [-1, 1]);
        assert_eq!(
            [0b00, 0b01, 0b10, 0b11].map(|bits| signed(bits, 2)),
            [-3, -2, 2, 3]
        );
    }

    proptest! {
        #[test]
        fn all_bits_come_in_their_order_and_no_more(
            bytes in prop::collection::vec(prop_oneof![Just(0xFF_u8), any::<u8>()], 0..40),
            steps in prop::collection::vec(1..=16_u32, 60)
        ) {
            let mut stuffed = Vec::new();
            for byte in &bytes {
                stuffed.push(*byte);
                if *byte == 0xFF {
                    stuffed.push(0);
                }
            }
            stuffed.extend([0xFF, 0xD9, 1, 2, 3, 4, 5, 6, 7, 8]);
            let mut bits = Bits::new(&stuffed, 0);
            let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| u32::from(byte >> (7 - at % 8) & 1));
            let mut at = 0;
            for step in steps {
                bits.fill();
                let wanted = (at..at + step as usize).fold(0, |all, at| all << 1 | bit(at));
                prop_assert_eq!(bits.take(step), wanted);
                at += step as usize;
                prop_assert_eq!(bits.is_overdrawn(), at > bytes.len() * 8);
            }
        }
    }
}
