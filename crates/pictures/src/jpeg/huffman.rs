//! Huffman codes (ITU-T T.81, annexes C and F.2.2).

use super::bits::{Bits, signed};

/// Codes up to this length are found at one glance.
const GLANCE: u32 = 10;

pub struct Huffman {
    /// For the bits that are seen at a glance: the symbol in the upper byte, the length of its code in the lower.
    short: Box<[u16; 1 << GLANCE]>,
    /// The same, for a coefficient that is there as a whole.
    whole: Box<[Coefficient; 1 << GLANCE]>,
    /// For each length: what the next 16 bits are below, and what leads from the code to its symbol.
    longer: [(u32, u32); 17],
    symbols: Vec<u8>,
}

/// A coefficient, the zeros before it, and how many bits both take; no bits where it is not whole.
#[derive(Clone, Copy, Default)]
pub struct Coefficient {
    pub value: i16,
    pub zeros: u8,
    pub bits: u8,
}

impl Huffman {
    /// The codes of a DHT segment: how many there are of each length, and what they stand for.
    pub fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Huffman> {
        let mut made = Huffman {
            short: Box::new([0; 1 << GLANCE]),
            whole: Box::new([Coefficient::default(); 1 << GLANCE]),
            longer: [(0, 0); 17],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut first) = (0_u32, 0_usize);
        for (length, count) in (1_u32..).zip(counts) {
            let end = code + u32::from(*count);
            if end > 1 << length {
                return None;
            }
            let named = symbols.get(first..first + usize::from(*count))?;
            made.longer[length as usize] = (end << (16 - length), (first as u32).wrapping_sub(code));
            if length <= GLANCE {
                for (code, symbol) in (code..).zip(named) {
                    let seen = (code << (GLANCE - length)) as usize;
                    let entry = u16::from(*symbol) << 8 | length as u16;
                    made.short[seen..seen + (1 << (GLANCE - length))].fill(entry);
                }
            }
            first += named.len();
            code = end << 1;
        }
        made.see_coefficients();
        Some(made)
    }

    fn see_coefficients(&mut self) {
        for (seen, (whole, short)) in self.whole.iter_mut().zip(self.short.iter()).enumerate() {
            let [length, symbol] = short.to_le_bytes().map(u32::from);
            let (zeros, size) = (symbol >> 4, symbol & 15);
            if length == 0 || size == 0 || length + size > GLANCE {
                continue;
            }
            let number = (seen >> (GLANCE - length - size)) as u32 & ((1 << size) - 1);
            *whole = Coefficient {
                value: signed(number, size) as i16,
                zeros: zeros as u8,
                bits: (length + size) as u8,
            };
        }
    }

    /// The next symbol. The bits are filled up before.
    #[inline]
    pub fn symbol(&self, bits: &mut Bits) -> Option<u32> {
        let [mut length, mut symbol] = self.short[bits.peek(GLANCE)].to_le_bytes().map(u32::from);
        if length == 0 {
            (length, symbol) = self.long_symbol(bits.peek(16) as u32)?;
        }
        bits.skip(length);
        Some(symbol)
    }

    /// The length of a code and its symbol.
    #[cold]
    fn long_symbol(&self, seen: u32) -> Option<(u32, u32)> {
        let is_code = |length: &u32| seen < self.longer[*length as usize].0;
        let length = (GLANCE + 1..=16).find(is_code)?;
        let (_, offset) = self.longer[length as usize];
        let place = (seen >> (16 - length)).wrapping_add(offset) as usize;
        Some((length, u32::from(*self.symbols.get(place)?)))
    }

    /// What a glance at the next bits says of a coefficient.
    #[inline]
    pub fn glance(&self, bits: &Bits) -> Coefficient {
        self.whole[bits.peek(GLANCE)]
    }
}
