//! Decodes Huffman codes (ITU-T T.81, annexes C and F.2.2).

use super::bit_reader::{BitReader, extend};

/// Codes up to this length are decoded by one table lookup.
const LOOKUP_BITS: u32 = 10;
const LOOKUP_SIZE: usize = 1 << LOOKUP_BITS;

pub(super) struct HuffmanTable {
    /// For the next bits, the symbol in the upper byte and the length of its code in the lower; 0 if the code is longer.
    lookup: Box<[u16; LOOKUP_SIZE]>,
    /// For the next bits, the coefficient that they hold in full.
    coefficient_lookup: Box<[CodedCoefficient; LOOKUP_SIZE]>,
    /// For each length, an upper bound of its codes, left-aligned in 16 bits, and the offset from a code to its symbol.
    lengths: [(u32, u32); 17],
    symbols: Vec<u8>,
}

/// A coefficient, the number of zero coefficients before it, and the number of bits that both take.
///
/// The number of bits is 0 if the lookup did not find a whole coefficient.
#[derive(Clone, Copy, Default)]
pub(super) struct CodedCoefficient {
    pub value: i16,
    pub zero_run: u8,
    pub bits: u8,
}

impl HuffmanTable {
    /// Builds a table from the number of codes of each length and the symbols that they stand for.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<HuffmanTable> {
        let mut table = HuffmanTable {
            lookup: Box::new([0; LOOKUP_SIZE]),
            coefficient_lookup: Box::new([CodedCoefficient::default(); LOOKUP_SIZE]),
            lengths: [(0, 0); 17],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut first_symbol) = (0_u32, 0_usize);
        for (length, count) in (1_u32..).zip(counts) {
            let end = code + u32::from(*count);
            if end > 1 << length {
                return None;
            }
            let symbols = symbols.get(first_symbol..first_symbol + usize::from(*count))?;
            table.lengths[length as usize] = (end << (16 - length), (first_symbol as u32).wrapping_sub(code));
            if length <= LOOKUP_BITS {
                for (code, symbol) in (code..).zip(symbols) {
                    let first = (code << (LOOKUP_BITS - length)) as usize;
                    let entry = u16::from(*symbol) << 8 | length as u16;
                    table.lookup[first..first + (1 << (LOOKUP_BITS - length))].fill(entry);
                }
            }
            first_symbol += symbols.len();
            code = end << 1;
        }
        table.fill_coefficient_lookup();
        Some(table)
    }

    fn fill_coefficient_lookup(&mut self) {
        let entries = self.coefficient_lookup.iter_mut().zip(self.lookup.iter());
        for (bits, (coefficient, entry)) in entries.enumerate() {
            let [length, symbol] = entry.to_le_bytes().map(u32::from);
            let (zero_run, size) = (symbol >> 4, symbol & 15);
            if length == 0 || size == 0 || length + size > LOOKUP_BITS {
                continue;
            }
            let magnitude = (bits >> (LOOKUP_BITS - length - size)) as u32 & ((1 << size) - 1);
            *coefficient = CodedCoefficient {
                value: extend(magnitude, size) as i16,
                zero_run: zero_run as u8,
                bits: (length + size) as u8,
            };
        }
    }

    /// Reads the next symbol. The caller refills the reader before.
    #[inline]
    pub(super) fn read_symbol(&self, reader: &mut BitReader) -> Option<u32> {
        let [mut length, mut symbol] = self.lookup[reader.peek(LOOKUP_BITS)].to_le_bytes().map(u32::from);
        if length == 0 {
            (length, symbol) = self.find_long_code(reader.peek(16) as u32)?;
        }
        reader.skip(length);
        Some(symbol)
    }

    /// Returns the length and the symbol of the code at the beginning of 16 bits.
    #[cold]
    fn find_long_code(&self, bits: u32) -> Option<(u32, u32)> {
        let is_length = |length: &u32| bits < self.lengths[*length as usize].0;
        let length = (LOOKUP_BITS + 1..=16).find(is_length)?;
        let (_, offset) = self.lengths[length as usize];
        let index = (bits >> (16 - length)).wrapping_add(offset) as usize;
        Some((length, u32::from(*self.symbols.get(index)?)))
    }

    /// Returns the coefficient at the reader's position without consuming it.
    #[inline]
    pub(super) fn peek_coefficient(&self, reader: &BitReader) -> CodedCoefficient {
        self.coefficient_lookup[reader.peek(LOOKUP_BITS)]
    }
}
