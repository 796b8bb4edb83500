//! What a frame of a JPEG holds (ITU-T T.81, B.2.2), and the scans that bring it (B.2.3).

use super::transform::Scale;

/// The picture as a whole.
#[derive(Debug)]
pub struct Frame {
    pub width: u32,
    pub height: u32,
    pub is_progressive: bool,
    pub components: Vec<Component>,
    /// Groups of blocks across and down. A group has blocks of all components.
    pub groups: (u32, u32),
    /// The most blocks across and down that a component has in a group.
    most: (u32, u32),
}

/// One color of the picture.
#[derive(Debug)]
pub struct Component {
    pub id: u8,
    /// Blocks of a group across and down.
    pub across: u32,
    pub down: u32,
    /// The table of its factors.
    pub table: usize,
    /// Its samples across and down.
    pub size: (u32, u32),
}

/// One pass over some components.
pub struct Scan {
    pub parts: Vec<Part>,
    /// The frequencies from the first to the last, in the order of sending.
    pub first: u32,
    pub last: u32,
    /// Was there a scan before that this one makes finer?
    pub is_refining: bool,
    /// The bits below that are still to come.
    pub low: u32,
}

/// A component of a scan, and the tables of its codes.
#[derive(Clone, Copy)]
pub struct Part {
    pub component: usize,
    pub mean_table: usize,
    pub table: usize,
}

impl Frame {
    pub fn read(segment: &[u8], is_progressive: bool) -> Option<Frame> {
        let [8, high, low, left, right, count, rest @ ..] = segment else {
            return None;
        };
        let height = u32::from(u16::from_be_bytes([*high, *low]));
        let width = u32::from(u16::from_be_bytes([*left, *right]));
        let listed = rest.as_chunks::<3>().0.get(..usize::from(*count))?;
        let mut factors: Vec<(u32, u32)> = listed
            .iter()
            .map(|[_, factor, _]| (u32::from(factor >> 4), u32::from(factor & 15)))
            .collect();
        let is_known = |(across, down): &(u32, u32)| (1..=4).contains(across) && (1..=4).contains(down);
        if !matches!(count, 1 | 3 | 4) || !factors.iter().all(is_known) {
            return None;
        }
        if let [alone] = &mut factors[..] {
            *alone = (1, 1);
        }
        let across = factors.iter().map(|factor| factor.0).max()?;
        let down = factors.iter().map(|factor| factor.1).max()?;
        let components = listed
            .iter()
            .zip(&factors)
            .map(|([id, _, table], factor)| Component {
                id: *id,
                across: factor.0,
                down: factor.1,
                table: usize::from(*table),
                size: (
                    (width * factor.0).div_ceil(across),
                    (height * factor.1).div_ceil(down),
                ),
            });
        Some(Frame {
            width,
            height,
            is_progressive,
            components: components.collect(),
            groups: (width.div_ceil(8 * across), height.div_ceil(8 * down)),
            most: (across, down),
        })
    }

    /// Blocks of a component across and down, with those that only fill up groups.
    pub fn blocks(&self, component: &Component) -> (usize, usize) {
        (
            (self.groups.0 * component.across) as usize,
            (self.groups.1 * component.down) as usize,
        )
    }

    /// How many samples of a component, in 256ths, the picture is wide and high; its samples are whole ones, and may be more.
    pub fn extent(&self, component: &Component) -> (u32, u32) {
        (
            self.width * 256 * component.across / self.most.0,
            self.height * 256 * component.down / self.most.1,
        )
    }

    /// Blocks that a scan walks over.
    pub fn blocks_of(&self, scan: &Scan) -> u64 {
        let blocks = scan
            .parts
            .iter()
            .map(|part| self.blocks(&self.components[part.component]));
        blocks.map(|(across, down)| across as u64 * down as u64).sum()
    }

    /// Bytes that it takes to gather all that matters for a size.
    pub fn gathered(&self, to: (u32, u32)) -> u64 {
        let bytes = self.components.iter().map(|component| {
            let (across, down) = self.blocks(component);
            let kept = u64::from(Scale::of(component.size, to).kept().count_ones());
            across as u64 * down as u64 * (8 + 2 * (kept + 1))
        });
        bytes.sum()
    }
}

impl Component {
    /// Blocks across and down that hold samples.
    pub fn blocks(&self) -> (u32, u32) {
        (self.size.0.div_ceil(8), self.size.1.div_ceil(8))
    }
}

impl Scan {
    pub fn read(segment: &[u8], frame: &Frame) -> Option<Scan> {
        let (count, rest) = segment.split_first()?;
        let (listed, rest) = rest.split_at_checked(2 * usize::from(*count))?;
        let mut parts: Vec<Part> = Vec::new();
        for [id, tables] in listed.as_chunks::<2>().0 {
            let component = frame
                .components
                .iter()
                .position(|component| component.id == *id)?;
            if parts.iter().any(|part| part.component == component) {
                return None;
            }
            parts.push(Part {
                component,
                mean_table: usize::from(tables >> 4),
                table: usize::from(tables & 15),
            });
        }
        if parts.is_empty() {
            return None;
        }
        if !frame.is_progressive {
            return Some(Scan {
                parts,
                first: 0,
                last: 63,
                is_refining: false,
                low: 0,
            });
        }
        let [first, last, bits] = *rest.first_chunk::<3>()?;
        let (high, low) = (u32::from(bits >> 4), u32::from(bits & 15));
        let is_band = if first == 0 { last == 0 } else { parts.len() == 1 };
        let is_sound = is_band && first <= last && last < 64 && low < 14 && (high == 0 || high == low + 1);
        is_sound.then_some(Scan {
            parts,
            first: u32::from(first),
            last: u32::from(last),
            is_refining: high > 0,
            low,
        })
    }
}
