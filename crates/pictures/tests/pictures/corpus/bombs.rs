//! Small files that claim to be large pictures or expand to them.

use super::jpeg::Jpeg;
use super::png::Png;
use super::{HostilePicture, Outcome, hostile, webp};

pub(super) fn all() -> Vec<HostilePicture> {
    let mut all = large_pngs();
    all.extend(pngs_with_large_chunks());
    all.extend(jpeg_bombs());
    all.extend(webp_bombs());
    all
}

fn large_pngs() -> Vec<HostilePicture> {
    use Outcome::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a PNG of 65 bytes that claims 16384 squared",
            Png::new(16_384, 16_384).idat(&[0; 8]).finish(),
        ),
        hostile(
            Refused,
            "a PNG that claims 100,000 squared",
            Png::new(100_000, 100_000).idat(&[0; 8]).finish(),
        ),
        hostile(
            Refused,
            "a PNG that claims two billion squared",
            Png::new(u32::MAX >> 1, u32::MAX >> 1).idat(&[0; 8]).finish(),
        ),
        hostile(
            Refused,
            "a PNG with zero width",
            Png::new(0, 8).idat(&[0; 8]).finish(),
        ),
        hostile(
            Refused,
            "a PNG of 8193 by 1",
            Png::new(8_193, 1).pixels().finish(),
        ),
        hostile(
            Refused,
            "a PNG one row over 24 megapixels",
            Png::new(6_000, 4_001).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG of 24 megapixels in a few bytes",
            Png::new(6_000, 4_000).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG of 8192 by 1",
            Png::new(8_192, 1).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG of 24 megapixels with 16 bits",
            Png::with_color(6_000, 4_000, 16, 6).pixels().finish(),
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
            Png::with_color(6_000, 4_000, 8, 6).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG of 4095 squared with transparency",
            Png::with_color(4_095, 4_095, 8, 6).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with a gigabyte after its last row",
            Png::new(8, 8).pixels_and_zeros(1 << 30).finish(),
        ),
        hostile(
            Refused,
            "an animated PNG",
            Png::new(8, 8)
                .chunk(b"acTL", &[0, 0, 0, 9, 0, 0, 0, 0])
                .pixels()
                .finish(),
        ),
    ]
}

fn pngs_with_large_chunks() -> Vec<HostilePicture> {
    use Outcome::{Cleaned, Refused};
    let small = || Png::new(8, 8).pixels();
    vec![
        hostile(
            Cleaned,
            "a PNG with a zTXt bomb",
            small()
                .compressed_chunk(b"zTXt", b"Comment\0\0", 64 << 20)
                .finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with an iTXt bomb",
            small()
                .compressed_chunk(b"iTXt", b"XML:com.adobe.xmp\0\x01\0\0\0", 64 << 20)
                .finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with an iCCP bomb",
            Png::new(8, 8)
                .compressed_chunk(b"iCCP", b"profile\0\0", 64 << 20)
                .pixels()
                .finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with 100,000 text chunks",
            small().repeated_chunk(b"tEXt", b"a\0b", 100_000).finish(),
        ),
        hostile(
            Refused,
            "a PNG chunk that claims 2 GiB",
            small().chunk_header(b"tEXt", 0x7FFF_FFFF).finish(),
        ),
    ]
}

fn jpeg_bombs() -> Vec<HostilePicture> {
    use Outcome::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a JPEG that claims 65535 squared",
            Jpeg::new(65_535, 65_535).scan_with_length(16).finish(),
        ),
        hostile(
            Refused,
            "a JPEG one row over 24 megapixels",
            Jpeg::new(6_000, 4_001).scan().finish(),
        ),
        hostile(
            Cleaned,
            "a JPEG of 24 megapixels in a few bytes",
            Jpeg::new(6_000, 4_000).scan().finish(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 24 megapixels",
            Jpeg::progressive(6_000, 4_000).scan().finish(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 24 megapixels and 10 scans",
            Jpeg::progressive(6_000, 4_000).scan().empty_scans(9).finish(),
        ),
        hostile(
            Refused,
            "a progressive JPEG of 24 megapixels and 32 scans",
            Jpeg::progressive(6_000, 4_000).scan().empty_scans(31).finish(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 4095 squared and 10 scans",
            Jpeg::progressive(4_095, 4_095).scan().empty_scans(9).finish(),
        ),
        hostile(
            Refused,
            "a progressive JPEG with 3000 scans",
            Jpeg::progressive(2_000, 2_000).scan().empty_scans(3_000).finish(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG with 30 scans",
            Jpeg::progressive(1_000, 1_000).scan().empty_scans(29).finish(),
        ),
        hostile(
            Cleaned,
            "a progressive JPEG of 13 megapixels and 32 scans",
            Jpeg::progressive(4_000, 3_250).scan().empty_scans(31).finish(),
        ),
        hostile(
            Refused,
            "a JPEG with ten mebibytes of Huffman tables",
            (0..160)
                .fold(Jpeg::new(8, 8), |jpeg, _| jpeg.tables(3_600))
                .scan()
                .finish(),
        ),
        hostile(
            Cleaned,
            "a JPEG with 100,000 segments of extended XMP",
            (0..100_000)
                .fold(Jpeg::new(8, 8), |jpeg, _| jpeg.extended_xmp())
                .scan()
                .finish(),
        ),
        hostile(
            Refused,
            "a JPEG with two sizes",
            Jpeg::new(8, 8).frame(8_000, 8_000).scan().finish(),
        ),
        hostile(
            Refused,
            "a JPEG with zero height",
            Jpeg::new(8, 0).scan_with_length(4).finish(),
        ),
        hostile(
            Cleaned,
            "a JPEG with 150 comments of 64 KiB",
            Jpeg::new(8, 8).comments(150).scan().finish(),
        ),
    ]
}

fn webp_bombs() -> Vec<HostilePicture> {
    use Outcome::{Cleaned, Refused};
    vec![
        hostile(
            Refused,
            "a WebP that claims 16384 squared",
            webp::single_color(16_384, 16_384, false),
        ),
        hostile(
            Refused,
            "a WebP one row over 24 megapixels",
            webp::single_color(6_000, 4_001, true),
        ),
        hostile(
            Cleaned,
            "a WebP of 24 megapixels in a few bytes",
            webp::single_color(6_000, 4_000, true),
        ),
        hostile(
            Cleaned,
            "an opaque lossless WebP of 24 megapixels",
            webp::single_color(6_000, 4_000, false),
        ),
        hostile(
            Cleaned,
            "a lossy WebP of 24 megapixels in a few bytes",
            webp::lossy(6_000, 4_000),
        ),
        hostile(
            Refused,
            "a lossy WebP of 24 megapixels with transparency",
            webp::lossy_with_alpha(6_000, 4_000),
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
            Cleaned,
            "a lossy WebP of 1.2 MB with transparency, which is noise",
            webp::half_transparent_noise(2_048, 2_048, 1_200_000),
        ),
        hostile(
            Refused,
            "a small WebP canvas around 16383 squared",
            webp::lossy_with_canvas(8, 8, 16_383, 16_383),
        ),
        hostile(
            Refused,
            "a small WebP canvas around a large lossless picture",
            webp::with_canvas(8, 8, &webp::single_color_chunk(4_000, 4_000, true)),
        ),
        hostile(Refused, "an animated WebP", webp::animated()),
        hostile(
            Refused,
            "a WebP with an undeclared animation",
            webp::with_canvas(8, 8, &webp::chunk(b"ANMF", &[0; 40])),
        ),
    ]
}
