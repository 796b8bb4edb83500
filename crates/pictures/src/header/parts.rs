//! The types and limits that the header readers of all formats share.

use crate::error::PictureError;
use crate::orientation::Orientation;

/// The largest accepted file, in bytes.
pub const MAX_FILE_SIZE: usize = 10 << 20;
/// The most memory that decoding one picture may take, in bytes, including its pixels.
pub const MAX_DECODE_MEMORY: u64 = 240 << 20;
/// The longer side of a clean picture, in pixels. Larger pictures are downscaled.
pub(crate) const MAX_STORED_SIDE: u32 = 2_048;
const MAX_SIDE: u32 = 8_192;
const MAX_PIXELS: u64 = 24_000_000;

/// The largest accepted decoding cost, in units of about a nanosecond on one core of a small server.
///
/// The cost of the file's own bytes is divided by `BYTE_COST_DIVISOR`: photographs are dense, whereas an attack is cheap to
/// send and expensive to decode.
const MAX_COST: u64 = 300_000_000;
const BYTE_COST_DIVISOR: u64 = 4;
/// The largest accepted decoding cost if the file's own bytes count in full.
const MAX_FULL_COST: u64 = 500_000_000;

/// A picture that may be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub format: Format,
    pub width: u32,
    pub height: u32,
    pub orientation: Orientation,
    /// The number of bytes up to the end of the picture; anything after it is ignored.
    pub length: usize,
    /// The number of bytes that decoding allocates.
    pub decode_memory: u64,
    /// The position and the bit of the transparency flag of an opaque lossless WebP.
    ///
    /// If the flag is set, the decoder works in its four-byte output pixels instead of allocating a second buffer.
    pub alpha_flag: Option<(usize, u8)>,
}

/// The formats that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    WebP,
}

/// The properties that the reader of a format found, before they are checked against the limits.
pub(super) struct Properties {
    pub width: u32,
    pub height: u32,
    pub orientation: Orientation,
    pub length: usize,
    pub decode_memory: u64,
    pub cost: Cost,
    pub alpha_flag: Option<(usize, u8)>,
}

/// The estimated cost of decoding.
pub(super) struct Cost {
    /// The cost of the pixels and of the passes over them, whatever their content.
    pub pixels: u64,
    /// The cost of the bytes of the file.
    pub bytes: u64,
}

impl Format {
    /// Detects the format from the first bytes.
    pub(crate) fn detect(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some(Format::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Format::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::WebP),
            _ => None,
        }
    }
}

impl Properties {
    /// Checks the properties against the limits.
    pub(super) fn admit(self, format: Format) -> Result<Header, PictureError> {
        check_size(self.width, self.height)?;
        let pixels = u64::from(self.width) * u64::from(self.height);
        // Memory and cost of the same kind of picture are proportional to its pixels.
        let affordable_pixels = |limit: u64, needed: u64| {
            if needed > limit {
                pixels * limit / needed
            } else {
                pixels
            }
        };
        let cost = &self.cost;
        let max_pixels = affordable_pixels(MAX_DECODE_MEMORY, self.decode_memory)
            .min(affordable_pixels(
                MAX_COST,
                cost.pixels + cost.bytes / BYTE_COST_DIVISOR,
            ))
            .min(affordable_pixels(MAX_FULL_COST, cost.pixels + cost.bytes));
        if max_pixels < pixels {
            let megapixels = (max_pixels / 1_000_000).max(1);
            return Err(PictureError::TooExpensive(megapixels as u32));
        }
        Ok(Header {
            format,
            width: self.width,
            height: self.height,
            orientation: self.orientation,
            length: self.length,
            decode_memory: self.decode_memory,
            alpha_flag: self.alpha_flag,
        })
    }
}

/// Checks the size that a header claims; readers call this as soon as they know it.
pub(super) fn check_size(width: u32, height: u32) -> Result<(), PictureError> {
    if width == 0 || height == 0 {
        return Err(PictureError::Damaged);
    }
    if width.max(height) > MAX_SIDE || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooManyPixels(width, height));
    }
    Ok(())
}

/// Reads a big-endian number.
pub(super) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a little-endian number.
pub(super) fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
