//! Walking over the blocks of a scan, and what stands in each (ITU-T T.81, annexes F.2 and G.2).

use super::bits::Bits;
use super::frame::{Frame, Part, Scan};
use super::gathered::Gathered;
use super::huffman::Huffman;
use super::tables::Tables;

/// The way through a scan.
pub struct Walk<'a> {
    frame: &'a Frame,
    scan: &'a Scan,
    codes: Vec<Codes<'a>>,
    bits: Bits<'a>,
    restart: u32,
    left: u32,
    state: State,
}

#[derive(Clone, Copy)]
struct Codes<'a> {
    means: Option<&'a Huffman>,
    others: Option<&'a Huffman>,
}

/// What blocks leave to those behind them.
#[derive(Default)]
struct State {
    /// The last mean of each part.
    means: [i32; 4],
    /// Blocks that bring nothing.
    empty: u32,
}

/// A block of a scan: which part it belongs to and where it stands among the blocks of its component.
#[derive(Clone, Copy)]
pub struct Block {
    pub part: usize,
    pub across: usize,
    pub down: usize,
}

impl<'a> Walk<'a> {
    pub fn new(frame: &'a Frame, scan: &'a Scan, tables: &'a Tables, bytes: &'a [u8], at: usize) -> Walk<'a> {
        let codes = |part: &Part| Codes {
            means: tables.means.get(part.mean_table).and_then(Option::as_ref),
            others: tables.codes.get(part.table).and_then(Option::as_ref),
        };
        Walk {
            frame,
            scan,
            codes: scan.parts.iter().map(codes).collect(),
            bits: Bits::new(bytes, at),
            restart: tables.restart,
            left: tables.restart,
            state: State::default(),
        }
    }

    /// Where the marker behind the scan is to be looked for.
    pub fn at(&self) -> usize {
        self.bits.at()
    }

    /// Rows of groups; a part that is alone comes in its own blocks.
    pub fn rows(&self) -> usize {
        match &self.scan.parts[..] {
            [alone] => self.frame.components[alone.component].blocks().1 as usize,
            _ => self.frame.groups.1 as usize,
        }
    }

    /// Decodes the next row, block by block.
    pub fn row(
        &mut self,
        row: usize,
        mut decode: impl FnMut(&mut Reading, Block) -> Option<()>,
    ) -> Option<()> {
        if let [alone] = self.scan.parts[..] {
            let blocks = self.frame.components[alone.component].blocks().0 as usize;
            for across in 0..blocks {
                self.begin_group()?;
                let block = Block {
                    part: 0,
                    across,
                    down: row,
                };
                decode(&mut self.reading(0), block)?;
            }
        } else {
            for group in 0..self.frame.groups.0 as usize {
                self.begin_group()?;
                self.group(group, row, &mut decode)?;
            }
        }
        (!self.bits.is_overdrawn()).then_some(())
    }

    fn group(
        &mut self,
        group: usize,
        row: usize,
        decode: &mut impl FnMut(&mut Reading, Block) -> Option<()>,
    ) -> Option<()> {
        for part in 0..self.scan.parts.len() {
            let component = &self.frame.components[self.scan.parts[part].component];
            let (blocks, rows) = (component.across as usize, component.down as usize);
            for down in row * rows..(row + 1) * rows {
                for across in group * blocks..(group + 1) * blocks {
                    let block = Block { part, across, down };
                    decode(&mut self.reading(part), block)?;
                }
            }
        }
        Some(())
    }

    fn begin_group(&mut self) -> Option<()> {
        if self.restart == 0 {
            return Some(());
        }
        if self.left == 0 {
            self.bits.restart()?;
            self.state = State::default();
            self.left = self.restart;
        }
        self.left -= 1;
        Some(())
    }

    fn reading(&mut self, part: usize) -> Reading<'_, 'a> {
        Reading {
            bits: &mut self.bits,
            codes: self.codes[part],
            mean: &mut self.state.means[part],
            empty: &mut self.state.empty,
            scan: self.scan,
        }
    }
}

/// The bits of a scan at the beginning of a block.
pub struct Reading<'r, 'a> {
    bits: &'r mut Bits<'a>,
    codes: Codes<'a>,
    mean: &'r mut i32,
    empty: &'r mut u32,
    scan: &'a Scan,
}

impl Reading<'_, '_> {
    /// The frequencies of a block up to one, each with its place in the order of sending; the others are passed over.
    #[inline]
    pub fn all(&mut self, last: usize, mut put: impl FnMut(usize, i32)) -> Option<()> {
        put(0, self.next_mean()?);
        let codes = self.codes.others?;
        let mut bits = *self.bits;
        let mut place = 1;
        while place < 64 {
            bits.fill();
            let seen = codes.glance(&bits);
            if seen.bits > 0 {
                place += usize::from(seen.zeros);
                bits.skip(u32::from(seen.bits));
                if place <= last {
                    put(place, i32::from(seen.value));
                }
                place += 1;
                continue;
            }
            let symbol = codes.symbol(&mut bits)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => place += 16,
                (_, 0) => break,
                (zeros, size) => {
                    place += zeros as usize;
                    let value = bits.signed(size);
                    if place <= last {
                        put(place, value);
                    }
                    place += 1;
                }
            }
        }
        *self.bits = bits;
        (place <= 64).then_some(())
    }

    #[inline]
    fn next_mean(&mut self) -> Option<i32> {
        self.bits.fill();
        let size = self.codes.means?.symbol(self.bits)?;
        if size > 15 {
            return None;
        }
        *self.mean = self.mean.wrapping_add(self.bits.signed(size));
        Some(*self.mean)
    }

    /// What a scan of a progressive picture adds to a block.
    #[inline]
    pub fn some(&mut self, gathered: &mut Gathered, block: usize) -> Option<()> {
        match (self.scan.first, self.scan.is_refining) {
            (0, false) => {
                let mean = self.next_mean()? << self.scan.low;
                gathered.put(block, 0, mean);
            }
            (0, true) => {
                self.bits.fill();
                if self.bits.take(1) == 1 {
                    gathered.add_to_mean(block, 1 << self.scan.low);
                }
            }
            (_, false) => self.first_band(gathered, block)?,
            (_, true) => self.finer_band(gathered, block)?,
        }
        Some(())
    }

    fn first_band(&mut self, gathered: &mut Gathered, block: usize) -> Option<()> {
        if *self.empty > 0 {
            *self.empty -= 1;
            return Some(());
        }
        let codes = self.codes.others?;
        let mut bits = *self.bits;
        let mut place = self.scan.first;
        while place <= self.scan.last {
            bits.fill();
            let seen = codes.glance(&bits);
            if seen.bits > 0 {
                bits.skip(u32::from(seen.bits));
                place += u32::from(seen.zeros);
                if place <= self.scan.last {
                    gathered.put(block, place as usize, i32::from(seen.value) << self.scan.low);
                }
                place += 1;
                continue;
            }
            let symbol = codes.symbol(&mut bits)?;
            match (symbol >> 4, symbol & 15) {
                (15, 0) => place += 16,
                (run, 0) => {
                    *self.empty = (1 << run) - 1 + bits.take(run);
                    break;
                }
                (zeros, size) => {
                    place += zeros;
                    let value = bits.signed(size);
                    if place <= self.scan.last {
                        gathered.put(block, place as usize, value << self.scan.low);
                    }
                    place += 1;
                }
            }
        }
        *self.bits = bits;
        (place <= 64).then_some(())
    }

    /// ITU-T T.81, G.1.2.3: frequencies that are known get a bit each, in passing, on the way to new ones.
    fn finer_band(&mut self, gathered: &mut Gathered, block: usize) -> Option<()> {
        let bit = 1 << self.scan.low;
        let known = gathered.known(block);
        // Those from the place on that belong to the band.
        let mut ahead = (u64::MAX >> (63 - self.scan.last)) & (u64::MAX << self.scan.first);
        let mut bits = *self.bits;
        if *self.empty == 0 {
            let codes = self.codes.others?;
            while ahead != 0 {
                bits.fill();
                let symbol = codes.symbol(&mut bits)?;
                let (zeros, size) = (symbol >> 4, symbol & 15);
                if size == 0 && zeros < 15 {
                    *self.empty = (1 << zeros) + bits.take(zeros);
                    break;
                }
                let is_positive = size > 0 && bits.take(1) == 1;
                let mut free = ahead & !known;
                for _ in 0..zeros {
                    free &= free.wrapping_sub(1);
                }
                let place = free.trailing_zeros();
                let behind = u64::MAX.checked_shl(place + 1).unwrap_or(0);
                refine(&mut bits, gathered, block, ahead & known & !behind, bit);
                ahead &= behind;
                match (size, place) {
                    (0, _) => {}
                    (1, ..64) => gathered.put(block, place as usize, if is_positive { bit } else { -bit }),
                    _ => return None,
                }
            }
        }
        if *self.empty > 0 {
            refine(&mut bits, gathered, block, ahead & known, bit);
            *self.empty -= 1;
        }
        *self.bits = bits;
        Some(())
    }
}

/// Takes a bit for each of the places. Behind the last that is kept they are passed over.
#[inline]
fn refine(bits: &mut Bits, gathered: &mut Gathered, block: usize, places: u64, bit: i32) {
    let mut wanted = places & gathered.up_to_last();
    let mut others = places ^ wanted;
    while wanted != 0 {
        bits.fill();
        let place = wanted.trailing_zeros() as usize;
        gathered.enlarge(block, place, bits.take(1) as i32 * bit);
        wanted &= wanted - 1;
    }
    while others != 0 {
        bits.fill();
        bits.skip((others & 0xFFFF_FFFF).count_ones());
        others >>= 32;
    }
}
