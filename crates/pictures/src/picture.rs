//! Cleaning a picture: bytes of anybody in, bytes of our own out.
//!
//! Nothing of what was sent is kept but its pixels. They are always encoded anew, so that metadata, comments and
//! whatever was hidden behind or between them are gone, and the size is bounded.

use super::decode::decode;
use super::error::PictureFault;
use super::header::Header;
use super::shrink::fitting;
use image::DynamicImage;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder, SamplingFactor};

/// The longer side of a picture that is kept. Larger ones are made smaller.
pub const LONGEST_KEPT: u32 = 2_048;
const JPEG_QUALITY: u8 = 85;
/// Pixels of a picture whose colors are kept as sharp as its light. Small ones are often logos, where that is seen.
const MOST_IN_FULL_COLOR: u32 = 1_000_000;

/// A picture of our own making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clean {
    pub bytes: Vec<u8>,
    pub kind: Kind,
    pub width: u32,
    pub height: u32,
}

/// How pictures are kept: JPEG, or PNG where something shines through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Jpeg,
    Png,
}

/// Judges a picture by its header, decodes it, turns it upright and encodes it anew.
///
/// ```
/// use pictures::error::PictureFault;
/// use pictures::picture::clean;
///
/// assert_eq!(clean(b"GIF89a"), Err(PictureFault::NotAPicture));
/// ```
pub fn clean(bytes: &[u8]) -> Result<Clean, PictureFault> {
    let header = Header::read(bytes)?;
    clean_read(bytes.to_vec(), &header)
}

/// The same, where the header was read already. The bytes are gone once they are decoded, before more memory is taken.
pub fn clean_read(mut bytes: Vec<u8>, header: &Header) -> Result<Clean, PictureFault> {
    if let Some((place, bit)) = header.disguise {
        bytes[place] |= bit;
    }
    let to = fitting(header.width, header.height, LONGEST_KEPT);
    let mut picture = decode(&bytes[..header.length], header, to)?;
    drop(bytes);
    picture.apply_orientation(header.orientation);
    encode(&picture)
}

/// A picture of ours, made narrower; `None` where it is not wider than that.
pub fn narrowed(bytes: &[u8], width: u32) -> Result<Option<Clean>, PictureFault> {
    let header = Header::read(bytes)?;
    if header.width <= width {
        return Ok(None);
    }
    let height = (u64::from(header.height) * u64::from(width) / u64::from(header.width)).max(1);
    let picture = decode(bytes, &header, (width, height as u32))?;
    encode(&picture).map(Some)
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Jpeg, Kind::Png];

    /// Its name in the store.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpeg",
            Kind::Png => "png",
        }
    }

    /// The kind with this name.
    pub fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Kind::Jpeg => "image/jpeg",
            Kind::Png => "image/png",
        }
    }

    /// How names of files of this kind end.
    pub fn extension(self) -> &'static str {
        match self {
            Kind::Jpeg => "jpg",
            Kind::Png => "png",
        }
    }
}

fn encode(picture: &DynamicImage) -> Result<Clean, PictureFault> {
    let (kind, bytes) = match is_opaque(picture) {
        true => (Kind::Jpeg, encode_jpeg(picture)?),
        false => (Kind::Png, encode_png(picture)?),
    };
    Ok(Clean {
        bytes,
        kind,
        width: picture.width(),
        height: picture.height(),
    })
}

fn encode_jpeg(picture: &DynamicImage) -> Result<Vec<u8>, PictureFault> {
    let grey;
    let (pixels, colors) = match picture {
        DynamicImage::ImageRgb8(image) => (image.as_raw(), ColorType::Rgb),
        DynamicImage::ImageRgba8(image) => (image.as_raw(), ColorType::Rgba),
        other => {
            grey = other.to_luma8();
            (grey.as_raw(), ColorType::Luma)
        }
    };
    let (width, height) = (picture.width() as u16, picture.height() as u16);
    let is_small = u32::from(width) * u32::from(height) <= MOST_IN_FULL_COLOR;
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, JPEG_QUALITY);
    encoder.set_sampling_factor(match is_small {
        true => SamplingFactor::F_1_1,
        false => SamplingFactor::F_2_2,
    });
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder
        .encode(pixels, width, height, colors)
        .map_err(|_| PictureFault::Broken)?;
    Ok(bytes)
}

fn encode_png(picture: &DynamicImage) -> Result<Vec<u8>, PictureFault> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Adaptive);
    picture
        .write_with_encoder(encoder)
        .map_err(|_| PictureFault::Broken)?;
    Ok(bytes)
}

fn is_opaque(picture: &DynamicImage) -> bool {
    match picture {
        DynamicImage::ImageLumaA8(image) => image.pixels().all(|pixel| pixel[1] == u8::MAX),
        DynamicImage::ImageRgba8(image) => image.pixels().all(|pixel| pixel[3] == u8::MAX),
        picture => !picture.color().has_alpha(),
    }
}

#[cfg(test)]
mod tests;
