//! The tables that stand before scans (ITU-T T.81, B.2.4).

use super::huffman::Huffman;

/// The tables as they are at a place of the file. Later ones take the place of earlier ones.
#[derive(Default)]
pub struct Tables {
    /// Factors of the frequencies, in the order of sending.
    pub factors: [Option<[u16; 64]>; 4],
    /// Codes of the means of blocks, and of the other frequencies.
    pub means: [Option<Huffman>; 4],
    pub codes: [Option<Huffman>; 4],
    /// Groups after which decoding begins anew, or 0.
    pub restart: u32,
}

impl Tables {
    /// Takes the factors of a DQT segment.
    pub fn take_factors(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((kind, rest)) = segment.split_first() {
            let mut table = [0; 64];
            if kind >> 4 == 0 {
                let (values, rest) = rest.split_first_chunk::<64>()?;
                table = values.map(u16::from);
                segment = rest;
            } else {
                let (values, rest) = rest.split_first_chunk::<128>()?;
                for (factor, value) in table.iter_mut().zip(values.as_chunks::<2>().0) {
                    *factor = u16::from_be_bytes(*value);
                }
                segment = rest;
            }
            *self.factors.get_mut(usize::from(kind & 15))? = Some(table);
        }
        Some(())
    }

    /// Takes the codes of a DHT segment.
    pub fn take_codes(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((kind, rest)) = segment.split_first() {
            let (counts, rest) = rest.split_first_chunk::<16>()?;
            let count = counts.iter().map(|count| usize::from(*count)).sum();
            let (symbols, rest) = rest.split_at_checked(count)?;
            let tables = match kind >> 4 {
                0 => &mut self.means,
                1 => &mut self.codes,
                _ => return None,
            };
            *tables.get_mut(usize::from(kind & 15))? = Some(Huffman::new(counts, symbols)?);
            segment = rest;
        }
        Some(())
    }

    /// Takes the interval of a DRI segment.
    pub fn take_restart(&mut self, segment: &[u8]) -> Option<()> {
        self.restart = u32::from(u16::from_be_bytes(*segment.first_chunk::<2>()?));
        Some(())
    }
}
