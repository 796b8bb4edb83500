//! Decodes JPEGs with `zune-jpeg`. Terms follow the standard, ITU-T T.81.
//!
//! The decoder receives only the segments that pixels depend on: it would copy metadata that nobody reads, and take time
//! that grows with the square of the number of XMP segments.

pub(crate) mod frame;
pub(crate) mod segments;

use self::segments::{Marker, SegmentReader};
use crate::bitmap::{Bitmap, Channels};
use crate::downscale::{Layout, downscale};
use crate::error::PictureError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Decodes a JPEG of `size` into a `(width, height)` that is not larger.
pub(crate) fn decode(bytes: &[u8], size: (u32, u32), target: (u32, u32)) -> Result<Bitmap, PictureError> {
    let bytes = without_metadata(bytes).ok_or(PictureError::Damaged)?;
    let options = DecoderOptions::default().set_strict_mode(true);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&bytes), options);
    decoder.decode_headers().map_err(|_| PictureError::Damaged)?;
    let mut channels = Channels::Rgb;
    if decoder.input_colorspace() == Some(ColorSpace::Luma) {
        channels = Channels::Gray;
        decoder.set_options(options.jpeg_set_out_colorspace(ColorSpace::Luma));
    }
    // The decoder panicked on some unusual files when it was fuzzed.
    let pixels = catch_unwind(AssertUnwindSafe(|| decoder.decode().ok()));
    let pixels = pixels.ok().flatten().ok_or(PictureError::Damaged)?;
    Ok(downscale(pixels, Layout::Packed(channels), size, target))
}

/// Copies a JPEG without comments and application segments, except Adobe's, which names the color space.
fn without_metadata(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut segments = SegmentReader::new(bytes);
    let mut copy = Vec::with_capacity(bytes.len());
    copy.extend_from_slice(bytes.get(..segments.position())?);
    loop {
        let start = segments.position();
        let (marker, _) = segments.next()?;
        if marker == Marker::Scan {
            segments.skip_scan_data();
        }
        if !matches!(marker, Marker::App(0..=13 | 15) | Marker::Comment) {
            copy.extend_from_slice(&bytes[start..segments.position()]);
        }
        if marker == Marker::EndOfImage {
            return Some(copy);
        }
    }
}

#[cfg(test)]
mod tests;
