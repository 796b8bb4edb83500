//! Reads the chunks of a PNG from IHDR to IEND (<https://www.w3.org/TR/png-3/>).

use super::parts::{Cost, Properties, be32, check_size};
use crate::error::PictureError;
use crate::orientation::Orientation;

const SIGNATURE_LENGTH: usize = 8;
/// The length and the type before the data of a chunk, and the checksum after them.
const CHUNK_OVERHEAD: usize = 12;
const GRAY: u8 = 0;
const GRAY_ALPHA: u8 = 4;
const RGBA: u8 = 6;
/// The cost of each pixel, of each pixel of an interlaced picture, and of each byte of the file.
const PIXEL_COST: u64 = 7;
const INTERLACED_PIXEL_COST: u64 = 13;
const BYTE_COST: u64 = 12;

pub(super) fn read(bytes: &[u8]) -> Result<Properties, PictureError> {
    let mut position = SIGNATURE_LENGTH;
    let mut image_header: Option<ImageHeader> = None;
    let mut has_transparent_color = false;
    let mut orientation = Orientation::default();
    loop {
        let (kind, data) = chunk(bytes, position).ok_or(PictureError::Damaged)?;
        position += CHUNK_OVERHEAD + data.len();
        match (kind, &image_header) {
            (b"IHDR", None) => {
                let header = ImageHeader::read(data).ok_or(PictureError::Damaged)?;
                check_size(header.width, header.height)?;
                image_header = Some(header);
            }
            (b"IHDR", Some(_)) | (_, None) => return Err(PictureError::Damaged),
            (b"acTL" | b"fcTL" | b"fdAT", _) => return Err(PictureError::Animated),
            (b"tRNS", _) => has_transparent_color = true,
            (b"eXIf", _) => orientation = Orientation::from_exif(data),
            (b"IEND", Some(header)) => {
                return Ok(Properties {
                    width: header.width,
                    height: header.height,
                    orientation,
                    length: position,
                    decode_memory: header.decode_memory(has_transparent_color),
                    cost: header.cost(position as u64),
                    alpha_flag: None,
                });
            }
            _ => {}
        }
    }
}

/// Returns the type and the data of the chunk at a position. The checksum of a critical chunk must be right.
fn chunk(bytes: &[u8], position: usize) -> Option<(&[u8; 4], &[u8])> {
    let length = be32(bytes, position)? as usize;
    let start = position + 8;
    let kind: &[u8; 4] = bytes.get(position + 4..start)?.try_into().ok()?;
    let end = start.checked_add(length)?;
    let data = bytes.get(start..end)?;
    let checksum = be32(bytes, end)?;
    let is_critical = kind[0].is_ascii_uppercase();
    (!is_critical || crc32fast::hash(&bytes[position + 4..end]) == checksum).then_some((kind, data))
}

/// The IHDR chunk.
struct ImageHeader {
    width: u32,
    height: u32,
    color_type: u8,
    is_interlaced: bool,
}

impl ImageHeader {
    fn read(data: &[u8]) -> Option<ImageHeader> {
        Some(ImageHeader {
            width: be32(data, 0)?,
            height: be32(data, 4)?,
            color_type: *data.get(9)?,
            is_interlaced: *data.get(12)? != 0,
        })
    }

    /// Returns the memory that the pixels take: rows are averaged as they are decoded, unless the picture is interlaced.
    fn decode_memory(&self, has_transparent_color: bool) -> u64 {
        if !self.is_interlaced {
            return 0;
        }
        let channels = match self.color_type {
            GRAY => 1,
            GRAY_ALPHA => 2,
            RGBA => 4,
            _ => 3,
        };
        let gains_alpha = has_transparent_color && !matches!(self.color_type, GRAY_ALPHA | RGBA);
        self.pixel_count() * (channels + u64::from(gains_alpha))
    }

    fn cost(&self, length: u64) -> Cost {
        let pixel_cost = if self.is_interlaced {
            INTERLACED_PIXEL_COST
        } else {
            PIXEL_COST
        };
        Cost {
            pixels: self.pixel_count() * pixel_cost,
            bytes: length * BYTE_COST,
        }
    }

    fn pixel_count(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}
