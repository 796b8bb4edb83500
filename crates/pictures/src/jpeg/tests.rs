use super::*;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use proptest::prelude::*;

/// Draws waves of several lengths and a few edges, so that all frequencies occur.
fn scene(width: u32, height: u32) -> Bitmap {
    let mut pixels = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let wave = |length: f32, at: u32| (at as f32 / length).sin() * 60.0 + 128.0;
            let edge = if x * 3 > y * 2 { 40.0 } else { 0.0 };
            pixels.extend([
                (wave(17.0, x) + edge) as u8,
                wave(29.0, x + 2 * y) as u8,
                (wave(11.0, y) - edge) as u8,
            ]);
        }
    }
    Bitmap::new((width, height), Channels::Rgb, pixels)
}

#[derive(Debug)]
struct EncoderSettings {
    sampling: SamplingFactor,
    progressive_scans: Option<u8>,
    restart_interval: u16,
    quality: u8,
}

impl EncoderSettings {
    fn encode(&self, bitmap: &Bitmap) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, self.quality);
        encoder.set_sampling_factor(self.sampling);
        if let Some(scans) = self.progressive_scans {
            encoder.set_progressive_scans(scans);
        }
        encoder.set_restart_interval(self.restart_interval);
        let (width, height) = (bitmap.width as u16, bitmap.height as u16);
        encoder
            .encode(&bitmap.pixels, width, height, ColorType::Rgb)
            .unwrap();
        bytes
    }
}

fn encoder_settings() -> impl Strategy<Value = EncoderSettings> {
    let sampling = prop::sample::select(vec![
        SamplingFactor::F_1_1,
        SamplingFactor::F_2_1,
        SamplingFactor::F_1_2,
        SamplingFactor::F_2_2,
    ]);
    let progressive_scans = prop_oneof![Just(None), (2..=10_u8).prop_map(Some)];
    (sampling, progressive_scans, 0..9_u16, 50..=100_u8).prop_map(
        |(sampling, progressive_scans, restart_interval, quality)| EncoderSettings {
            sampling,
            progressive_scans,
            restart_interval,
            quality,
        },
    )
}

/// Returns the mean difference of two pictures of the same size, in 256ths of the range.
fn difference(one: &Bitmap, other: &Bitmap) -> f64 {
    assert_eq!((one.width, one.height), (other.width, other.height));
    assert_eq!(one.channels, other.channels);
    let values = one.pixels.iter().zip(&other.pixels);
    let sum: u64 = values.map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    sum as f64 / one.pixels.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_kind_of_jpeg_shows_what_was_encoded(
        width in 8..90_u32, height in 8..90_u32, settings in encoder_settings()
    ) {
        let scene = scene(width, height);
        let decoded = decode(&settings.encode(&scene), (width, height), (width, height)).unwrap();
        let difference = difference(&decoded, &scene);
        prop_assert!(difference < 8.0, "{difference}");
    }

    #[test]
    fn a_smaller_size_shows_the_same_as_the_full_size(
        width in 16..200_u32, height in 16..200_u32, divisor in 2..9_u32, settings in encoder_settings()
    ) {
        let scene = scene(width, height);
        let target = (width.div_ceil(divisor), height.div_ceil(divisor));
        let small = decode(&settings.encode(&scene), (width, height), target).unwrap();
        let expected = downscale(scene.pixels, Layout::Packed(Channels::Rgb), (width, height), target);
        let difference = difference(&small, &expected);
        prop_assert!(difference < 8.0, "{difference}");
    }

    #[test]
    fn damaged_bytes_never_cause_a_panic(
        changes in prop::collection::vec((0..4_000_usize, any::<u8>()), 1..8), settings in encoder_settings()
    ) {
        let mut bytes = settings.encode(&scene(64, 48));
        for (position, byte) in changes {
            if let Some(changed) = bytes.get_mut(position).filter(|_| position > 200) {
                *changed = byte;
            }
        }
        let _ = decode(&bytes, (64, 48), (32, 24));
    }
}

/// libjpeg wrote the same coefficients to both files.
#[test]
fn sequential_and_progressive_scans_of_the_same_coefficients_give_the_same_picture() {
    let sequential = include_bytes!("../../tests/pictures/sequential.jpg");
    let progressive = include_bytes!("../../tests/pictures/progressive.jpg");
    for target in [(75, 57), (60, 46), (30, 23), (5, 4)] {
        assert_eq!(
            decode(sequential, (75, 57), target),
            decode(progressive, (75, 57), target),
            "{target:?}"
        );
    }
}

#[test]
fn the_decoder_receives_no_metadata() {
    let encoded = EncoderSettings {
        sampling: SamplingFactor::F_2_2,
        progressive_scans: Some(4),
        restart_interval: 0,
        quality: 90,
    }
    .encode(&scene(40, 30));
    let plain = without_metadata(&encoded).unwrap();
    let segments =
        [0xE0, 0xE1, 0xE2, 0xED, 0xEF, 0xFE].map(|marker| [&[0xFF, marker, 0, 8][..], b"secret"].concat());
    let with_metadata = [&encoded[..2], &segments.concat(), &encoded[2..]].concat();
    assert_eq!(without_metadata(&with_metadata).unwrap(), plain);
}
