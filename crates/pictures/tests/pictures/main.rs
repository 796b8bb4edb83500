//! Pictures that nobody means well with are refused or cleaned, and none of them brings anything down.

mod corpus;
mod fuzzed;

use corpus::{Fate, Hostile, RIDERS, exif};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, Rgb, RgbImage};
use pictures::error::PictureFault;
use pictures::picture::{Clean, Kind, clean};
use std::path::Path;
use std::thread;

/// Words that stand in what was sent and nowhere in pixels.
const TRACES: [&[u8]; 8] = [
    b"GPS",
    b"Exif",
    b"eXIf",
    b"xmpmeta",
    b"ICC_PROFILE",
    b"iCCP",
    b"SecretPlace",
    b"tEXt",
];

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn spotless(picture: &Clean) {
    fuzzed::check(picture);
    for trace in TRACES.into_iter().chain(RIDERS.map(|(_, rider)| rider)) {
        assert!(
            !holds(&picture.bytes, trace),
            "{}",
            String::from_utf8_lossy(trace)
        );
    }
}

/// What became of a picture, where that is not what it deserves.
fn surprise(Hostile { name, bytes, fate }: &Hostile) -> Option<String> {
    match (clean(bytes), fate) {
        (Ok(picture), Fate::Cleaned) => spotless(&picture),
        (Err(fault), Fate::Refused) => assert!(!fault.is_ours(), "{name}"),
        (outcome, _) => return Some(format!("{name}: {:?}", outcome.map(|_| "cleaned"))),
    }
    None
}

#[test]
fn every_hostile_picture_is_refused_or_cleaned_as_it_deserves() {
    let all = corpus::all();
    assert!(all.len() >= 60, "{}", all.len());
    let surprises: Vec<String> = thread::scope(|scope| {
        let parts = all.chunks(all.len().div_ceil(4));
        let threads: Vec<_> = parts
            .map(|part| scope.spawn(|| part.iter().filter_map(surprise).collect::<Vec<_>>()))
            .collect();
        let found = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        found.flatten().collect()
    });
    assert!(surprises.is_empty(), "{surprises:#?}");
}

#[test]
fn a_picture_cut_at_any_kilobyte_is_refused() {
    let photo: DynamicImage = RgbImage::from_fn(300, 300, |x, y| {
        Rgb([(x * y % 251) as u8, (x ^ y) as u8, (x * 7) as u8])
    })
    .into();
    let mut jpeg = Vec::new();
    photo
        .write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, 95))
        .unwrap();
    let (mut png, mut webp) = (Vec::new(), Vec::new());
    photo
        .write_with_encoder(image::codecs::png::PngEncoder::new(&mut png))
        .unwrap();
    photo
        .write_with_encoder(image::codecs::webp::WebPEncoder::new_lossless(&mut webp))
        .unwrap();
    for whole in [jpeg, png, webp] {
        assert!(whole.len() > 30_000, "{}", whole.len());
        spotless(&clean(&whole).unwrap());
        for length in (0..whole.len()).step_by(1_024).skip(1) {
            assert_eq!(
                clean(&whole[..length]),
                Err(PictureFault::Broken),
                "{length} of {}",
                whole.len()
            );
        }
    }
}

/// Where the red corner of a picture is once it is shown upright, for each orientation of EXIF.
#[test]
fn every_orientation_is_applied_and_its_mark_is_gone() {
    let upright = RgbImage::from_fn(64, 32, |x, y| match (x < 32, y < 16) {
        (true, true) => Rgb([250, 0, 0]),
        (false, true) => Rgb([0, 250, 0]),
        (true, false) => Rgb([0, 0, 250]),
        (false, false) => Rgb([250, 250, 250]),
    });
    let mut plain = Vec::new();
    DynamicImage::from(upright)
        .write_with_encoder(JpegEncoder::new_with_quality(&mut plain, 95))
        .unwrap();
    let corners = [
        (1, "rgbw"),
        (2, "grwb"),
        (3, "wbgr"),
        (4, "bwrg"),
        (5, "rbgw"),
        (6, "brwg"),
        (7, "wgbr"),
        (8, "gwrb"),
    ];
    for (orientation, wanted) in corners {
        let exif = [b"Exif\0\0", &exif(orientation)[..]].concat();
        let length = (exif.len() as u16 + 2).to_be_bytes();
        let turned = [&plain[..2], &[0xFF, 0xE1], &length, &exif, &plain[2..]].concat();
        let picture = clean(&turned).unwrap();
        spotless(&picture);
        let shown = image::load_from_memory(&picture.bytes).unwrap().into_rgb8();
        let (width, height) = shown.dimensions();
        assert_eq!(width > height, orientation < 5, "{orientation}");
        let color = |x: u32, y: u32| match shown.get_pixel(x, y).0.map(|value| value > 128) {
            [true, true, true] => 'w',
            [true, ..] => 'r',
            [_, true, _] => 'g',
            _ => 'b',
        };
        let (right, bottom) = (width - 4, height - 4);
        let seen: String = [
            color(3, 3),
            color(right, 3),
            color(3, bottom),
            color(right, bottom),
        ]
        .iter()
        .collect();
        assert_eq!(seen, wanted, "orientation {orientation}");
    }
}

#[test]
fn the_sentence_of_a_fault_says_what_to_send_instead() {
    for (bytes, said) in [
        (&b"GIF89a"[..], "send one of these"),
        (
            &corpus::png::Png::new(9_000, 10).end(),
            "9000 × 10 pixels; send at most 8,192 a side",
        ),
        (&corpus::webp::animated(), "send a still one"),
        (
            &corpus::jpeg::Jpeg::progressive(6_000, 4_000)
                .scan()
                .refinements(31)
                .end(),
            "may have 16 megapixels",
        ),
    ] {
        let fault = clean(bytes).unwrap_err().to_string();
        assert!(fault.contains(said), "{fault}");
    }
}

#[test]
fn a_lossless_webp_is_as_opaque_as_it_says() {
    // Its pixels are written as wholly transparent, and its header says that this does not count.
    for bytes in [
        corpus::webp::flat(3_000, 10, false),
        corpus::webp::in_canvas_with(3_000, 10, 0, &corpus::webp::flat_chunk(3_000, 10, false)),
    ] {
        assert_eq!(clean(&bytes).unwrap().kind, Kind::Jpeg);
    }
}

#[test]
fn a_png_is_the_same_picture_however_its_rows_come() {
    let plain = corpus::png::Png::of(2_500, 7, 8, 2).pixels().end();
    let passes = corpus::png::Png::interlaced(2_500, 7, 8, 2);
    assert_eq!(clean(&plain), clean(&passes));
}

#[test]
fn transparency_outlives_the_cleaning() {
    let picture = clean(&corpus::webp::flat(3_000, 10, true)).unwrap();
    assert_eq!(
        (picture.kind, picture.width, picture.height),
        (Kind::Png, 2_048, 7)
    );
}

#[test]
fn every_picture_of_the_fuzz_corpus_is_refused_or_cleaned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/picture");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus is committed") {
        fuzzed::picture(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 20, "{count}");
}
