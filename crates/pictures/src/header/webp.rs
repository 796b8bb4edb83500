//! WebP: chunks of a RIFF file (RFC 9649).

use super::{Found, Work, admit_size, le32, orientation};
use crate::error::PictureFault;
use image::metadata::Orientation;

const RIFF_HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;
const ANIMATION: u8 = 0x02;
const ALPHA: u8 = 0x10;
/// In the fifth byte of a lossless picture: behind its mark stand two sides of 14 bits, then this.
const LOSSLESS_ALPHA: u8 = 0x10;
/// What a pixel costs, and what a byte does.
const LOSSLESS_WORK: (u64, u64) = (8, 30);
const LOSSY_WORK: (u64, u64) = (12, 100);

pub fn read(bytes: &[u8]) -> Result<Found, PictureFault> {
    let length = le32(bytes, 4).ok_or(PictureFault::Broken)? as usize + CHUNK_HEADER;
    let bytes = bytes.get(..length).ok_or(PictureFault::Broken)?;
    let mut at = RIFF_HEADER;
    let mut canvas: Option<(u32, u32)> = None;
    let mut image: Option<(usize, Image)> = None;
    let mut has_alpha = false;
    let mut turned = Orientation::NoTransforms;
    while at < bytes.len() {
        let (kind, data) = chunk(bytes, at).ok_or(PictureFault::Broken)?;
        match kind {
            b"VP8X" if at == RIFF_HEADER => {
                let flags = *data.first().ok_or(PictureFault::Broken)?;
                if flags & ANIMATION != 0 {
                    return Err(PictureFault::Animated);
                }
                has_alpha = flags & ALPHA != 0;
                let size = le24(data, 4).zip(le24(data, 7)).ok_or(PictureFault::Broken)?;
                canvas = Some((size.0 + 1, size.1 + 1));
            }
            b"ANIM" | b"ANMF" => return Err(PictureFault::Animated),
            b"VP8 " if image.is_none() => {
                image = Some((at, Image::lossy(data).ok_or(PictureFault::Broken)?));
            }
            b"VP8L" if image.is_none() => {
                image = Some((at, Image::lossless(data).ok_or(PictureFault::Broken)?));
            }
            b"EXIF" => turned = orientation(data),
            _ => {}
        }
        at += CHUNK_HEADER + data.len().next_multiple_of(2);
    }
    let (place, image) = image.ok_or(PictureFault::Broken)?;
    // The decoder makes room for the size of the inner picture before it compares the two.
    admit_size(image.width, image.height)?;
    if canvas.is_some_and(|canvas| canvas != (image.width, image.height)) {
        return Err(PictureFault::Broken);
    }
    let has_alpha = if canvas.is_some() {
        has_alpha
    } else {
        image.has_alpha
    };
    let mark = match canvas {
        Some(_) => (RIFF_HEADER + CHUNK_HEADER, ALPHA),
        None => (place + CHUNK_HEADER + 4, LOSSLESS_ALPHA),
    };
    Ok(Found {
        width: image.width,
        height: image.height,
        orientation: turned,
        length,
        memory: image.memory(has_alpha),
        work: image.work(has_alpha, length as u64),
        disguise: (!image.is_lossy && !has_alpha).then_some(mark),
    })
}

fn chunk(bytes: &[u8], at: usize) -> Option<(&[u8; 4], &[u8])> {
    let kind = bytes.get(at..at + 4)?.try_into().ok()?;
    let start = at + CHUNK_HEADER;
    let data = bytes.get(start..start + le32(bytes, at + 4)? as usize)?;
    Some((kind, data))
}

/// The picture inside.
struct Image {
    width: u32,
    height: u32,
    is_lossy: bool,
    has_alpha: bool,
}

impl Image {
    /// A key frame of VP8 (RFC 6386, section 9.1).
    fn lossy(data: &[u8]) -> Option<Image> {
        let is_key_frame = data.first()? & 1 == 0 && data.get(3..6)? == [0x9D, 0x01, 0x2A];
        let side = |at: usize| {
            Some(u32::from(
                u16::from_le_bytes([*data.get(at)?, *data.get(at + 1)?]) & 0x3FFF,
            ))
        };
        Some(Image {
            width: side(6).filter(|_| is_key_frame)?,
            height: side(8)?,
            is_lossy: true,
            has_alpha: false,
        })
    }

    fn lossless(data: &[u8]) -> Option<Image> {
        let bits = le32(data, 1).filter(|_| data[0] == 0x2F)?;
        Some(Image {
            width: (bits & 0x3FFF) + 1,
            height: (bits >> 14 & 0x3FFF) + 1,
            is_lossy: false,
            has_alpha: bits >> 28 & 1 == 1,
        })
    }

    /// The decoder holds three planes beside the pixels of a lossy picture, and decodes its transparency as a picture of
    /// its own. A lossless one has four bytes a pixel, with transparency or without.
    fn memory(&self, has_alpha: bool) -> u64 {
        let halves = match (self.is_lossy, has_alpha) {
            (true, false) => 6 + 3,
            (true, true) => 8 + 3 + 10,
            (false, _) => 8,
        };
        self.pixels() * halves / 2
    }

    fn work(&self, has_alpha: bool, length: u64) -> Work {
        let (pixel, byte) = match (self.is_lossy, has_alpha) {
            (true, false) => LOSSY_WORK,
            (true, true) => (LOSSY_WORK.0 + LOSSLESS_WORK.0, LOSSY_WORK.1),
            (false, _) => LOSSLESS_WORK,
        };
        Work {
            shape: self.pixels() * pixel,
            bytes: length * byte,
        }
    }

    fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 3)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
}
