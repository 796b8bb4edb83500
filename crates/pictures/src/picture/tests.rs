use super::*;
use crate::bitmap::Channels;
use crate::header::MAX_FILE_SIZE;
use image_webp::WebPDecoder;
use std::io::Cursor;

fn photo(width: u32, height: u32) -> Bitmap {
    let pixels = (0..height)
        .flat_map(|y| (0..width).map(move |x| [(x % 256) as u8, (y % 256) as u8, 90]))
        .flatten()
        .collect();
    Bitmap::new((width, height), Channels::Rgb, pixels)
}

fn single_color(color: [u8; 4]) -> Bitmap {
    Bitmap::new((9, 9), Channels::Rgba, color.repeat(81))
}

fn png(bitmap: &Bitmap) -> Vec<u8> {
    encode_png(bitmap, Compression::Fast, Filter::Adaptive).unwrap()
}

fn webp(bitmap: &Bitmap) -> Vec<u8> {
    encode_webp(bitmap).unwrap()
}

fn jpeg(bitmap: &Bitmap) -> Vec<u8> {
    encode_jpeg(bitmap, JPEG_QUALITY).unwrap()
}

/// Returns a picture that no encoder can compress.
fn noise(width: u32, height: u32, channels: Channels) -> Bitmap {
    let mut state = 1_u64;
    let bytes = (width * height) as usize * channels.count();
    let pixels = (0..bytes)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    Bitmap::new((width, height), channels, pixels)
}

#[test]
fn each_format_is_detected_and_an_opaque_picture_becomes_a_jpeg() {
    let photo = photo(30, 20);
    for bytes in [png(&photo), jpeg(&photo), webp(&photo)] {
        let clean = clean(&bytes).unwrap();
        assert_eq!((clean.kind, clean.width, clean.height), (Kind::Jpeg, 30, 20));
        assert_eq!(&clean.bytes[..3], b"\xFF\xD8\xFF");
    }
}

#[test]
fn a_transparent_picture_becomes_a_webp() {
    let glass = single_color([1, 2, 3, 100]);
    for bytes in [png(&glass), webp(&glass)] {
        let clean = clean(&bytes).unwrap();
        assert_eq!(clean.kind, Kind::WebP);
        let mut pixels = vec![0; 9 * 9 * 4];
        let mut decoder = WebPDecoder::new(Cursor::new(&clean.bytes)).unwrap();
        decoder.read_image(&mut pixels).unwrap();
        assert_eq!(pixels, glass.pixels);
    }
    let opaque = single_color([1, 2, 3, 255]);
    assert_eq!(clean(&png(&opaque)).unwrap().kind, Kind::Jpeg);
}

#[test]
fn what_is_stored_takes_at_most_what_was_sent_or_1_mib() {
    for (channels, kind) in [
        (Channels::Rgba, Kind::WebP),
        (Channels::GrayAlpha, Kind::WebP),
        (Channels::Rgb, Kind::Jpeg),
    ] {
        let noise = noise(1_500, 1_500, channels);
        let proportions = |clean: &CleanPicture| (clean.kind, clean.width == clean.height);
        let large = encode_within(noise.clone(), kind, MIN_SIZE_LIMIT).unwrap();
        assert!(large.bytes.len() <= MIN_SIZE_LIMIT, "{}", large.bytes.len());
        assert!(large.bytes.len() > MIN_SIZE_LIMIT / 2, "{}", large.bytes.len());
        assert_eq!(proportions(&large), (kind, true));
        // What fits is not changed.
        let whole = encode_within(noise, kind, 10 * MIN_SIZE_LIMIT).unwrap();
        assert_eq!((whole.width, whole.height), (1_500, 1_500));
    }
}

#[test]
fn sizes_of_a_large_png_of_an_earlier_version_can_be_made() {
    let stored = png(&noise(2_048, 2_048, Channels::Rgba));
    assert!(stored.len() > MAX_FILE_SIZE);
    let narrow = shrink_to_width(&stored, 512).unwrap().unwrap();
    assert_eq!((narrow.kind, narrow.width, narrow.height), (Kind::Png, 512, 512));
}

#[test]
fn a_narrow_picture_has_the_format_of_the_whole_one() {
    // The mean of two alpha values is not transparent any more, but the name of the picture still ends with `webp`.
    let mut pixels = [9, 9, 9, 255].repeat(128 * 2);
    pixels[3] = 254;
    let stored = clean(&webp(&Bitmap::new((128, 2), Channels::Rgba, pixels))).unwrap();
    let narrow = shrink_to_width(&stored.bytes, 64).unwrap().unwrap();
    assert_eq!((stored.kind, narrow.kind), (Kind::WebP, Kind::WebP));
}

#[test]
fn a_large_picture_is_downscaled_and_a_small_one_is_not_enlarged() {
    let large = clean(&jpeg(&photo(3_000, 1_500))).unwrap();
    assert_eq!((large.width, large.height), (2_048, 1_024));
    let narrow = shrink_to_width(&large.bytes, 256).unwrap().unwrap();
    assert_eq!((narrow.width, narrow.height), (256, 128));
    assert_eq!(shrink_to_width(&narrow.bytes, 256).unwrap(), None);
    assert_eq!(shrink_to_width(&narrow.bytes, 512).unwrap(), None);
}

#[test]
fn cleaning_the_same_picture_twice_gives_the_same_bytes() {
    let bytes = png(&photo(50, 40));
    assert_eq!(clean(&bytes).unwrap(), clean(&bytes).unwrap());
}

#[test]
fn limits_are_checked_before_decoding() {
    assert_eq!(clean(&[]), Err(PictureError::Empty));
    let long = vec![0xFF; MAX_FILE_SIZE + 1];
    assert_eq!(clean(&long), Err(PictureError::TooManyBytes));
    assert_eq!(
        clean(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        Err(PictureError::UnsupportedFormat)
    );
}
