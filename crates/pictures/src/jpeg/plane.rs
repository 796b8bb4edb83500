//! Renders the blocks of one component into a plane of the target size.

use super::frame::{Component, Frame};
use super::inverse_dct::{BlockScale, InverseDct};
use super::tables::QuantizationTable;
use crate::bitmap::Channels;
use crate::downscale::{Downscaler, Layout};

/// Takes blocks row by row and downscales the pixels that they become.
pub(super) struct PlaneDecoder {
    transform: InverseDct,
    scale: BlockScale,
    /// The pixels of one row of MCUs.
    strip: Vec<u8>,
    strip_width: usize,
    /// The rendered width and height without the padding of blocks.
    rendered_size: (u32, u32),
    rendered_rows: u32,
    downscaler: Downscaler,
    size: (u32, u32),
    extent: (u32, u32),
}

/// The pixels of one component.
pub(super) struct Plane {
    pub size: (u32, u32),
    /// The width and height that the picture covers, in 256ths of a pixel.
    pub extent: (u32, u32),
    pub pixels: Vec<u8>,
}

impl PlaneDecoder {
    pub(super) fn new(
        frame: &Frame,
        component: &Component,
        quantization: &QuantizationTable,
        target: (u32, u32),
    ) -> PlaneDecoder {
        let scale = BlockScale::for_target(component.size, target);
        let rendered_size = scale.apply(component.size);
        let strip_width = frame.padded_block_count(component).0 * scale.width;
        let size = (target.0.min(rendered_size.0), target.1.min(rendered_size.1));
        // The picture covers all of a downscaled plane. A plane that will be upsampled ends with a whole sample, of which the
        // picture may cover a fraction.
        let full_extent = frame.extent(component);
        let extent = (
            if size.0 < rendered_size.0 {
                size.0 * 256
            } else {
                full_extent.0 * scale.width as u32 / 8
            },
            if size.1 < rendered_size.1 {
                size.1 * 256
            } else {
                full_extent.1 * scale.height as u32 / 8
            },
        );
        PlaneDecoder {
            transform: InverseDct::new(scale, quantization),
            scale,
            strip: vec![0; strip_width * scale.height * component.vertical_sampling as usize],
            strip_width,
            rendered_size,
            rendered_rows: 0,
            downscaler: Downscaler::new(rendered_size, size, Layout::Packed(Channels::Gray)),
            size,
            extent,
        }
    }

    pub(super) fn transform(&mut self) -> &mut InverseDct {
        &mut self.transform
    }

    /// Renders the coefficients in the transform as a block of the strip.
    #[inline]
    pub(super) fn render_block(&mut self, column: usize, row: usize) {
        let start = row * self.scale.height * self.strip_width + column * self.scale.width;
        self.transform.finish(&mut self.strip[start..], self.strip_width);
    }

    /// Downscales the first rows of blocks in the strip.
    pub(super) fn finish_block_rows(&mut self, count: usize) {
        let remaining = (self.rendered_size.1 - self.rendered_rows) as usize;
        let rows = (count * self.scale.height).min(remaining);
        for row in self.strip.chunks_exact(self.strip_width).take(rows) {
            self.downscaler.push_row(&row[..self.rendered_size.0 as usize]);
        }
        self.rendered_rows += rows as u32;
    }

    pub(super) fn finish(self) -> Plane {
        Plane {
            size: self.size,
            extent: self.extent,
            pixels: self.downscaler.finish().pixels,
        }
    }
}
