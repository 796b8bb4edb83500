//! Reads the chunks of a WebP file (RFC 9649).

use super::parts::{Cost, Properties, check_size, le32};
use crate::error::PictureError;
use crate::orientation::Orientation;

const RIFF_HEADER_LENGTH: usize = 12;
const CHUNK_HEADER_LENGTH: usize = 8;
/// Flags in the first byte of a VP8X chunk.
const ANIMATION_FLAG: u8 = 0x02;
const ALPHA_FLAG: u8 = 0x10;
/// The flag in the fifth byte of a VP8L chunk, after the signature and two sides of 14 bits each.
const LOSSLESS_ALPHA_FLAG: u8 = 0x10;
/// The cost of each pixel and of each byte of the file.
const LOSSLESS_COST: (u64, u64) = (8, 30);
const LOSSY_COST: (u64, u64) = (12, 100);

pub(super) fn read(bytes: &[u8]) -> Result<Properties, PictureError> {
    let length = le32(bytes, 4).ok_or(PictureError::Damaged)? as usize + CHUNK_HEADER_LENGTH;
    let bytes = bytes.get(..length).ok_or(PictureError::Damaged)?;
    let mut position = RIFF_HEADER_LENGTH;
    let mut canvas: Option<(u32, u32)> = None;
    let mut image: Option<(usize, Image)> = None;
    let mut canvas_has_alpha = false;
    let mut orientation = Orientation::default();
    while position < bytes.len() {
        let (kind, data) = chunk(bytes, position).ok_or(PictureError::Damaged)?;
        match kind {
            b"VP8X" if position == RIFF_HEADER_LENGTH => {
                let flags = *data.first().ok_or(PictureError::Damaged)?;
                if flags & ANIMATION_FLAG != 0 {
                    return Err(PictureError::Animated);
                }
                canvas_has_alpha = flags & ALPHA_FLAG != 0;
                let size = le24(data, 4).zip(le24(data, 7));
                let (width, height) = size.ok_or(PictureError::Damaged)?;
                canvas = Some((width + 1, height + 1));
            }
            b"ANIM" | b"ANMF" => return Err(PictureError::Animated),
            b"VP8 " if image.is_none() => {
                image = Some((position, Image::read_lossy(data).ok_or(PictureError::Damaged)?));
            }
            b"VP8L" if image.is_none() => {
                image = Some((position, Image::read_lossless(data).ok_or(PictureError::Damaged)?));
            }
            b"EXIF" => orientation = Orientation::from_exif(data),
            _ => {}
        }
        position += CHUNK_HEADER_LENGTH + data.len().next_multiple_of(2);
    }
    let (image_position, image) = image.ok_or(PictureError::Damaged)?;
    // The decoder allocates for the size of the image before it compares it with the canvas.
    check_size(image.width, image.height)?;
    if canvas.is_some_and(|canvas| canvas != (image.width, image.height)) {
        return Err(PictureError::Damaged);
    }
    let (has_alpha, alpha_flag) = if canvas.is_some() {
        (
            canvas_has_alpha,
            (RIFF_HEADER_LENGTH + CHUNK_HEADER_LENGTH, ALPHA_FLAG),
        )
    } else {
        let flag_position = image_position + CHUNK_HEADER_LENGTH + 4;
        (image.has_alpha, (flag_position, LOSSLESS_ALPHA_FLAG))
    };
    Ok(Properties {
        width: image.width,
        height: image.height,
        orientation,
        length,
        decode_memory: image.decode_memory(has_alpha),
        cost: image.cost(has_alpha, length as u64),
        alpha_flag: (!image.is_lossy && !has_alpha).then_some(alpha_flag),
    })
}

fn chunk(bytes: &[u8], position: usize) -> Option<(&[u8; 4], &[u8])> {
    let kind = bytes.get(position..position + 4)?.try_into().ok()?;
    let start = position + CHUNK_HEADER_LENGTH;
    let data = bytes.get(start..start + le32(bytes, position + 4)? as usize)?;
    Some((kind, data))
}

/// A VP8 or VP8L chunk.
struct Image {
    width: u32,
    height: u32,
    is_lossy: bool,
    has_alpha: bool,
}

impl Image {
    /// Reads a VP8 key frame (RFC 6386, section 9.1).
    fn read_lossy(data: &[u8]) -> Option<Image> {
        let is_key_frame = data.first()? & 1 == 0 && data.get(3..6)? == [0x9D, 0x01, 0x2A];
        let side_at = |at: usize| {
            let bytes = data.get(at..)?.first_chunk::<2>()?;
            Some(u32::from(u16::from_le_bytes(*bytes) & 0x3FFF))
        };
        Some(Image {
            width: side_at(6).filter(|_| is_key_frame)?,
            height: side_at(8)?,
            is_lossy: true,
            has_alpha: false,
        })
    }

    fn read_lossless(data: &[u8]) -> Option<Image> {
        let bits = le32(data, 1).filter(|_| data[0] == 0x2F)?;
        Some(Image {
            width: (bits & 0x3FFF) + 1,
            height: (bits >> 14 & 0x3FFF) + 1,
            is_lossy: false,
            has_alpha: bits >> 28 & 1 == 1,
        })
    }

    /// Returns the memory that decoding takes.
    ///
    /// For a lossy picture the decoder allocates three planes in addition to the pixels, and decodes the transparency as a
    /// lossless picture of its own. A lossless picture has four bytes per pixel, with or without transparency.
    fn decode_memory(&self, has_alpha: bool) -> u64 {
        let half_bytes_per_pixel = match (self.is_lossy, has_alpha) {
            (true, false) => 6 + 3,
            (true, true) => 8 + 3 + 10,
            (false, _) => 8,
        };
        self.pixel_count() * half_bytes_per_pixel / 2
    }

    fn cost(&self, has_alpha: bool, length: u64) -> Cost {
        let (pixel_cost, byte_cost) = match (self.is_lossy, has_alpha) {
            (true, false) => LOSSY_COST,
            (true, true) => (LOSSY_COST.0 + LOSSLESS_COST.0, LOSSY_COST.1),
            (false, _) => LOSSLESS_COST,
        };
        Cost {
            pixels: self.pixel_count() * pixel_cost,
            bytes: length * byte_cost,
        }
    }

    fn pixel_count(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

fn le24(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 3)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
}
