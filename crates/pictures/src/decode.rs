//! Decodes pictures whose header was accepted, directly into a smaller size with eight bits per channel.
//!
//! PNGs are averaged row by row while they are decoded, so that a large one takes little more memory than a small one.
//! JPEGs, WebP pictures and interlaced PNGs are decoded as a whole first.

use crate::bitmap::{Bitmap, Channels};
use crate::downscale::{Downscaler, Layout, downscale};
use crate::error::PictureError;
use crate::header::{Format, Header};
use crate::jpeg;
use image_webp::WebPDecoder;
use png::ColorType;
use std::io::Cursor;

/// Bytes that the PNG decoder may allocate in addition to the pixels.
const MAX_PNG_OVERHEAD: usize = 8 << 20;

/// Decodes a picture into a `(width, height)` that is not larger than its own.
pub(crate) fn decode(bytes: &[u8], header: &Header, target: (u32, u32)) -> Result<Bitmap, PictureError> {
    match header.format {
        Format::Png => decode_png(bytes, header, target),
        Format::Jpeg => jpeg::decode(bytes, (header.width, header.height), target),
        Format::WebP => decode_webp(bytes, header, target),
    }
}

fn decode_webp(bytes: &[u8], header: &Header, target: (u32, u32)) -> Result<Bitmap, PictureError> {
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    let size = (header.width, header.height);
    if decoder.dimensions() != size {
        return Err(PictureError::Damaged);
    }
    let layout = match (decoder.has_alpha(), header.alpha_flag) {
        (true, Some(_)) => Layout::Rgbx,
        (true, None) => Layout::Packed(Channels::Rgba),
        (false, _) => Layout::Packed(Channels::Rgb),
    };
    let mut pixels = vec![0; decoder.output_buffer_size().ok_or(PictureError::Damaged)?];
    decoder.read_image(&mut pixels).map_err(damaged)?;
    Ok(downscale(pixels, layout, size, target))
}

fn decode_png(bytes: &[u8], header: &Header, target: (u32, u32)) -> Result<Bitmap, PictureError> {
    let limits = png::Limits {
        bytes: MAX_PNG_OVERHEAD,
    };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // The checksums were verified when the header was read.
    decoder.ignore_checksums(true);
    let mut reader = decoder.read_info().map_err(damaged)?;
    let layout = Layout::Packed(match reader.output_color_type().0 {
        ColorType::Grayscale => Channels::Gray,
        ColorType::GrayscaleAlpha => Channels::GrayAlpha,
        ColorType::Rgb => Channels::Rgb,
        ColorType::Rgba => Channels::Rgba,
        ColorType::Indexed => return Err(PictureError::Damaged),
    });
    let size = (header.width, header.height);
    if reader.info().interlaced {
        let mut pixels = vec![0; reader.output_buffer_size().ok_or(PictureError::Damaged)?];
        reader.next_frame(&mut pixels).map_err(damaged)?;
        return Ok(downscale(pixels, layout, size, target));
    }
    let mut downscaler = Downscaler::new(size, target, layout);
    // Data after the last row are not decompressed: there may be a gigabyte of them.
    for _ in 0..header.height {
        let row = reader.next_row().map_err(damaged)?;
        downscaler.push_row(row.ok_or(PictureError::Damaged)?.data());
    }
    Ok(downscaler.finish())
}

fn damaged<E>(_: E) -> PictureError {
    PictureError::Damaged
}
