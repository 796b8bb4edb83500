//! Hostile pictures, built byte by byte. The tests and the benchmark share them.

mod bombs;
pub(crate) mod jpeg;
pub(crate) mod png;
pub(crate) mod webp;

use jpeg::Jpeg;
use png::Png;

/// The expected result of cleaning a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Refused,
    Cleaned,
}

/// A picture and a name that says what is special about it.
pub(crate) struct HostilePicture {
    pub name: String,
    pub bytes: Vec<u8>,
    pub outcome: Outcome,
}

/// Content that is appended to pictures or hidden in them.
pub(crate) const PAYLOADS: [(&str, &[u8]); 5] = [
    ("a ZIP", b"PK\x03\x04\x14\x00\x00\x00hidden.exePK\x05\x06"),
    ("HTML", b"<html><script>alert(document.domain)</script></html>"),
    ("PHP", b"<?php system($_GET['c']); ?>"),
    ("a PDF", b"%PDF-1.7\n1 0 obj<</OpenAction 2 0 R>>endobj"),
    ("another picture", b"\x89PNG\r\n\x1a\nGPSLatitude"),
];

/// Returns EXIF data with an orientation and a GPS position.
pub(crate) fn exif(orientation: u8) -> Vec<u8> {
    let mut exif = b"MM\0*\0\0\0\x08\0\x02".to_vec();
    exif.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
    exif.extend([0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0]);
    exif.extend([0, 1, 0, 1, 0, 2, 0, 0, 0, 2, b'N', 0, 0, 0, 0, 0, 0, 0]);
    exif.extend(b"GPSLatitude 40.7128 SecretPlace");
    exif
}

/// Returns all hostile pictures.
pub(crate) fn all() -> Vec<HostilePicture> {
    let mut all = bombs::all();
    all.extend(other_formats());
    all.extend(payloads());
    all.extend(metadata());
    all.extend(unusual_pixels());
    all.extend(damaged());
    all
}

fn hostile(outcome: Outcome, name: impl Into<String>, bytes: Vec<u8>) -> HostilePicture {
    HostilePicture {
        name: name.into(),
        bytes,
        outcome,
    }
}

fn other_formats() -> Vec<HostilePicture> {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let formats: [(&str, &[u8]); 14] = [
        (
            "a GIF",
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xFF\xFF\xFF,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;",
        ),
        ("a TIFF", b"II*\0\x08\0\0\0\0\0\0\0"),
        ("a big-endian TIFF", b"MM\0*\0\0\0\x08\0\0"),
        ("an AVIF", b"\0\0\0\x20ftypavif\0\0\0\0avifmif1miafMA1B"),
        ("a HEIC", b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
        ("a JPEG XL", b"\0\0\0\x0CJXL \r\n\x87\n"),
        (
            "a BMP",
            b"BM\x3A\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x01\0\0\0\x01\0\0\0",
        ),
        ("an ICO", b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0"),
        ("an SVG", svg),
        ("a PDF", b"%PDF-1.7\n%%EOF"),
        ("an HTML page", b"<!doctype html><script>alert(1)</script>"),
        ("a ZIP", b"PK\x03\x04\x14\0\0\0\0\0"),
        ("a WAV in RIFF", b"RIFF\x24\0\0\0WAVEfmt "),
        ("only zeros", &[0; 4_096]),
    ];
    formats
        .map(|(name, bytes)| hostile(Outcome::Refused, name, bytes.to_vec()))
        .into()
}

fn payloads() -> Vec<HostilePicture> {
    let mut pictures = Vec::new();
    for (name, payload) in PAYLOADS {
        for (kind, picture) in [
            ("PNG", Png::new(8, 8).pixels().finish()),
            ("JPEG", Jpeg::new(8, 8).scan().finish()),
            ("WebP", webp::single_color(8, 8, true)),
        ] {
            let bytes = [&picture, payload].concat();
            pictures.push(hostile(Outcome::Cleaned, format!("{name} after a {kind}"), bytes));
        }
        let bytes = Jpeg::new(8, 8).segment(0xFE, payload).scan().finish();
        pictures.push(hostile(Outcome::Cleaned, format!("{name} in a comment"), bytes));
    }
    pictures
}

fn metadata() -> Vec<HostilePicture> {
    let xmp = b"<x:xmpmeta><exif:GPSLatitude>40,42.7N</exif:GPSLatitude></x:xmpmeta>";
    let mut pictures = Vec::new();
    for orientation in 0..=9 {
        let exif = exif(orientation);
        let app1 = [b"Exif\0\0", &exif[..]].concat();
        let name = |kind: &str| format!("a {kind} with GPS and orientation {orientation}");
        pictures.push(hostile(
            Outcome::Cleaned,
            name("JPEG"),
            Jpeg::new(16, 8).segment(0xE1, &app1).scan().finish(),
        ));
        pictures.push(hostile(
            Outcome::Cleaned,
            name("PNG"),
            Png::new(16, 8).chunk(b"eXIf", &exif).pixels().finish(),
        ));
        let chunks = [webp::single_color_chunk(16, 8, true), webp::chunk(b"EXIF", &exif)].concat();
        pictures.push(hostile(
            Outcome::Cleaned,
            name("WebP"),
            webp::with_canvas_flags(16, 8, 0x18, &chunks),
        ));
    }
    let app1 = [&b"http://ns.adobe.com/xap/1.0/\0"[..], xmp].concat();
    pictures.push(hostile(
        Outcome::Cleaned,
        "a JPEG with XMP",
        Jpeg::new(8, 8).segment(0xE1, &app1).scan().finish(),
    ));
    let icc = [&b"ICC_PROFILE\0\x01\x01"[..], &[0x41; 600]].concat();
    pictures.push(hostile(
        Outcome::Cleaned,
        "a JPEG with ICC",
        Jpeg::new(8, 8).segment(0xE2, &icc).scan().finish(),
    ));
    let damaged = b"MM\0*\0\0\0\x08\xFF\xFF".to_vec();
    let app1 = [b"Exif\0\0", &damaged[..]].concat();
    pictures.push(hostile(
        Outcome::Cleaned,
        "EXIF that claims 65535 entries",
        Jpeg::new(8, 8).segment(0xE1, &app1).scan().finish(),
    ));
    pictures
}

fn unusual_pixels() -> Vec<HostilePicture> {
    use Outcome::{Cleaned, Refused};
    vec![
        hostile(
            Cleaned,
            "a PNG with 16 bits",
            Png::with_color(8, 8, 16, 2).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a grayscale PNG with alpha",
            Png::with_color(8, 8, 8, 4).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with 1 bit",
            Png::with_color(8, 8, 1, 0).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a PNG with a palette",
            Png::with_color(8, 8, 8, 3)
                .chunk(b"PLTE", &[9, 8, 7])
                .pixels()
                .finish(),
        ),
        hostile(
            Refused,
            "a PNG without its palette",
            Png::with_color(8, 8, 8, 3).pixels().finish(),
        ),
        hostile(
            Refused,
            "a PNG with an unknown color type",
            Png::with_color(8, 8, 8, 5).pixels().finish(),
        ),
        hostile(
            Refused,
            "a PNG with 7 bits",
            Png::with_color(8, 8, 7, 0).pixels().finish(),
        ),
        hostile(
            Cleaned,
            "a grayscale JPEG",
            Jpeg::with_components(16, 16, 1, false).scan().finish(),
        ),
        hostile(
            Cleaned,
            "a CMYK JPEG",
            Jpeg::with_components(16, 16, 4, false)
                .segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")
                .scan()
                .finish(),
        ),
        hostile(
            Refused,
            "a JPEG with five components",
            Jpeg::with_components(16, 16, 5, false).scan().finish(),
        ),
        hostile(
            Refused,
            "an arithmetic JPEG",
            Jpeg::new(8, 8)
                .scan()
                .finish()
                .iter()
                .scan(0_u8, |previous, byte| {
                    let is_frame = *previous == 0xFF && *byte == 0xC0;
                    *previous = *byte;
                    Some(if is_frame { 0xC9 } else { *byte })
                })
                .collect(),
        ),
    ]
}

fn damaged() -> Vec<HostilePicture> {
    use Outcome::Refused;
    vec![
        hostile(Refused, "an empty file", Vec::new()),
        hostile(Refused, "only a PNG signature", b"\x89PNG\r\n\x1a\n".to_vec()),
        hostile(Refused, "only a JPEG start marker", b"\xFF\xD8\xFF".to_vec()),
        hostile(Refused, "only a RIFF header", b"RIFF\0\0\0\0WEBP".to_vec()),
        hostile(Refused, "a PNG without pixels", Png::new(8, 8).finish()),
        hostile(
            Refused,
            "a PNG with half its pixels",
            Png::new(64, 64).idat(&png::compress(&[0; 100], 0)).finish(),
        ),
        hostile(Refused, "a PNG with a wrong checksum", {
            let mut bytes = Png::new(8, 8).pixels().finish();
            bytes[30] ^= 1;
            bytes
        }),
        hostile(Refused, "a JPEG without scans", Jpeg::new(8, 8).finish()),
        hostile(
            Refused,
            "a JPEG with a scan before its frame",
            Jpeg::tables_only().scan_with_length(4).finish(),
        ),
        hostile(
            Refused,
            "a WebP with a chunk past its end",
            webp::file(&[b"VP8L".as_slice(), &[0xFF; 4]].concat()),
        ),
        hostile(
            Refused,
            "eleven mebibytes",
            [&b"\xFF\xD8\xFF"[..], &vec![0; 11 << 20]].concat(),
        ),
        hostile(
            Refused,
            "ten mebibytes of markers",
            [0xFF, 0xD8]
                .into_iter()
                .chain([0xFF, 0xFE, 0, 2].repeat(2_600_000))
                .collect(),
        ),
    ]
}
