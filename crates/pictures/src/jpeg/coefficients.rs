//! Stores the DCT coefficients of a component that is spread over several scans.
//!
//! Coefficients that the target size does not need are not stored, except for whether they are zero, which later scans need
//! to know.

use super::frame::{Component, Frame};
use super::inverse_dct::{BlockScale, InverseDct};

/// A block of a scan.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// The index of its component in the scan.
    pub scan_component: usize,
    /// Its place among the blocks of the component.
    pub column: usize,
    pub row: usize,
}

/// The coefficients of a component. They are addressed by block and by zigzag index.
pub(super) struct CoefficientBuffer {
    columns: usize,
    /// For each zigzag index, its place among the stored values of a block.
    ///
    /// All coefficients that are not retained share one place that is never read, which avoids a branch.
    slots: [u8; 64],
    slots_per_block: usize,
    /// The retained coefficients, one bit for each zigzag index.
    retained: u64,
    values: Vec<i16>,
    /// The coefficients of each block that are not zero, one bit for each zigzag index.
    nonzero: Vec<u64>,
}

impl CoefficientBuffer {
    pub(super) fn new(frame: &Frame, component: &Component, scale: BlockScale) -> CoefficientBuffer {
        let (columns, rows) = frame.padded_block_count(component);
        let retained = scale.retained_coefficients();
        let shared_slot = retained.count_ones() as u8;
        let mut next_slot = 0;
        let slots = std::array::from_fn(|index| {
            if retained >> index & 1 == 0 {
                return shared_slot;
            }
            next_slot += 1;
            next_slot - 1
        });
        let slots_per_block = usize::from(shared_slot) + 1;
        CoefficientBuffer {
            columns,
            slots,
            slots_per_block,
            retained,
            values: vec![0; columns * rows * slots_per_block],
            nonzero: vec![0; columns * rows],
        }
    }

    pub(super) fn block_index(&self, block: Block) -> usize {
        block.row * self.columns + block.column
    }

    /// Returns the coefficients of a block that are not zero, one bit for each zigzag index.
    #[inline]
    pub(super) fn nonzero(&self, block: usize) -> u64 {
        self.nonzero[block]
    }

    /// Returns the coefficients up to the last retained one, one bit for each zigzag index.
    #[inline]
    pub(super) fn through_last_retained(&self) -> u64 {
        u64::MAX >> self.retained.leading_zeros()
    }

    #[inline]
    fn value_mut(&mut self, block: usize, index: usize) -> &mut i16 {
        &mut self.values[block * self.slots_per_block + usize::from(self.slots[index])]
    }

    #[inline]
    pub(super) fn set(&mut self, block: usize, index: usize, value: i32) {
        self.nonzero[block] |= 1 << index;
        *self.value_mut(block, index) = value as i16;
    }

    /// Sets a lower bit of the DC coefficient.
    pub(super) fn refine_dc(&mut self, block: usize, bit: i32) {
        self.nonzero[block] |= 1;
        *self.value_mut(block, 0) |= bit as i16;
    }

    /// Moves a coefficient away from zero.
    #[inline]
    pub(super) fn increase_magnitude(&mut self, block: usize, index: usize, by: i32) {
        let value = self.value_mut(block, index);
        let sign = *value >> 15 | 1;
        *value = value.wrapping_add(sign.wrapping_mul(by as i16));
    }

    /// Adds the coefficients of a block to a transform.
    pub(super) fn load(&self, block: usize, transform: &mut InverseDct) {
        let mut remaining = self.nonzero[block] & self.retained;
        while remaining != 0 {
            let index = remaining.trailing_zeros() as usize;
            let value = self.values[block * self.slots_per_block + usize::from(self.slots[index])];
            transform.add(index, i32::from(value));
            remaining &= remaining - 1;
        }
    }
}
