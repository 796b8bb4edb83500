//! Reads the headers of frames (ITU-T T.81, B.2.2) and scans (B.2.3), as far as the cost of decoding depends on them.

/// The header of the whole picture.
#[derive(Debug)]
pub(crate) struct Frame {
    pub width: u32,
    pub height: u32,
    pub is_progressive: bool,
    pub components: Vec<Component>,
}

/// A component of the picture: brightness, or one of the colors.
#[derive(Debug)]
pub(crate) struct Component {
    id: u8,
    /// The blocks of 64 samples, including those that only pad minimum coded units.
    blocks: u64,
}

/// A pass over some components.
pub(crate) struct Scan {
    /// The blocks that the scan visits.
    pub blocks: u64,
    /// Whether the scan contains the whole picture.
    pub is_complete: bool,
}

impl Frame {
    pub(crate) fn read(segment: &[u8], is_progressive: bool) -> Option<Frame> {
        let [
            8,
            height_high,
            height_low,
            width_high,
            width_low,
            count,
            rest @ ..,
        ] = segment
        else {
            return None;
        };
        let height = u32::from(u16::from_be_bytes([*height_high, *height_low]));
        let width = u32::from(u16::from_be_bytes([*width_high, *width_low]));
        let specifications = rest.as_chunks::<3>().0.get(..usize::from(*count))?;
        let mut sampling: Vec<(u32, u32)> = specifications
            .iter()
            .map(|[_, factors, _]| (u32::from(factors >> 4), u32::from(factors & 15)))
            .collect();
        let is_valid =
            |(horizontal, vertical): &(u32, u32)| (1..=4).contains(horizontal) && (1..=4).contains(vertical);
        if !matches!(count, 1 | 3 | 4) || !sampling.iter().all(is_valid) {
            return None;
        }
        // The factors of a single component have no meaning.
        if let [single] = &mut sampling[..] {
            *single = (1, 1);
        }
        // The first component always has the most samples, in files that cameras and editors write. The decoder relies on it.
        let (max_horizontal, max_vertical) = *sampling.first()?;
        let is_subsampled =
            |(horizontal, vertical): &(u32, u32)| *horizontal <= max_horizontal && *vertical <= max_vertical;
        if !sampling.iter().all(is_subsampled) {
            return None;
        }
        let unit_count =
            u64::from(width.div_ceil(8 * max_horizontal)) * u64::from(height.div_ceil(8 * max_vertical));
        let components = specifications.iter().zip(&sampling);
        let components = components.map(|([id, ..], (horizontal, vertical))| Component {
            id: *id,
            blocks: unit_count * u64::from(horizontal * vertical),
        });
        Some(Frame {
            width,
            height,
            is_progressive,
            components: components.collect(),
        })
    }

    /// Returns the blocks of all components.
    pub(crate) fn blocks(&self) -> u64 {
        self.components.iter().map(|component| component.blocks).sum()
    }

    pub(crate) fn read_scan(&self, segment: &[u8]) -> Option<Scan> {
        let (count, rest) = segment.split_first()?;
        let (specifications, _) = rest.split_at_checked(2 * usize::from(*count))?;
        let mut blocks = 0;
        for [id, _] in specifications.as_chunks::<2>().0 {
            blocks += self
                .components
                .iter()
                .find(|component| component.id == *id)?
                .blocks;
        }
        Some(Scan {
            blocks,
            is_complete: !self.is_progressive && usize::from(*count) == self.components.len(),
        })
    }
}
