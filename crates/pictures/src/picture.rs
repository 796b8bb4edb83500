//! Cleans pictures: takes bytes from anyone and returns bytes that this crate encoded itself.
//!
//! Only the pixels survive. They are always encoded again, so that metadata, comments and anything hidden in or after the
//! file are gone. A clean picture takes at most as many bytes as the file it was made from, or 1 MiB if that is more: one
//! that would take more is downscaled. Otherwise a small file with lossy compression and transparency, which JPEG lacks,
//! would become many times as large.

use crate::bitmap::Bitmap;
use crate::decode::decode;
use crate::downscale::{Layout, downscale, fit_within};
use crate::encode::{JPEG_QUALITY, REDUCED_JPEG_QUALITY, encode_jpeg, encode_png, encode_webp};
use crate::error::PictureError;
use crate::header::{Format, Header, MAX_STORED_SIDE};
use png::{Compression, Filter};

/// The number of bytes that a clean picture may take, even if the file was smaller.
const MIN_SIZE_LIMIT: usize = 1 << 20;

/// A picture encoded by this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPicture {
    pub bytes: Vec<u8>,
    pub kind: Kind,
    pub width: u32,
    pub height: u32,
}

/// The format of a clean picture: lossless WebP if it is transparent, otherwise JPEG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jpeg,
    /// Transparent pictures were stored as PNG before they were stored as WebP.
    Png,
    WebP,
}

/// Checks the header of a picture, decodes it, turns it upright and encodes it again.
///
/// ```
/// use pictures::error::PictureError;
/// use pictures::picture::clean;
///
/// assert_eq!(clean(b"GIF89a"), Err(PictureError::UnsupportedFormat));
/// ```
pub fn clean(bytes: &[u8]) -> Result<CleanPicture, PictureError> {
    let header = Header::read(bytes)?;
    clean_with_header(bytes.to_vec(), &header)
}

/// Does the same as [`clean`] for a picture whose header was read before.
///
/// Takes the bytes by value to free them as soon as they are decoded, before the encoder allocates.
pub fn clean_with_header(mut bytes: Vec<u8>, header: &Header) -> Result<CleanPicture, PictureError> {
    if let Some((position, bit)) = header.alpha_flag {
        bytes[position] |= bit;
    }
    let target = fit_within(header.width, header.height, MAX_STORED_SIDE);
    let bitmap = decode(&bytes[..header.length], header, target)?;
    drop(bytes);
    let bitmap = bitmap.oriented(header.orientation);
    let kind = if bitmap.is_opaque() {
        Kind::Jpeg
    } else {
        Kind::WebP
    };
    encode_within(bitmap, kind, header.length.max(MIN_SIZE_LIMIT))
}

/// Shrinks a clean picture to a width and keeps its format; returns `None` if it is not wider than that.
///
/// Clean PNGs of earlier versions may be larger than the files that are accepted.
pub fn shrink_to_width(bytes: &[u8], width: u32) -> Result<Option<CleanPicture>, PictureError> {
    let header = Header::read_of_any_size(bytes)?;
    if header.width <= width {
        return Ok(None);
    }
    let height = (u64::from(header.height) * u64::from(width) / u64::from(header.width)).max(1);
    let bitmap = decode(bytes, &header, (width, height as u32))?;
    let kind = match header.format {
        Format::Jpeg => Kind::Jpeg,
        Format::Png => Kind::Png,
        Format::WebP => Kind::WebP,
    };
    let bytes = encode(&bitmap, kind, JPEG_QUALITY)?;
    Ok(Some(CleanPicture::new(bytes, kind, &bitmap)))
}

impl CleanPicture {
    fn new(bytes: Vec<u8>, kind: Kind, bitmap: &Bitmap) -> CleanPicture {
        CleanPicture {
            bytes,
            kind,
            width: bitmap.width,
            height: bitmap.height,
        }
    }
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Jpeg, Kind::Png, Kind::WebP];

    /// Returns the name under which the kind is stored.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpeg",
            Kind::Png => "png",
            Kind::WebP => "webp",
        }
    }

    /// Returns the kind with a stored name.
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Kind::Jpeg => "image/jpeg",
            Kind::Png => "image/png",
            Kind::WebP => "image/webp",
        }
    }

    /// Returns the file name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpg",
            Kind::Png => "png",
            Kind::WebP => "webp",
        }
    }
}

/// Encodes a picture in at most `limit` bytes: a JPEG in a lower quality first, then any picture in a smaller size.
fn encode_within(mut bitmap: Bitmap, kind: Kind, limit: usize) -> Result<CleanPicture, PictureError> {
    let mut quality = JPEG_QUALITY;
    loop {
        let bytes = encode(&bitmap, kind, quality)?;
        if bytes.len() <= limit {
            return Ok(CleanPicture::new(bytes, kind, &bitmap));
        }
        if kind == Kind::Jpeg && quality == JPEG_QUALITY {
            quality = REDUCED_JPEG_QUALITY;
            continue;
        }
        let target = size_after(&bitmap, bytes.len(), limit);
        let (size, layout) = ((bitmap.width, bitmap.height), Layout::Packed(bitmap.channels));
        drop(bytes);
        bitmap = downscale(bitmap.pixels, layout, size, target);
    }
}

/// Returns the size in which a picture that takes `length` bytes should take `limit` bytes. Its bytes are about
/// proportional to its pixels; a little less saves another attempt.
fn size_after(bitmap: &Bitmap, length: usize, limit: usize) -> (u32, u32) {
    let scale = 0.95 * (limit as f64 / length as f64).sqrt();
    let scaled = |side: u32| ((f64::from(side) * scale) as u32).max(1);
    (scaled(bitmap.width), scaled(bitmap.height))
}

fn encode(bitmap: &Bitmap, kind: Kind, jpeg_quality: u8) -> Result<Vec<u8>, PictureError> {
    let bytes = match kind {
        Kind::Jpeg => encode_jpeg(bitmap, jpeg_quality).ok(),
        Kind::Png => encode_png(bitmap, Compression::Fast, Filter::Adaptive).ok(),
        Kind::WebP => encode_webp(bitmap).ok(),
    };
    bytes.ok_or(PictureError::Damaged)
}

#[cfg(test)]
mod tests;
