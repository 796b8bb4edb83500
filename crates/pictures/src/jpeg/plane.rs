//! One color of the picture on its way from blocks to the wanted size.

use super::frame::{Component, Frame};
use super::transform::{Scale, Transform};
use crate::shrink::{Channels, Shrinking};

/// Takes blocks, row by row, and shrinks what they show.
pub struct Plane {
    transform: Transform,
    scale: Scale,
    /// A row of groups of blocks, as pixels.
    strip: Vec<u8>,
    width: usize,
    /// What of it is picture, and not there to fill up blocks.
    size: (u32, u32),
    rows: u32,
    shrinking: Shrinking,
    to: (u32, u32),
    extent: (u32, u32),
}

/// The pixels of one color.
pub struct Color {
    pub size: (u32, u32),
    /// How much of it the picture covers, in 256ths of a pixel.
    pub extent: (u32, u32),
    pub pixels: Vec<u8>,
}

impl Plane {
    pub fn new(frame: &Frame, component: &Component, factors: &[u16; 64], to: (u32, u32)) -> Plane {
        let scale = Scale::of(component.size, to);
        let size = scale.scaled(component.size);
        let width = frame.blocks(component).0 * scale.across;
        let to = (to.0.min(size.0), to.1.min(size.1));
        // What is to be stretched has all its samples; what is shrunk covers all.
        let whole = frame.extent(component);
        let extent = (
            if to.0 < size.0 {
                to.0 * 256
            } else {
                whole.0 * scale.across as u32 / 8
            },
            if to.1 < size.1 {
                to.1 * 256
            } else {
                whole.1 * scale.down as u32 / 8
            },
        );
        Plane {
            transform: Transform::new(scale, factors),
            scale,
            strip: vec![0; width * scale.down * component.down as usize],
            width,
            size,
            rows: 0,
            shrinking: Shrinking::new(size, to, Channels::Grey),
            to,
            extent,
        }
    }

    pub fn transform(&mut self) -> &mut Transform {
        &mut self.transform
    }

    /// Writes the block that the transform holds into the strip.
    #[inline]
    pub fn draw(&mut self, across: usize, down: usize) {
        let at = down * self.scale.down * self.width + across * self.scale.across;
        self.transform.finish(&mut self.strip[at..], self.width);
    }

    /// Takes what was drawn in so many rows of blocks.
    pub fn end_rows(&mut self, blocks: usize) {
        let left = (self.size.1 - self.rows) as usize;
        let rows = (blocks * self.scale.down).min(left);
        for row in self.strip.chunks_exact(self.width).take(rows) {
            self.shrinking.push(&row[..self.size.0 as usize]);
        }
        self.rows += rows as u32;
    }

    pub fn finish(self) -> Color {
        Color {
            size: self.to,
            extent: self.extent,
            pixels: self.shrinking.into_pixels(),
        }
    }
}
