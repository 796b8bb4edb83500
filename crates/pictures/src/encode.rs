//! Encodes pictures as JPEG, PNG and lossless WebP.

use crate::bitmap::{Bitmap, Channels};
use image_webp::WebPEncoder;
use jpeg_encoder::{ChromaSubsamplingMethod, ColorType, Encoder, EncodingError, SamplingFactor};
use png::{BitDepth, Compression, Filter};

pub(crate) const JPEG_QUALITY: u8 = 85;
/// The quality of JPEGs that would take too many bytes otherwise.
pub(crate) const REDUCED_JPEG_QUALITY: u8 = 70;
/// Up to this size JPEGs keep the full color resolution: small pictures are often logos, whose edges would show fringes.
const MAX_FULL_COLOR_PIXELS: u64 = 1_000_000;

/// Encodes a picture as a JPEG; transparency is dropped.
pub(crate) fn encode_jpeg(bitmap: &Bitmap, quality: u8) -> Result<Vec<u8>, EncodingError> {
    let gray: Vec<u8>;
    let (pixels, color) = match bitmap.channels {
        Channels::Gray => (&bitmap.pixels, ColorType::Luma),
        Channels::GrayAlpha => {
            gray = bitmap.pixels.iter().copied().step_by(2).collect();
            (&gray, ColorType::Luma)
        }
        Channels::Rgb => (&bitmap.pixels, ColorType::Rgb),
        Channels::Rgba => (&bitmap.pixels, ColorType::Rgba),
    };
    let is_small = u64::from(bitmap.width) * u64::from(bitmap.height) <= MAX_FULL_COLOR_PIXELS;
    let mut jpeg = Vec::new();
    let mut encoder = Encoder::new(&mut jpeg, quality);
    encoder.set_sampling_factor(if is_small {
        SamplingFactor::F_1_1
    } else {
        SamplingFactor::F_2_2
    });
    encoder.set_chroma_subsampling_method(ChromaSubsamplingMethod::Average);
    encoder.encode(pixels, bitmap.width as u16, bitmap.height as u16, color)?;
    Ok(jpeg)
}

/// Encodes a picture as a PNG.
pub(crate) fn encode_png(
    bitmap: &Bitmap,
    compression: Compression,
    filter: Filter,
) -> Result<Vec<u8>, png::EncodingError> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, bitmap.width, bitmap.height);
    encoder.set_color(match bitmap.channels {
        Channels::Gray => png::ColorType::Grayscale,
        Channels::GrayAlpha => png::ColorType::GrayscaleAlpha,
        Channels::Rgb => png::ColorType::Rgb,
        Channels::Rgba => png::ColorType::Rgba,
    });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(compression);
    encoder.set_filter(filter);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bitmap.pixels)?;
    writer.finish()?;
    Ok(png)
}

/// Encodes a picture as a lossless WebP.
pub(crate) fn encode_webp(bitmap: &Bitmap) -> Result<Vec<u8>, image_webp::EncodingError> {
    let color = match bitmap.channels {
        Channels::Gray => image_webp::ColorType::L8,
        Channels::GrayAlpha => image_webp::ColorType::La8,
        Channels::Rgb => image_webp::ColorType::Rgb8,
        Channels::Rgba => image_webp::ColorType::Rgba8,
    };
    let mut webp = Vec::new();
    WebPEncoder::new(&mut webp).encode(&bitmap.pixels, bitmap.width, bitmap.height, color)?;
    Ok(webp)
}
