//! Small files that claim, or become, large pictures.

use super::jpeg::Jpeg;
use super::png::Png;
use super::{Fate, Hostile, hostile, webp};

pub fn all() -> Vec<Hostile> {
    let mut all = large_pngs();
    all.extend(loaded_pngs());
    all.extend(jpeg_bombs());
    all.extend(webp_bombs());
    all
}

fn large_pngs() -> Vec<Hostile> {
    use Fate::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a PNG of 65 bytes that claims 16384 squared",
            Png::new(16_384, 16_384).idat(&[0; 8]).end(),
        ),
        hostile(
            Refused,
            "a PNG that claims 100,000 squared",
            Png::new(100_000, 100_000).idat(&[0; 8]).end(),
        ),
        hostile(
            Refused,
            "a PNG that claims two thousand million squared",
            Png::new(u32::MAX >> 1, u32::MAX >> 1).idat(&[0; 8]).end(),
        ),
        hostile(Refused, "a PNG of no width", Png::new(0, 8).idat(&[0; 8]).end()),
        hostile(Refused, "a PNG of 8193 by 1", Png::new(8_193, 1).pixels().end()),
        hostile(
            Refused,
            "a PNG one row above 24 megapixels",
            Png::new(6_000, 4_001).pixels().end(),
        ),
        hostile(
            Cleaned,
            "a PNG of 24 megapixels in a few bytes",
            Png::new(6_000, 4_000).pixels().end(),
        ),
        hostile(Cleaned, "a PNG of 8192 by 1", Png::new(8_192, 1).pixels().end()),
        hostile(
            Cleaned,
            "a PNG of 24 megapixels with 16 bits",
            Png::of(6_000, 4_000, 16, 6).pixels().end(),
        ),
        hostile(
            Refused,
            "an interlaced PNG of 24 megapixels with 16 bits",
            Png::interlaced(6_000, 4_000, 16, 6),
        ),
        hostile(
            Cleaned,
            "an interlaced PNG of 14 megapixels with 16 bits",
            Png::interlaced(4_000, 3_500, 16, 6),
        ),
        hostile(
            Cleaned,
            "a PNG of 24 megapixels with transparency",
            Png::of(6_000, 4_000, 8, 6).pixels().end(),
        ),
        hostile(
            Cleaned,
            "a PNG of 4095 squared with transparency",
            Png::of(4_095, 4_095, 8, 6).pixels().end(),
        ),
        hostile(
            Cleaned,
            "a PNG with a gigabyte behind its last row",
            Png::new(8, 8).pixels_and(1 << 30).end(),
        ),
        hostile(
            Refused,
            "an animated PNG",
            Png::new(8, 8)
                .chunk(b"acTL", &[0, 0, 0, 9, 0, 0, 0, 0])
                .pixels()
                .end(),
        ),
    ]
}

fn loaded_pngs() -> Vec<Hostile> {
    use Fate::{Cleaned, Refused};
    let small = || Png::new(8, 8).pixels();
    vec![
        hostile(
            Cleaned,
            "a PNG with a zTXt bomb",
            small().compressed(b"zTXt", b"Comment\0\0", 64 << 20).end(),
        ),
        hostile(
            Cleaned,
            "a PNG with an iTXt bomb",
            small()
                .compressed(b"iTXt", b"XML:com.adobe.xmp\0\x01\0\0\0", 64 << 20)
                .end(),
        ),
        hostile(
            Cleaned,
            "a PNG with an iCCP bomb",
            Png::new(8, 8)
                .compressed(b"iCCP", b"profile\0\0", 64 << 20)
                .pixels()
                .end(),
        ),
        hostile(
            Cleaned,
            "a PNG with 100,000 text chunks",
            small().repeated(b"tEXt", b"a\0b", 100_000).end(),
        ),
        hostile(
            Refused,
            "a chunk that claims 2 GiB",
            small().claim(b"tEXt", 0x7FFF_FFFF).end(),
        ),
    ]
}

fn jpeg_bombs() -> Vec<Hostile> {
    use Fate::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a JPEG that claims 65535 squared",
            Jpeg::new(65_535, 65_535).scan_of(16).end(),
        ),
        hostile(
            Refused,
            "a JPEG one row above 24 megapixels",
            Jpeg::new(6_000, 4_001).scan().end(),
        ),
        hostile(
            Cleaned,
            "a JPEG of 24 megapixels in a few bytes",
            Jpeg::new(6_000, 4_000).scan().end(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 24 megapixels",
            Jpeg::progressive(6_000, 4_000).scan().end(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 24 megapixels and 10 scans",
            Jpeg::progressive(6_000, 4_000).scan().refinements(9).end(),
        ),
        hostile(
            Refused,
            "a progressive JPEG of 24 megapixels and 32 scans",
            Jpeg::progressive(6_000, 4_000).scan().refinements(31).end(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 4095 squared and 10 scans",
            Jpeg::progressive(4_095, 4_095).scan().refinements(9).end(),
        ),
        hostile(
            Refused,
            "a progressive JPEG of 3000 scans",
            Jpeg::progressive(2_000, 2_000).scan().refinements(3_000).end(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 30 scans",
            Jpeg::progressive(1_000, 1_000).scan().refinements(29).end(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 13 megapixels and 32 scans",
            Jpeg::progressive(4_000, 3_250).scan().refinements(31).end(),
        ),
        hostile(
            Refused,
            "a JPEG with two sizes",
            Jpeg::new(8, 8).frame(8_000, 8_000).scan().end(),
        ),
        hostile(Refused, "a JPEG of no height", Jpeg::new(8, 0).scan_of(4).end()),
        hostile(
            Cleaned,
            "a JPEG with 150 comments of 64 KiB",
            Jpeg::new(8, 8).comments(150).scan().end(),
        ),
    ]
}

fn webp_bombs() -> Vec<Hostile> {
    use Fate::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a WebP that claims 16384 squared",
            webp::flat(16_384, 16_384, false),
        ),
        hostile(
            Refused,
            "a WebP one row above 24 megapixels",
            webp::flat(6_000, 4_001, true),
        ),
        hostile(
            Cleaned,
            "a WebP of 24 megapixels in a few bytes",
            webp::flat(6_000, 4_000, true),
        ),
        hostile(
            Cleaned,
            "an opaque lossless WebP of 24 megapixels",
            webp::flat(6_000, 4_000, false),
        ),
        hostile(
            Refused,
            "a lossy WebP of 24 megapixels in a few bytes",
            webp::lossy(6_000, 4_000),
        ),
        hostile(
            Cleaned,
            "a lossy WebP of 12 megapixels in a few bytes",
            webp::lossy(4_000, 3_000),
        ),
        hostile(
            Cleaned,
            "a lossy WebP of 8 megapixels with transparency",
            webp::lossy_with_alpha(4_000, 2_000),
        ),
        hostile(
            Refused,
            "a small WebP canvas around 16383 squared",
            webp::lossy_in_canvas(8, 8, 16_383, 16_383),
        ),
        hostile(
            Refused,
            "a small WebP canvas around a large lossless picture",
            webp::in_canvas(8, 8, &webp::flat_chunk(4_000, 4_000, true)),
        ),
        hostile(Refused, "an animated WebP", webp::animated()),
        hostile(
            Refused,
            "a WebP whose animation is not announced",
            webp::in_canvas(8, 8, &webp::chunk(b"ANMF", &[0; 40])),
        ),
    ]
}
