//! Decodes the blocks of a scan (ITU-T T.81, annexes F.2 and G.2).

use super::bit_reader::BitReader;
use super::coefficients::{Block, CoefficientBuffer};
use super::frame::{Frame, Scan, ScanComponent};
use super::huffman::HuffmanTable;
use super::tables::Tables;

/// Visits the blocks of a scan.
pub(super) struct ScanDecoder<'a> {
    frame: &'a Frame,
    scan: &'a Scan,
    tables: Vec<ComponentTables<'a>>,
    reader: BitReader<'a>,
    /// MCUs between restart markers, or 0 if there are none, and MCUs until the next marker.
    restart_interval: u32,
    until_restart: u32,
    state: EntropyState,
}

#[derive(Clone, Copy)]
struct ComponentTables<'a> {
    dc: Option<&'a HuffmanTable>,
    ac: Option<&'a HuffmanTable>,
}

/// The state that is carried from block to block and reset at restart markers.
#[derive(Default)]
struct EntropyState {
    /// The last DC coefficient of each component of the scan.
    dc_predictions: [i32; 4],
    /// The number of upcoming blocks without new coefficients.
    end_of_band_run: u32,
}

impl<'a> ScanDecoder<'a> {
    pub(super) fn new(
        frame: &'a Frame,
        scan: &'a Scan,
        tables: &'a Tables,
        bytes: &'a [u8],
        position: usize,
    ) -> ScanDecoder<'a> {
        let component_tables = |component: &ScanComponent| ComponentTables {
            dc: tables.dc.get(component.dc_table).and_then(Option::as_ref),
            ac: tables.ac.get(component.ac_table).and_then(Option::as_ref),
        };
        ScanDecoder {
            frame,
            scan,
            tables: scan.components.iter().map(component_tables).collect(),
            reader: BitReader::new(bytes, position),
            restart_interval: tables.restart_interval,
            until_restart: tables.restart_interval,
            state: EntropyState::default(),
        }
    }

    /// Returns the position from which to search for the marker after the scan.
    pub(super) fn position(&self) -> usize {
        self.reader.position()
    }

    /// Returns the number of MCU rows. In a scan of a single component each block is an MCU.
    pub(super) fn mcu_rows(&self) -> usize {
        match &self.scan.components[..] {
            [single] => self.frame.components[single.index].block_count().1 as usize,
            _ => self.frame.mcu_count.1 as usize,
        }
    }

    /// Visits the blocks of the next MCU row.
    pub(super) fn decode_mcu_row(
        &mut self,
        row: usize,
        mut decode: impl FnMut(&mut BlockDecoder, Block) -> Option<()>,
    ) -> Option<()> {
        if let [single] = self.scan.components[..] {
            let columns = self.frame.components[single.index].block_count().0 as usize;
            for column in 0..columns {
                self.begin_mcu()?;
                let block = Block {
                    scan_component: 0,
                    column,
                    row,
                };
                decode(&mut self.block_decoder(0), block)?;
            }
        } else {
            for mcu in 0..self.frame.mcu_count.0 as usize {
                self.begin_mcu()?;
                self.decode_mcu(mcu, row, &mut decode)?;
            }
        }
        (!self.reader.is_past_end()).then_some(())
    }

    fn decode_mcu(
        &mut self,
        mcu_column: usize,
        mcu_row: usize,
        decode: &mut impl FnMut(&mut BlockDecoder, Block) -> Option<()>,
    ) -> Option<()> {
        for scan_component in 0..self.scan.components.len() {
            let component = &self.frame.components[self.scan.components[scan_component].index];
            let columns = component.horizontal_sampling as usize;
            let rows = component.vertical_sampling as usize;
            for row in mcu_row * rows..(mcu_row + 1) * rows {
                for column in mcu_column * columns..(mcu_column + 1) * columns {
                    let block = Block {
                        scan_component,
                        column,
                        row,
                    };
                    decode(&mut self.block_decoder(scan_component), block)?;
                }
            }
        }
        Some(())
    }

    fn begin_mcu(&mut self) -> Option<()> {
        if self.restart_interval == 0 {
            return Some(());
        }
        if self.until_restart == 0 {
            self.reader.skip_restart_marker()?;
            self.state = EntropyState::default();
            self.until_restart = self.restart_interval;
        }
        self.until_restart -= 1;
        Some(())
    }

    fn block_decoder(&mut self, scan_component: usize) -> BlockDecoder<'_, 'a> {
        BlockDecoder {
            reader: &mut self.reader,
            tables: self.tables[scan_component],
            dc_prediction: &mut self.state.dc_predictions[scan_component],
            end_of_band_run: &mut self.state.end_of_band_run,
            scan: self.scan,
        }
    }
}

/// Decodes the block at the reader's position.
pub(super) struct BlockDecoder<'r, 'a> {
    reader: &'r mut BitReader<'a>,
    tables: ComponentTables<'a>,
    dc_prediction: &'r mut i32,
    end_of_band_run: &'r mut u32,
    scan: &'a Scan,
}

impl BlockDecoder<'_, '_> {
    /// Decodes a whole block and passes on the zigzag index and the value of each coefficient up to index `last`.
    #[inline]
    pub(super) fn decode_sequential(&mut self, last: usize, mut set: impl FnMut(usize, i32)) -> Option<()> {
        set(0, self.decode_dc()?);
        let table = self.tables.ac?;
        let mut reader = *self.reader;
        let mut index = 1;
        while index < 64 {
            reader.refill();
            let coefficient = table.peek_coefficient(&reader);
            if coefficient.bits > 0 {
                index += usize::from(coefficient.zero_run);
                reader.skip(u32::from(coefficient.bits));
                if index <= last {
                    set(index, i32::from(coefficient.value));
                }
                index += 1;
                continue;
            }
            let symbol = table.read_symbol(&mut reader)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => index += 16,
                (_, 0) => break,
                (zero_run, size) => {
                    index += zero_run as usize;
                    let value = reader.read_signed(size);
                    if index <= last {
                        set(index, value);
                    }
                    index += 1;
                }
            }
        }
        *self.reader = reader;
        (index <= 64).then_some(())
    }

    #[inline]
    fn decode_dc(&mut self) -> Option<i32> {
        self.reader.refill();
        let size = self.tables.dc?.read_symbol(self.reader)?;
        if size > 15 {
            return None;
        }
        *self.dc_prediction = self.dc_prediction.wrapping_add(self.reader.read_signed(size));
        Some(*self.dc_prediction)
    }

    /// Decodes the contribution of a progressive scan to a block.
    #[inline]
    pub(super) fn decode_progressive(
        &mut self,
        coefficients: &mut CoefficientBuffer,
        block: usize,
    ) -> Option<()> {
        match (self.scan.spectral_start, self.scan.is_refinement) {
            (0, false) => {
                let value = self.decode_dc()? << self.scan.low_bits;
                coefficients.set(block, 0, value);
            }
            (0, true) => {
                self.reader.refill();
                if self.reader.read(1) == 1 {
                    coefficients.refine_dc(block, 1 << self.scan.low_bits);
                }
            }
            (_, false) => self.decode_ac_first(coefficients, block)?,
            (_, true) => self.decode_ac_refinement(coefficients, block)?,
        }
        Some(())
    }

    fn decode_ac_first(&mut self, coefficients: &mut CoefficientBuffer, block: usize) -> Option<()> {
        if *self.end_of_band_run > 0 {
            *self.end_of_band_run -= 1;
            return Some(());
        }
        let table = self.tables.ac?;
        let low_bits = self.scan.low_bits;
        let mut reader = *self.reader;
        let mut index = self.scan.spectral_start;
        while index <= self.scan.spectral_end {
            reader.refill();
            let coefficient = table.peek_coefficient(&reader);
            if coefficient.bits > 0 {
                reader.skip(u32::from(coefficient.bits));
                index += u32::from(coefficient.zero_run);
                if index <= self.scan.spectral_end {
                    coefficients.set(block, index as usize, i32::from(coefficient.value) << low_bits);
                }
                index += 1;
                continue;
            }
            let symbol = table.read_symbol(&mut reader)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => index += 16,
                (run_bits, 0) => {
                    *self.end_of_band_run = (1 << run_bits) - 1 + reader.read(run_bits);
                    break;
                }
                (zero_run, size) => {
                    index += zero_run;
                    let value = reader.read_signed(size);
                    if index <= self.scan.spectral_end {
                        coefficients.set(block, index as usize, value << low_bits);
                    }
                    index += 1;
                }
            }
        }
        *self.reader = reader;
        (index <= 64).then_some(())
    }

    /// Decodes a refinement (ITU-T T.81, G.1.2.3).
    ///
    /// A correction bit for each nonzero coefficient is interleaved with the codes of the new ones.
    fn decode_ac_refinement(&mut self, coefficients: &mut CoefficientBuffer, block: usize) -> Option<()> {
        let bit = 1 << self.scan.low_bits;
        let nonzero = coefficients.nonzero(block);
        // The rest of the band, one bit for each zigzag index.
        let mut remaining =
            (u64::MAX >> (63 - self.scan.spectral_end)) & (u64::MAX << self.scan.spectral_start);
        let mut reader = *self.reader;
        if *self.end_of_band_run == 0 {
            let table = self.tables.ac?;
            while remaining != 0 {
                reader.refill();
                let symbol = table.read_symbol(&mut reader)?;
                let (zero_run, size) = (symbol >> 4, symbol & 15);
                if size == 0 && zero_run < 15 {
                    *self.end_of_band_run = (1 << zero_run) + reader.read(zero_run);
                    break;
                }
                let is_positive = size > 0 && reader.read(1) == 1;
                let mut zeros = remaining & !nonzero;
                for _ in 0..zero_run {
                    zeros &= zeros.wrapping_sub(1);
                }
                let index = zeros.trailing_zeros();
                let after = u64::MAX.checked_shl(index + 1).unwrap_or(0);
                refine_nonzero(
                    &mut reader,
                    coefficients,
                    block,
                    remaining & nonzero & !after,
                    bit,
                );
                remaining &= after;
                match (size, index) {
                    (0, _) => {}
                    (1, ..64) => {
                        coefficients.set(block, index as usize, if is_positive { bit } else { -bit });
                    }
                    _ => return None,
                }
            }
        }
        if *self.end_of_band_run > 0 {
            refine_nonzero(&mut reader, coefficients, block, remaining & nonzero, bit);
            *self.end_of_band_run -= 1;
        }
        *self.reader = reader;
        Some(())
    }
}

/// Reads a correction bit for each of the given coefficients; those after the last retained one are skipped.
#[inline]
fn refine_nonzero(
    reader: &mut BitReader,
    coefficients: &mut CoefficientBuffer,
    block: usize,
    indices: u64,
    bit: i32,
) {
    let mut retained = indices & coefficients.through_last_retained();
    let mut skipped = indices ^ retained;
    while retained != 0 {
        reader.refill();
        let index = retained.trailing_zeros() as usize;
        coefficients.increase_magnitude(block, index, reader.read(1) as i32 * bit);
        retained &= retained - 1;
    }
    while skipped != 0 {
        reader.refill();
        reader.skip((skipped & 0xFFFF_FFFF).count_ones());
        skipped >>= 32;
    }
}
