use super::*;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::{Rgb, RgbImage, Rgba, RgbaImage};

fn photo(width: u32, height: u32) -> DynamicImage {
    RgbImage::from_fn(width, height, |x, y| Rgb([(x % 256) as u8, (y % 256) as u8, 90])).into()
}

fn png(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.write_with_encoder(PngEncoder::new(&mut bytes)).unwrap();
    bytes
}

fn jpeg(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture
        .write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 90))
        .unwrap();
    bytes
}

fn webp(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture
        .write_with_encoder(WebPEncoder::new_lossless(&mut bytes))
        .unwrap();
    bytes
}

#[test]
fn each_format_is_told_by_its_bytes_and_an_opaque_picture_becomes_jpeg() {
    for bytes in [png(&photo(30, 20)), jpeg(&photo(30, 20)), webp(&photo(30, 20))] {
        let clean = clean(&bytes).unwrap();
        assert_eq!((clean.kind, clean.width, clean.height), (Kind::Jpeg, 30, 20));
        assert_eq!(&clean.bytes[..3], b"\xFF\xD8\xFF");
    }
}

#[test]
fn a_picture_that_something_shines_through_stays_png() {
    let glass: DynamicImage = RgbaImage::from_pixel(9, 9, Rgba([1, 2, 3, 100])).into();
    for bytes in [png(&glass), webp(&glass)] {
        let clean = clean(&bytes).unwrap();
        assert_eq!(clean.kind, Kind::Png);
        let again = image::load_from_memory(&clean.bytes).unwrap().into_rgba8();
        assert_eq!(again.get_pixel(4, 4).0, [1, 2, 3, 100]);
    }
    let opaque: DynamicImage = RgbaImage::from_pixel(9, 9, Rgba([1, 2, 3, 255])).into();
    assert_eq!(clean(&png(&opaque)).unwrap().kind, Kind::Jpeg);
}

#[test]
fn a_large_picture_is_kept_smaller_and_a_small_one_is_not_enlarged() {
    let clean_large = clean(&jpeg(&photo(3_000, 1_500))).unwrap();
    assert_eq!((clean_large.width, clean_large.height), (2_048, 1_024));
    let narrow = narrowed(&clean_large.bytes, 256).unwrap().unwrap();
    assert_eq!((narrow.width, narrow.height), (256, 128));
    assert_eq!(narrowed(&narrow.bytes, 256).unwrap(), None);
    assert_eq!(narrowed(&narrow.bytes, 512).unwrap(), None);
}

#[test]
fn cleaning_twice_gives_the_same_bytes_for_the_same_picture() {
    let bytes = png(&photo(50, 40));
    assert_eq!(clean(&bytes).unwrap(), clean(&bytes).unwrap());
}

#[test]
fn limits_are_judged_before_anything_is_decoded() {
    assert_eq!(clean(&[]), Err(PictureFault::Empty));
    let long = vec![0xFF; super::super::header::MOST_BYTES + 1];
    assert_eq!(clean(&long), Err(PictureFault::TooManyBytes));
    assert_eq!(
        clean(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        Err(PictureFault::NotAPicture)
    );
}
