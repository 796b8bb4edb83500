//! JPEG: markers from SOI to EOI (ITU-T T.81, annex B).

use super::{Found, admit_size, be16, orientation};
use crate::media::fault::PictureFault;
use image::metadata::Orientation;

/// Writers of progressive pictures use about ten. Each one makes the decoder walk over all blocks.
const MOST_SCANS: u32 = 32;

const SOF_BASELINE: u8 = 0xC0;
const SOF_EXTENDED: u8 = 0xC1;
const SOF_PROGRESSIVE: u8 = 0xC2;
const RST_FIRST: u8 = 0xD0;
const RST_LAST: u8 = 0xD7;
const EOI: u8 = 0xD9;
const SOS: u8 = 0xDA;
const APP1: u8 = 0xE1;

struct Frame {
    width: u32,
    height: u32,
    is_progressive: bool,
    components: usize,
    /// Samples of all components for a whole block of the largest, and the area of that block.
    samples: u64,
    area: u64,
}

pub fn read(bytes: &[u8]) -> Result<Found, PictureFault> {
    let mut at = 2;
    let mut frame: Option<Frame> = None;
    let mut turned = None;
    let mut scans = 0;
    let mut is_interleaved = true;
    loop {
        let marker = marker(bytes, &mut at).ok_or(PictureFault::Broken)?;
        if marker == EOI {
            break;
        }
        let length = be16(bytes, at).ok_or(PictureFault::Broken)? as usize;
        let segment = bytes.get(at + 2..at + length).ok_or(PictureFault::Broken)?;
        at += length;
        match marker {
            SOF_BASELINE | SOF_EXTENDED | SOF_PROGRESSIVE if frame.is_none() => {
                frame = Some(Frame::read(segment, marker == SOF_PROGRESSIVE)?);
            }
            // A second frame, or a kind that is arithmetic, lossless or hierarchical. DHT, JPG and DAC stand between.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF | 0xDE | 0xDF => {
                return Err(PictureFault::Broken);
            }
            APP1 if turned.is_none() && segment.starts_with(b"Exif\0\0") => {
                turned = Some(orientation(segment));
            }
            SOS => {
                let components = frame.as_ref().ok_or(PictureFault::Broken)?.components;
                scans += 1;
                is_interleaved &= segment
                    .first()
                    .is_some_and(|count| usize::from(*count) == components);
                if scans > MOST_SCANS {
                    return Err(PictureFault::Broken);
                }
                skip_scan(bytes, &mut at);
            }
            _ => {}
        }
    }
    let frame = frame.filter(|_| scans > 0).ok_or(PictureFault::Broken)?;
    Ok(Found {
        width: frame.width,
        height: frame.height,
        orientation: turned.unwrap_or(Orientation::NoTransforms),
        length: at,
        sixteenths: frame.sixteenths(is_interleaved),
        is_by_rows: false,
        disguise: None,
    })
}

/// The next marker, with `at` moved behind it. Bytes of 0xFF may be put before it.
fn marker(bytes: &[u8], at: &mut usize) -> Option<u8> {
    if *bytes.get(*at)? != 0xFF {
        return None;
    }
    while *bytes.get(*at)? == 0xFF {
        *at += 1;
    }
    let marker = *bytes.get(*at)?;
    *at += 1;
    (marker >= SOF_BASELINE && !(RST_FIRST..=0xD8).contains(&marker)).then_some(marker)
}

/// Moves behind the coded data of a scan, to the marker that ends it.
fn skip_scan(bytes: &[u8], at: &mut usize) {
    while let Some(found) = memchr::memchr(0xFF, bytes.get(*at..).unwrap_or_default()) {
        let Some(0x00 | RST_FIRST..=RST_LAST) = bytes.get(*at + found + 1) else {
            *at += found;
            return;
        };
        *at += found + 2;
    }
    *at = bytes.len();
}

impl Frame {
    fn read(segment: &[u8], is_progressive: bool) -> Result<Frame, PictureFault> {
        let (height, width) = be16(segment, 1)
            .zip(be16(segment, 3))
            .ok_or(PictureFault::Broken)?;
        let (width, height) = (u32::from(width), u32::from(height));
        admit_size(width, height)?;
        let components = usize::from(*segment.get(5).ok_or(PictureFault::Broken)?);
        let factors = segment
            .get(6..6 + components * 3)
            .ok_or(PictureFault::Broken)?
            .chunks_exact(3)
            .map(|component| (u64::from(component[1] >> 4), u64::from(component[1] & 15)));
        let (mut samples, mut across, mut down) = (0, 1, 1);
        for (horizontal, vertical) in factors {
            if !(1..=4).contains(&horizontal) || !(1..=4).contains(&vertical) {
                return Err(PictureFault::Broken);
            }
            samples += horizontal * vertical;
            across = across.max(horizontal);
            down = down.max(vertical);
        }
        if components == 0 || components > 4 {
            return Err(PictureFault::Broken);
        }
        Ok(Frame {
            width,
            height,
            is_progressive,
            components,
            samples,
            area: across * down,
        })
    }

    /// Pixels of one or three bytes; scans that bring a part of them are gathered as coefficients of two bytes.
    fn sixteenths(&self, is_interleaved: bool) -> u64 {
        let pixel = if self.components == 1 { 16 } else { 48 };
        match self.is_progressive || !is_interleaved {
            true => pixel + (2 * 16 * self.samples).div_ceil(self.area),
            false => pixel,
        }
    }
}
