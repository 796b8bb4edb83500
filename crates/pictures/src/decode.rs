//! From the bytes of a picture that was judged to its pixels, eight bits a channel and already in a smaller size.
//!
//! PNGs and JPEGs are averaged as their rows come, so that the largest takes little more memory than a small one. WebP
//! pictures, and PNGs that bring their rows in seven passes, are decoded as a whole.

use super::error::PictureFault;
use super::header::{Format, Header, MOST_MEMORY};
use super::jpeg;
use super::shrink::{Channels, Shrinking, shrink, shrink_pixels};
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder, ImageResult, Limits};
use png::ColorType;
use std::io::Cursor;

/// What the PNG decoder may hold beside the pixels.
const MOST_BESIDE: usize = 8 << 20;

/// The picture in a size that is not larger than its own.
pub fn decode(bytes: &[u8], header: &Header, to: (u32, u32)) -> Result<DynamicImage, PictureFault> {
    match header.format {
        Format::Png => decode_png(bytes, header, to),
        Format::Jpeg => jpeg::decode(bytes, to),
        Format::WebP => decode_webp(bytes, header, to),
    }
}

fn decode_webp(bytes: &[u8], header: &Header, to: (u32, u32)) -> Result<DynamicImage, PictureFault> {
    let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?;
    let picture = whole(decoder, header).map_err(broken)?;
    if (picture.width(), picture.height()) != (header.width, header.height) {
        return Err(PictureFault::Broken);
    }
    match (header.disguise, picture) {
        (Some(_), DynamicImage::ImageRgba8(image)) => {
            let size = (header.width, header.height);
            Ok(shrink_pixels(image.as_raw(), Channels::Rgbx, size, to))
        }
        (_, picture) => Ok(shrink(picture, to.0, to.1)),
    }
}

fn whole(mut decoder: impl ImageDecoder, header: &Header) -> ImageResult<DynamicImage> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(header.width);
    limits.max_image_height = Some(header.height);
    limits.max_alloc = Some(MOST_MEMORY);
    decoder.set_limits(limits)?;
    DynamicImage::from_decoder(decoder)
}

fn decode_png(bytes: &[u8], header: &Header, to: (u32, u32)) -> Result<DynamicImage, PictureFault> {
    let limits = png::Limits { bytes: MOST_BESIDE };
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // The header was read with an eye on the checksums.
    decoder.ignore_checksums(true);
    let mut reader = decoder.read_info().map_err(broken)?;
    let channels = match reader.output_color_type().0 {
        ColorType::Grayscale => Channels::Grey,
        ColorType::GrayscaleAlpha => Channels::GreyAlpha,
        ColorType::Rgb => Channels::Rgb,
        ColorType::Rgba => Channels::Rgba,
        ColorType::Indexed => return Err(PictureFault::Broken),
    };
    let size = (header.width, header.height);
    if reader.info().interlaced {
        let mut pixels = vec![0; reader.output_buffer_size().ok_or(PictureFault::Broken)?];
        reader.next_frame(&mut pixels).map_err(broken)?;
        return Ok(shrink(channels.picture(size, pixels), to.0, to.1));
    }
    let mut rows = Shrinking::new(size, to, channels);
    // What follows the last row is not unpacked: it may be a gigabyte.
    for _ in 0..header.height {
        let row = reader.next_row().map_err(broken)?;
        rows.push(row.ok_or(PictureFault::Broken)?.data());
    }
    Ok(rows.finish())
}

fn broken<E>(_: E) -> PictureFault {
    PictureFault::Broken
}
