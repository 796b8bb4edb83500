//! Reads the tables that scans refer to (ITU-T T.81, B.2.4).

use super::huffman::HuffmanTable;

/// The quantization factor of each coefficient, by zigzag index.
pub(super) type QuantizationTable = [u16; 64];

/// The tables in effect at a position of the file. Later ones replace earlier ones.
#[derive(Default)]
pub(super) struct Tables {
    pub quantization: [Option<QuantizationTable>; 4],
    pub dc: [Option<HuffmanTable>; 4],
    pub ac: [Option<HuffmanTable>; 4],
    /// MCUs between restart markers, or 0 if there are none.
    pub restart_interval: u32,
}

impl Tables {
    /// Reads a DQT segment.
    pub(super) fn read_quantization_tables(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((precision_and_index, rest)) = segment.split_first() {
            let mut table = [0; 64];
            if precision_and_index >> 4 == 0 {
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
            *self.quantization.get_mut(usize::from(precision_and_index & 15))? = Some(table);
        }
        Some(())
    }

    /// Reads a DHT segment.
    pub(super) fn read_huffman_tables(&mut self, mut segment: &[u8]) -> Option<()> {
        while let Some((class_and_index, rest)) = segment.split_first() {
            let (counts, rest) = rest.split_first_chunk::<16>()?;
            let symbol_count = counts.iter().map(|count| usize::from(*count)).sum();
            let (symbols, rest) = rest.split_at_checked(symbol_count)?;
            let tables = match class_and_index >> 4 {
                0 => &mut self.dc,
                1 => &mut self.ac,
                _ => return None,
            };
            let table = HuffmanTable::new(counts, symbols)?;
            *tables.get_mut(usize::from(class_and_index & 15))? = Some(table);
            segment = rest;
        }
        Some(())
    }

    /// Reads a DRI segment.
    pub(super) fn read_restart_interval(&mut self, segment: &[u8]) -> Option<()> {
        self.restart_interval = u32::from(u16::from_be_bytes(*segment.first_chunk::<2>()?));
        Some(())
    }
}
