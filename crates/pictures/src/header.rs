//! What a picture says of itself, read without decoding it: its format, its size, how it is to be turned, and what
//! decoding it will take.
//!
//! The formats are told by their first bytes. Each reader walks over the whole file, so that what the decoder is
//! given ends where the picture ends, is one still picture, and has one size only.

mod jpeg;
mod png;
mod webp;

use super::error::PictureFault;
use image::metadata::Orientation;

/// Bytes of a picture as it is sent.
pub const MOST_BYTES: usize = 10 << 20;
/// Bytes that decoding one picture may take, its pixels included.
pub const MOST_MEMORY: u64 = 112 << 20;
/// What decoding one picture may cost, about a nanosecond each on one core of a small server. Its bytes count a quarter
/// of what they cost: photographs are dense, and what is to be held off costs much and was cheap to send.
const MOST_WORK: u64 = 200_000_000;
const BYTES_COUNT: u64 = 4;
/// What it may cost with all its bytes.
const UTMOST_WORK: u64 = 500_000_000;
const LONGEST_SIDE: u32 = 8_192;
const MOST_PIXELS: u64 = 24_000_000;

/// A picture that is allowed to be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub format: Format,
    pub width: u32,
    pub height: u32,
    pub orientation: Orientation,
    /// Where the picture ends; what follows is none of ours.
    pub length: usize,
    /// Bytes that decoding takes.
    pub memory: u64,
    /// Of a lossless WebP without transparency, the byte and the bit that say it has none. Where that is set, the
    /// decoder works in the pixels that it gives back, four bytes each, and not in others beside them.
    pub disguise: Option<(usize, u8)>,
}

/// The formats that are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Png,
    Jpeg,
    WebP,
}

/// What the reader of a format found, before the limits are held against it.
struct Found {
    width: u32,
    height: u32,
    orientation: Orientation,
    length: usize,
    /// Bytes that decoding takes.
    memory: u64,
    /// What it costs, as far as the size, the length and the kind tell.
    work: Work,
    disguise: Option<(usize, u8)>,
}

/// What decoding costs, by what it has.
struct Work {
    /// Of its pixels and the passes over them, whatever they hold.
    shape: u64,
    bytes: u64,
}

impl Header {
    /// Reads the header and holds the limits against it.
    pub fn read(bytes: &[u8]) -> Result<Header, PictureFault> {
        if bytes.is_empty() {
            return Err(PictureFault::Empty);
        }
        if bytes.len() > MOST_BYTES {
            return Err(PictureFault::TooManyBytes);
        }
        let format = Format::of(bytes).ok_or(PictureFault::NotAPicture)?;
        let found = match format {
            Format::Png => png::read(bytes),
            Format::Jpeg => jpeg::read(bytes),
            Format::WebP => webp::read(bytes),
        }?;
        found.admit(format)
    }
}

impl Format {
    fn of(bytes: &[u8]) -> Option<Format> {
        match bytes {
            [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, ..] => Some(Format::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Format::Jpeg),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::WebP),
            _ => None,
        }
    }
}

impl Found {
    fn admit(self, format: Format) -> Result<Header, PictureFault> {
        admit_size(self.width, self.height)?;
        let pixels = u64::from(self.width) * u64::from(self.height);
        // The same picture, only smaller, is as much lighter as it has fewer pixels.
        let lighter = |most: u64, has: u64| if has > most { pixels * most / has } else { pixels };
        let most = lighter(MOST_MEMORY, self.memory)
            .min(lighter(
                MOST_WORK,
                self.work.shape + self.work.bytes / BYTES_COUNT,
            ))
            .min(lighter(UTMOST_WORK, self.work.shape + self.work.bytes));
        if most < pixels {
            return Err(PictureFault::TooHeavy((most / 1_000_000).max(1) as u32));
        }
        Ok(Header {
            format,
            width: self.width,
            height: self.height,
            orientation: self.orientation,
            length: self.length,
            memory: self.memory,
            disguise: self.disguise,
        })
    }
}

/// Holds the limits of size against what a header claims, as soon as it is known.
fn admit_size(width: u32, height: u32) -> Result<(), PictureFault> {
    if width == 0 || height == 0 {
        return Err(PictureFault::Broken);
    }
    let is_too_large = width.max(height) > LONGEST_SIDE || u64::from(width) * u64::from(height) > MOST_PIXELS;
    match is_too_large {
        true => Err(PictureFault::TooManyPixels(width, height)),
        false => Ok(()),
    }
}

/// How EXIF data say that the picture is to be turned.
fn orientation(exif: &[u8]) -> Orientation {
    let exif = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
    Orientation::from_exif_chunk(exif).unwrap_or(Orientation::NoTransforms)
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
