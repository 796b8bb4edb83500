use super::*;
use crate::bitmap::Channels;
use crate::header::MAX_FILE_SIZE;
use image_webp::WebPEncoder;
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
    let mut bytes = Vec::new();
    let color = match bitmap.channels {
        Channels::Rgba => image_webp::ColorType::Rgba8,
        _ => image_webp::ColorType::Rgb8,
    };
    WebPEncoder::new(&mut bytes)
        .encode(&bitmap.pixels, bitmap.width, bitmap.height, color)
        .unwrap();
    bytes
}

#[test]
fn each_format_is_detected_and_an_opaque_picture_becomes_a_jpeg() {
    let photo = photo(30, 20);
    for bytes in [png(&photo), encode_jpeg(&photo).unwrap(), webp(&photo)] {
        let clean = clean(&bytes).unwrap();
        assert_eq!((clean.kind, clean.width, clean.height), (Kind::Jpeg, 30, 20));
        assert_eq!(&clean.bytes[..3], b"\xFF\xD8\xFF");
    }
}

#[test]
fn a_transparent_picture_becomes_a_png() {
    let glass = single_color([1, 2, 3, 100]);
    for bytes in [png(&glass), webp(&glass)] {
        let clean = clean(&bytes).unwrap();
        assert_eq!(clean.kind, Kind::Png);
        let mut reader = png::Decoder::new(Cursor::new(&clean.bytes)).read_info().unwrap();
        assert_eq!(reader.next_row().unwrap().unwrap().data()[..4], [1, 2, 3, 100]);
    }
    let opaque = single_color([1, 2, 3, 255]);
    assert_eq!(clean(&png(&opaque)).unwrap().kind, Kind::Jpeg);
}

#[test]
fn a_large_picture_is_downscaled_and_a_small_one_is_not_enlarged() {
    let large = clean(&encode_jpeg(&photo(3_000, 1_500)).unwrap()).unwrap();
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
