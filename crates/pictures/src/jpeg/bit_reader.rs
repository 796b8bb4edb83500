//! Reads the entropy-coded bits of a scan and skips the zero bytes stuffed after each 0xFF.

const RST0: u8 = 0xD0;
const RST7: u8 = 0xD7;
/// The lowest and the highest bit of each byte of a word.
const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Reads bits from the most significant to the least significant.
///
/// After the end of the data it yields zeros; [`BitReader::is_past_end`] tells whether any of them were consumed.
#[derive(Clone, Copy)]
pub(super) struct BitReader<'a> {
    data: &'a [u8],
    position: usize,
    /// The next bits, left-aligned, and how many of them are valid.
    buffer: u64,
    bit_count: u32,
    /// The number of buffered bits that are not in the data.
    padding: u32,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(data: &'a [u8], position: usize) -> BitReader<'a> {
        BitReader {
            data,
            position,
            buffer: 0,
            bit_count: 0,
            padding: 0,
        }
    }

    /// Returns the position of the first byte that is not in the buffer yet.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Buffers at least 32 bits: enough for a code of 16 bits and the number of up to 16 bits after it.
    #[inline]
    pub(super) fn refill(&mut self) {
        if self.bit_count >= 32 {
            return;
        }
        let next = self.data.get(self.position..).and_then(<[u8]>::first_chunk::<8>);
        if let Some(next) = next {
            let next = u64::from_be_bytes(*next);
            let contains_ff = (!next).wrapping_sub(LOW_BITS) & next & HIGH_BITS != 0;
            if !contains_ff {
                // The bits after `bit_count` may already be in the buffer, but then they are equal.
                self.buffer |= next >> self.bit_count;
                self.position += ((63 - self.bit_count) >> 3) as usize;
                self.bit_count |= 0x38;
                return;
            }
        }
        // By value, so that the fields can stay in registers.
        *self = self.refilled_bytewise();
    }

    #[inline(never)]
    fn refilled_bytewise(self) -> BitReader<'a> {
        let mut reader = self;
        while reader.bit_count <= 56 {
            let byte = match reader.data.get(reader.position..) {
                Some([0xFF, 0, ..]) => {
                    reader.position += 2;
                    0xFF
                }
                Some([0xFF, ..] | []) | None => {
                    reader.padding += 8;
                    reader.bit_count += 8;
                    continue;
                }
                Some([byte, ..]) => {
                    reader.position += 1;
                    *byte
                }
            };
            reader.buffer |= u64::from(byte) << (56 - reader.bit_count);
            reader.bit_count += 8;
        }
        reader
    }

    /// Returns the next bits, at least one, without consuming them.
    #[inline]
    pub(super) fn peek(&self, count: u32) -> usize {
        (self.buffer >> (64 - count)) as usize
    }

    #[inline]
    pub(super) fn skip(&mut self, count: u32) {
        self.buffer <<= count;
        self.bit_count -= count;
    }

    /// Reads up to 32 bits.
    #[inline]
    pub(super) fn read(&mut self, count: u32) -> u32 {
        if count == 0 {
            return 0;
        }
        let bits = self.peek(count) as u32;
        self.skip(count);
        bits
    }

    /// Reads a signed number; see [`extend`].
    #[inline]
    pub(super) fn read_signed(&mut self, count: u32) -> i32 {
        extend(self.read(count), count)
    }

    /// Returns whether bits after the end of the data were consumed.
    pub(super) fn is_past_end(&self) -> bool {
        self.padding > self.bit_count
    }

    /// Discards the buffered bits and continues after the next restart marker.
    pub(super) fn skip_restart_marker(&mut self) -> Option<()> {
        (self.buffer, self.bit_count, self.padding) = (0, 0, 0);
        loop {
            self.position += memchr::memchr(0xFF, self.data.get(self.position..)?)?;
            match self.data.get(self.position + 1)? {
                0 => self.position += 2,
                0xFF => self.position += 1,
                RST0..=RST7 => {
                    self.position += 2;
                    return Some(());
                }
                _ => return None,
            }
        }
    }
}

/// Converts bits to a signed number: those that begin with 0 are negative (ITU-T T.81, figure F.12).
#[inline]
pub(super) fn extend(bits: u32, count: u32) -> i32 {
    let (bits, threshold) = (bits as i32, 1 << count >> 1);
    if bits < threshold {
        bits - (1 << count) + 1
    } else {
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_that_begin_with_zero_are_negative() {
        assert_eq!(extend(0, 0), 0);
        assert_eq!([extend(0, 1), extend(1, 1)], [-1, 1]);
        assert_eq!(
            [0b00, 0b01, 0b10, 0b11].map(|bits| extend(bits, 2)),
            [-3, -2, 2, 3]
        );
    }

    proptest! {
        #[test]
        fn all_bits_are_read_in_order_and_the_end_is_detected(
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
            let mut reader = BitReader::new(&stuffed, 0);
            let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| u32::from(byte >> (7 - at % 8) & 1));
            let mut at = 0;
            for step in steps {
                reader.refill();
                let expected = (at..at + step as usize).fold(0, |bits, at| bits << 1 | bit(at));
                prop_assert_eq!(reader.read(step), expected);
                at += step as usize;
                prop_assert_eq!(reader.is_past_end(), at > bytes.len() * 8);
            }
        }
    }
}
