//! Hostile pictures are refused or cleaned, and none of them causes harm.
#![allow(
    unreachable_pub,
    reason = "nothing outside can name what a test program contains"
)]

mod corpus;
mod properties;

use corpus::{HostilePicture, Outcome, PAYLOADS, exif};
use image_webp::WebPEncoder;
use jpeg_encoder::Encoder;
use pictures::error::PictureError;
use pictures::picture::{CleanPicture, Kind, clean, shrink_to_width};
use std::path::Path;
use std::thread;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// Byte sequences of metadata that must not survive.
const METADATA: [&[u8]; 8] = [
    b"GPS",
    b"Exif",
    b"eXIf",
    b"xmpmeta",
    b"ICC_PROFILE",
    b"iCCP",
    b"SecretPlace",
    b"tEXt",
];

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn assert_clean(picture: &CleanPicture) {
    properties::check_clean_picture(picture);
    for trace in METADATA.into_iter().chain(PAYLOADS.map(|(_, payload)| payload)) {
        assert!(
            !contains(&picture.bytes, trace),
            "{}",
            String::from_utf8_lossy(trace)
        );
    }
}

fn encode_jpeg(pixels: &[u8], width: u16, height: u16) -> Vec<u8> {
    let mut jpeg = Vec::new();
    Encoder::new(&mut jpeg, 95)
        .encode(pixels, width, height, jpeg_encoder::ColorType::Rgb)
        .unwrap();
    jpeg
}

fn encode_png(pixels: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(pixels).unwrap();
    writer.finish().unwrap();
    png
}

fn encode_webp(pixels: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut webp = Vec::new();
    WebPEncoder::new(&mut webp)
        .encode(pixels, width, height, image_webp::ColorType::Rgb8)
        .unwrap();
    webp
}

/// Returns a description of the actual outcome if it is not the expected one.
fn unexpected_outcome(picture: &HostilePicture) -> Option<String> {
    let HostilePicture { name, bytes, outcome } = picture;
    match (clean(bytes), outcome) {
        (Ok(picture), Outcome::Cleaned) => {
            assert_clean(&picture);
            assert!(picture.bytes.len() <= bytes.len().max(1 << 20), "{name}");
        }
        (Err(error), Outcome::Refused) => assert!(!error.is_unavailable(), "{name}"),
        (result, _) => return Some(format!("{name}: {:?}", result.map(|_| "cleaned"))),
    }
    None
}

#[test]
fn every_hostile_picture_is_refused_or_cleaned_as_expected() {
    let all = corpus::all();
    assert!(all.len() >= 60, "{}", all.len());
    let unexpected: Vec<String> = thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(4));
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(|| part.iter().filter_map(unexpected_outcome).collect::<Vec<_>>()))
            .collect();
        let results = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        results.flatten().collect()
    });
    assert!(unexpected.is_empty(), "{unexpected:#?}");
}

#[test]
fn a_picture_truncated_at_any_kilobyte_is_refused() {
    let pixels: Vec<u8> = (0..300_u32)
        .flat_map(|y| (0..300_u32).map(move |x| [(x * y % 251) as u8, (x ^ y) as u8, (x * 7) as u8]))
        .flatten()
        .collect();
    for whole in [
        encode_jpeg(&pixels, 300, 300),
        encode_png(&pixels, 300, 300),
        encode_webp(&pixels, 300, 300),
    ] {
        assert!(whole.len() > 30_000, "{}", whole.len());
        assert_clean(&clean(&whole).unwrap());
        for length in (0..whole.len()).step_by(1_024).skip(1) {
            assert_eq!(
                clean(&whole[..length]),
                Err(PictureError::Damaged),
                "{length} of {}",
                whole.len()
            );
        }
    }
}

#[test]
fn every_orientation_is_applied_and_removed() {
    let pixels: Vec<u8> = (0..32)
        .flat_map(|y| {
            (0..64).map(move |x| match (x < 32, y < 16) {
                (true, true) => [250, 0, 0],
                (false, true) => [0, 250, 0],
                (true, false) => [0, 0, 250],
                (false, false) => [250, 250, 250],
            })
        })
        .flatten()
        .collect();
    let plain = encode_jpeg(&pixels, 64, 32);
    // The colors of the corners of the upright picture, row by row.
    let cases = [
        (1, "rgbw"),
        (2, "grwb"),
        (3, "wbgr"),
        (4, "bwrg"),
        (5, "rbgw"),
        (6, "brwg"),
        (7, "wgbr"),
        (8, "gwrb"),
    ];
    for (orientation, expected) in cases {
        let exif = [b"Exif\0\0", &exif(orientation)[..]].concat();
        let length = (exif.len() as u16 + 2).to_be_bytes();
        let rotated = [&plain[..2], &[0xFF, 0xE1], &length, &exif, &plain[2..]].concat();
        let picture = clean(&rotated).unwrap();
        assert_clean(&picture);
        let (width, height) = (picture.width as usize, picture.height as usize);
        assert_eq!(width > height, orientation < 5, "{orientation}");
        let upright = JpegDecoder::new(ZCursor::new(&picture.bytes)).decode().unwrap();
        let color = |x: usize, y: usize| {
            let pixel = &upright[(y * width + x) * 3..][..3];
            match [pixel[0] > 128, pixel[1] > 128, pixel[2] > 128] {
                [true, true, true] => 'w',
                [true, ..] => 'r',
                [_, true, _] => 'g',
                _ => 'b',
            }
        };
        let (right, bottom) = (width - 4, height - 4);
        let corners: String = [
            color(3, 3),
            color(right, 3),
            color(3, bottom),
            color(right, bottom),
        ]
        .iter()
        .collect();
        assert_eq!(corners, expected, "orientation {orientation}");
    }
}

#[test]
fn error_messages_say_what_to_send_instead() {
    for (bytes, expected) in [
        (&b"GIF89a"[..], "send one of these formats"),
        (
            &corpus::png::Png::new(9_000, 10).finish(),
            "9000 × 10 pixels; send one with at most 8,192 pixels per side",
        ),
        (&corpus::webp::animated(), "send a still picture"),
        (
            &corpus::jpeg::Jpeg::progressive(6_000, 4_000)
                .scan()
                .empty_scans(31)
                .finish(),
            "may have at most 20 megapixels",
        ),
    ] {
        let message = clean(bytes).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_lossless_webp_without_the_alpha_flag_is_opaque() {
    // All pixels are encoded as transparent, but the header says that alpha is not used.
    for bytes in [
        corpus::webp::single_color(3_000, 10, false),
        corpus::webp::with_canvas_flags(3_000, 10, 0, &corpus::webp::single_color_chunk(3_000, 10, false)),
    ] {
        assert_eq!(clean(&bytes).unwrap().kind, Kind::Jpeg);
    }
}

#[test]
fn an_interlaced_png_gives_the_same_picture_as_a_plain_one() {
    let plain = corpus::png::Png::with_color(2_500, 7, 8, 2).pixels().finish();
    let interlaced = corpus::png::Png::interlaced(2_500, 7, 8, 2);
    assert_eq!(clean(&plain), clean(&interlaced));
}

#[test]
fn a_webp_of_1_2_mb_with_transparency_stays_as_small_and_its_sizes_can_be_made() {
    let sent = corpus::webp::half_transparent_noise(2_048, 2_048, 1_200_000);
    let picture = clean(&sent).unwrap();
    assert_eq!(picture.kind, Kind::WebP);
    assert!(picture.bytes.len() <= sent.len(), "{}", picture.bytes.len());
    // Without downscaling it takes as many bytes as pixels, as it did as a PNG.
    assert!((256..2_048).contains(&picture.width) && picture.width == picture.height);
    let narrow = shrink_to_width(&picture.bytes, 256).unwrap().unwrap();
    assert_eq!((narrow.kind, narrow.width), (Kind::WebP, 256));
}

#[test]
fn transparency_survives_cleaning() {
    let picture = clean(&corpus::webp::single_color(3_000, 10, true)).unwrap();
    assert_eq!(
        (picture.kind, picture.width, picture.height),
        (Kind::WebP, 2_048, 7)
    );
}

#[test]
fn every_picture_of_the_fuzz_corpus_is_refused_or_cleaned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/picture");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is committed") {
        properties::check_any_bytes(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 20, "{count}");
}
