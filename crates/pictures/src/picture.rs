//! Cleans pictures: takes bytes from anyone and returns bytes that this crate encoded itself.
//!
//! Only the pixels survive. They are always encoded again, so that metadata, comments and anything hidden in or after the
//! file are gone, and the size is bounded.

use crate::bitmap::Bitmap;
use crate::decode::decode;
use crate::downscale::fit_within;
use crate::encode::{encode_jpeg, encode_png};
use crate::error::PictureError;
use crate::header::{Header, MAX_STORED_SIDE};
use png::{Compression, Filter};

/// A picture encoded by this crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanPicture {
    pub bytes: Vec<u8>,
    pub kind: Kind,
    pub width: u32,
    pub height: u32,
}

/// The format of a clean picture: PNG if it is transparent, otherwise JPEG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jpeg,
    Png,
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
    encode(&bitmap.oriented(header.orientation))
}

/// Shrinks a clean picture to a width; returns `None` if it is not wider than that.
pub fn shrink_to_width(bytes: &[u8], width: u32) -> Result<Option<CleanPicture>, PictureError> {
    let header = Header::read(bytes)?;
    if header.width <= width {
        return Ok(None);
    }
    let height = (u64::from(header.height) * u64::from(width) / u64::from(header.width)).max(1);
    let bitmap = decode(bytes, &header, (width, height as u32))?;
    encode(&bitmap).map(Some)
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Jpeg, Kind::Png];

    /// Returns the name under which the kind is stored.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpeg",
            Kind::Png => "png",
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
        }
    }

    /// Returns the file name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpg",
            Kind::Png => "png",
        }
    }
}

fn encode(bitmap: &Bitmap) -> Result<CleanPicture, PictureError> {
    let (kind, bytes) = if bitmap.is_opaque() {
        (Kind::Jpeg, encode_jpeg(bitmap).ok())
    } else {
        let png = encode_png(bitmap, Compression::Fast, Filter::Adaptive);
        (Kind::Png, png.ok())
    };
    Ok(CleanPicture {
        bytes: bytes.ok_or(PictureError::Damaged)?,
        kind,
        width: bitmap.width,
        height: bitmap.height,
    })
}

#[cfg(test)]
mod tests;
