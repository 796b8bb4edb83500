use super::*;
use crate::shrink::shrink;
use image::{ImageFormat, RgbImage};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use proptest::prelude::*;

/// Waves of several lengths and a few edges, so that all frequencies are there.
fn scene(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let wave = |length: f32, at: u32| (at as f32 / length).sin() * 60.0 + 128.0;
        let edge = if x * 3 > y * 2 { 40.0 } else { 0.0 };
        image::Rgb([
            (wave(17.0, x) + edge) as u8,
            wave(29.0, x + 2 * y) as u8,
            (wave(11.0, y) - edge) as u8,
        ])
    })
}

#[derive(Debug)]
struct Writing {
    sampling: SamplingFactor,
    scans: Option<u8>,
    restart: u16,
    quality: u8,
}

impl Writing {
    fn encode(&self, picture: &RgbImage) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, self.quality);
        encoder.set_sampling_factor(self.sampling);
        if let Some(scans) = self.scans {
            encoder.set_progressive_scans(scans);
        }
        encoder.set_restart_interval(self.restart);
        let (width, height) = (picture.width() as u16, picture.height() as u16);
        encoder
            .encode(picture.as_raw(), width, height, ColorType::Rgb)
            .unwrap();
        bytes
    }
}

/// The mean difference of two pictures of one size, in 256ths of the range.
fn difference(one: &DynamicImage, other: &DynamicImage) -> f64 {
    let (one, other) = (one.to_rgb8(), other.to_rgb8());
    assert_eq!(one.dimensions(), other.dimensions());
    let sum: u64 = one
        .iter()
        .zip(other.iter())
        .map(|(one, other)| u64::from(one.abs_diff(*other)))
        .sum();
    sum as f64 / one.len() as f64
}

fn writing() -> impl Strategy<Value = Writing> {
    let sampling = prop::sample::select(vec![
        SamplingFactor::F_1_1,
        SamplingFactor::F_2_1,
        SamplingFactor::F_1_2,
        SamplingFactor::F_2_2,
    ]);
    let scans = prop_oneof![Just(None), (2..=10_u8).prop_map(Some)];
    (sampling, scans, 0..9_u16, 50..=100_u8).prop_map(|(sampling, scans, restart, quality)| Writing {
        sampling,
        scans,
        restart,
        quality,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_way_of_writing_is_read_as_others_read_it(
        width in 8..90_u32, height in 8..90_u32, writing in writing()
    ) {
        let bytes = writing.encode(&scene(width, height));
        let ours = decode(&bytes, (width, height)).unwrap();
        let theirs = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).unwrap();
        prop_assert!(difference(&ours, &theirs) < 6.0, "{}", difference(&ours, &theirs));
    }

    #[test]
    fn a_smaller_size_shows_what_the_whole_shows(
        width in 16..200_u32, height in 16..200_u32, parts in 2..9_u32, writing in writing()
    ) {
        let bytes = writing.encode(&scene(width, height));
        let to = (width.div_ceil(parts), height.div_ceil(parts));
        let small = decode(&bytes, to).unwrap();
        let whole = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).unwrap();
        let difference = difference(&small, &shrink(whole, to.0, to.1));
        prop_assert!(difference < 8.0, "{difference}");
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_and_never_panic(
        places in prop::collection::vec((0..4_000_usize, any::<u8>()), 1..8), writing in writing()
    ) {
        let mut bytes = writing.encode(&scene(64, 48));
        for (place, byte) in places {
            if let Some(changed) = bytes.get_mut(place).filter(|_| place > 200) {
                *changed = byte;
            }
        }
        let _ = decode(&bytes, (32, 24));
    }
}

/// One picture in both ways, as libjpeg writes it: the frequencies are the same to the last bit.
#[test]
fn scans_that_refine_others_end_at_the_same_picture() {
    let sequential = include_bytes!("../../tests/pictures/sequential.jpg");
    let progressive = include_bytes!("../../tests/pictures/progressive.jpg");
    for to in [(75, 57), (60, 46), (30, 23), (5, 4)] {
        assert_eq!(decode(sequential, to), decode(progressive, to), "{to:?}");
    }
    let whole = image::load_from_memory_with_format(progressive, ImageFormat::Jpeg).unwrap();
    assert!(difference(&decode(progressive, (75, 57)).unwrap(), &whole) < 3.0);
}
