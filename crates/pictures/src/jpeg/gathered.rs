//! The frequencies of a component that comes in several scans. Those that the size does without are not kept; only that
//! they are there is, since later scans count them.

use super::frame::{Component, Frame};
use super::scan::Block;
use super::transform::{Scale, Transform};

pub struct Gathered {
    blocks: (usize, usize),
    /// Where each frequency is kept in its block, by its place in the order of sending. All that are not kept share one
    /// slot, which nobody reads, so that there is nothing to decide.
    slots: [u8; 64],
    kept: u64,
    /// Slots of a block.
    count: usize,
    values: Vec<i16>,
    known: Vec<u64>,
}

impl Gathered {
    pub fn new(frame: &Frame, component: &Component, scale: Scale) -> Gathered {
        let blocks = frame.blocks(component);
        let kept = scale.kept();
        let others = kept.count_ones() as u8;
        let mut next = 0;
        let slots = std::array::from_fn(|place| {
            if kept >> place & 1 == 0 {
                return others;
            }
            next += 1;
            next - 1
        });
        let count = usize::from(others) + 1;
        Gathered {
            blocks,
            slots,
            kept,
            count,
            values: vec![0; blocks.0 * blocks.1 * count],
            known: vec![0; blocks.0 * blocks.1],
        }
    }

    pub fn index(&self, block: Block) -> usize {
        block.down * self.blocks.0 + block.across
    }

    /// The frequencies of a block that are not zero, each a bit.
    #[inline]
    pub fn known(&self, block: usize) -> u64 {
        self.known[block]
    }

    /// The frequencies up to the last that is kept, each a bit.
    #[inline]
    pub fn up_to_last(&self) -> u64 {
        u64::MAX >> self.kept.leading_zeros()
    }

    #[inline]
    fn value(&mut self, block: usize, place: usize) -> &mut i16 {
        &mut self.values[block * self.count + usize::from(self.slots[place])]
    }

    #[inline]
    pub fn put(&mut self, block: usize, place: usize, value: i32) {
        self.known[block] |= 1 << place;
        *self.value(block, place) = value as i16;
    }

    pub fn add_to_mean(&mut self, block: usize, bit: i32) {
        self.known[block] |= 1;
        *self.value(block, 0) |= bit as i16;
    }

    /// Moves a value away from zero.
    #[inline]
    pub fn enlarge(&mut self, block: usize, place: usize, by: i32) {
        let value = self.value(block, place);
        let sign = *value >> 15 | 1;
        *value = value.wrapping_add(sign.wrapping_mul(by as i16));
    }

    /// Gives what there is of a block to the transform.
    pub fn give(&self, block: usize, transform: &mut Transform) {
        let mut places = self.known[block] & self.kept;
        while places != 0 {
            let place = places.trailing_zeros() as usize;
            let value = self.values[block * self.count + usize::from(self.slots[place])];
            transform.add(place, i32::from(value));
            places &= places - 1;
        }
    }
}
