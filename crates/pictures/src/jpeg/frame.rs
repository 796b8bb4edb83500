//! Reads the headers of frames (ITU-T T.81, B.2.2) and scans (B.2.3).

use super::inverse_dct::BlockScale;

/// The header of the whole picture.
#[derive(Debug)]
pub(crate) struct Frame {
    pub width: u32,
    pub height: u32,
    pub is_progressive: bool,
    pub components: Vec<Component>,
    /// Minimum coded units (MCUs) across and down. An MCU has blocks of all components.
    pub mcu_count: (u32, u32),
    max_sampling: (u32, u32),
}

/// A component of the picture: brightness, or one of the colors.
#[derive(Debug)]
pub(crate) struct Component {
    pub id: u8,
    /// Blocks of an MCU across and down.
    pub horizontal_sampling: u32,
    pub vertical_sampling: u32,
    pub quantization_table: usize,
    /// Samples across and down.
    pub size: (u32, u32),
}

/// The header of a pass over some components.
pub(crate) struct Scan {
    pub components: Vec<ScanComponent>,
    /// The zigzag indices of the first and the last coefficient.
    pub spectral_start: u32,
    pub spectral_end: u32,
    /// Whether the scan adds a bit to the coefficients of an earlier one.
    pub is_refinement: bool,
    /// The number of lower bits that later scans will add.
    pub low_bits: u32,
}

/// A component of a scan and its Huffman tables.
#[derive(Clone, Copy)]
pub(crate) struct ScanComponent {
    /// The index of the component in the frame.
    pub index: usize,
    pub dc_table: usize,
    pub ac_table: usize,
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
        let max_horizontal = sampling.iter().map(|factors| factors.0).max()?;
        let max_vertical = sampling.iter().map(|factors| factors.1).max()?;
        let components = specifications.iter().zip(&sampling).map(
            |([id, _, quantization_table], (horizontal, vertical))| Component {
                id: *id,
                horizontal_sampling: *horizontal,
                vertical_sampling: *vertical,
                quantization_table: usize::from(*quantization_table),
                size: (
                    (width * horizontal).div_ceil(max_horizontal),
                    (height * vertical).div_ceil(max_vertical),
                ),
            },
        );
        Some(Frame {
            width,
            height,
            is_progressive,
            components: components.collect(),
            mcu_count: (
                width.div_ceil(8 * max_horizontal),
                height.div_ceil(8 * max_vertical),
            ),
            max_sampling: (max_horizontal, max_vertical),
        })
    }

    /// Returns the blocks of a component across and down, including those that only pad MCUs.
    pub(crate) fn padded_block_count(&self, component: &Component) -> (usize, usize) {
        (
            (self.mcu_count.0 * component.horizontal_sampling) as usize,
            (self.mcu_count.1 * component.vertical_sampling) as usize,
        )
    }

    /// Returns the exact width and height of the picture in samples of a component, in 256ths.
    pub(crate) fn extent(&self, component: &Component) -> (u32, u32) {
        (
            self.width * 256 * component.horizontal_sampling / self.max_sampling.0,
            self.height * 256 * component.vertical_sampling / self.max_sampling.1,
        )
    }

    /// Returns the number of blocks that a scan visits.
    pub(crate) fn scan_block_count(&self, scan: &Scan) -> u64 {
        let block_counts = scan
            .components
            .iter()
            .map(|part| self.padded_block_count(&self.components[part.index]));
        block_counts
            .map(|(columns, rows)| columns as u64 * rows as u64)
            .sum()
    }

    /// Returns the bytes that all coefficients take that a target size needs.
    pub(crate) fn coefficient_memory(&self, target: (u32, u32)) -> u64 {
        let bytes = self.components.iter().map(|component| {
            let (columns, rows) = self.padded_block_count(component);
            let retained = BlockScale::for_target(component.size, target).retained_coefficients();
            // A mask of 8 bytes and values of 2 bytes, with one more for all coefficients that are not retained.
            let bytes_per_block = 8 + 2 * (u64::from(retained.count_ones()) + 1);
            columns as u64 * rows as u64 * bytes_per_block
        });
        bytes.sum()
    }
}

impl Component {
    /// Returns the blocks across and down that hold samples.
    pub(crate) fn block_count(&self) -> (u32, u32) {
        (self.size.0.div_ceil(8), self.size.1.div_ceil(8))
    }
}

impl Scan {
    pub(crate) fn read(segment: &[u8], frame: &Frame) -> Option<Scan> {
        let (count, rest) = segment.split_first()?;
        let (specifications, rest) = rest.split_at_checked(2 * usize::from(*count))?;
        let mut components: Vec<ScanComponent> = Vec::new();
        for [id, tables] in specifications.as_chunks::<2>().0 {
            let index = frame
                .components
                .iter()
                .position(|component| component.id == *id)?;
            if components.iter().any(|component| component.index == index) {
                return None;
            }
            components.push(ScanComponent {
                index,
                dc_table: usize::from(tables >> 4),
                ac_table: usize::from(tables & 15),
            });
        }
        if components.is_empty() {
            return None;
        }
        if !frame.is_progressive {
            return Some(Scan {
                components,
                spectral_start: 0,
                spectral_end: 63,
                is_refinement: false,
                low_bits: 0,
            });
        }
        let [start, end, bits] = *rest.first_chunk::<3>()?;
        let (high_bits, low_bits) = (u32::from(bits >> 4), u32::from(bits & 15));
        let is_valid_band = if start == 0 {
            end == 0
        } else {
            components.len() == 1 && start <= end && end < 64
        };
        let are_valid_bits = low_bits < 14 && (high_bits == 0 || high_bits == low_bits + 1);
        (is_valid_band && are_valid_bits).then_some(Scan {
            components,
            spectral_start: u32::from(start),
            spectral_end: u32::from(end),
            is_refinement: high_bits > 0,
            low_bits,
        })
    }

    /// Returns whether the scan contains the whole picture.
    pub(crate) fn is_complete(&self, frame: &Frame) -> bool {
        !frame.is_progressive && self.components.len() == frame.components.len()
    }
}
