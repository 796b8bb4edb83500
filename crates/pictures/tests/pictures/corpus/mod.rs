//! Pictures that nobody means well with, made byte by byte; the tests and the measuring program share them.

mod bombs;
pub mod jpeg;
pub mod png;
pub mod webp;

use jpeg::Jpeg;
use png::Png;

/// What must become of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Refused,
    Cleaned,
}

/// A picture with a name that says what is wrong with it.
pub struct Hostile {
    pub name: String,
    pub bytes: Vec<u8>,
    pub fate: Fate,
}

/// What may follow a picture, and what a cleaned one must not hold.
pub const RIDERS: [(&str, &[u8]); 5] = [
    ("a zip", b"PK\x03\x04\x14\x00\x00\x00hidden.exePK\x05\x06"),
    ("HTML", b"<html><script>alert(document.domain)</script></html>"),
    ("PHP", b"<?php system($_GET['c']); ?>"),
    ("a PDF", b"%PDF-1.7\n1 0 obj<</OpenAction 2 0 R>>endobj"),
    ("another picture", b"\x89PNG\r\n\x1a\nGPSLatitude"),
];

/// EXIF data with an orientation and a place on earth.
pub fn exif(orientation: u8) -> Vec<u8> {
    let mut exif = b"MM\0*\0\0\0\x08\0\x02".to_vec();
    exif.extend([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0]);
    exif.extend([0x88, 0x25, 0, 4, 0, 0, 0, 1, 0, 0, 0, 38, 0, 0, 0, 0]);
    exif.extend([0, 1, 0, 1, 0, 2, 0, 0, 0, 2, b'N', 0, 0, 0, 0, 0, 0, 0]);
    exif.extend(b"GPSLatitude 40.7128 SecretPlace");
    exif
}

/// All of them.
pub fn all() -> Vec<Hostile> {
    let mut all = bombs::all();
    all.extend(other_types());
    all.extend(riders());
    all.extend(metadata());
    all.extend(odd_pixels());
    all.extend(damaged());
    all
}

fn hostile(fate: Fate, name: impl Into<String>, bytes: Vec<u8>) -> Hostile {
    Hostile {
        name: name.into(),
        bytes,
        fate,
    }
}

fn other_types() -> Vec<Hostile> {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>";
    let types: [(&str, &[u8]); 14] = [
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
        ("a zip", b"PK\x03\x04\x14\0\0\0\0\0"),
        ("a WAV in RIFF", b"RIFF\x24\0\0\0WAVEfmt "),
        ("nothing but zeros", &[0; 4_096]),
    ];
    types
        .map(|(name, bytes)| hostile(Fate::Refused, name, bytes.to_vec()))
        .into()
}

fn riders() -> Vec<Hostile> {
    let mut found = Vec::new();
    for (name, rider) in RIDERS {
        for (kind, picture) in [
            ("PNG", Png::new(8, 8).pixels().end()),
            ("JPEG", Jpeg::new(8, 8).scan().end()),
            ("WebP", webp::flat(8, 8, true)),
        ] {
            let bytes = [&picture, rider].concat();
            found.push(hostile(Fate::Cleaned, format!("{name} behind a {kind}"), bytes));
        }
        let bytes = Jpeg::new(8, 8).segment(0xFE, rider).scan().end();
        found.push(hostile(Fate::Cleaned, format!("{name} in a comment"), bytes));
    }
    found
}

fn metadata() -> Vec<Hostile> {
    let xmp = b"<x:xmpmeta><exif:GPSLatitude>40,42.7N</exif:GPSLatitude></x:xmpmeta>";
    let mut found = Vec::new();
    for orientation in 0..=9 {
        let exif = exif(orientation);
        let app1 = [b"Exif\0\0", &exif[..]].concat();
        let name = |kind: &str| format!("a {kind} with GPS and orientation {orientation}");
        found.push(hostile(
            Fate::Cleaned,
            name("JPEG"),
            Jpeg::new(16, 8).segment(0xE1, &app1).scan().end(),
        ));
        found.push(hostile(
            Fate::Cleaned,
            name("PNG"),
            Png::new(16, 8).chunk(b"eXIf", &exif).pixels().end(),
        ));
        let chunks = [webp::flat_chunk(16, 8, true), webp::chunk(b"EXIF", &exif)].concat();
        found.push(hostile(
            Fate::Cleaned,
            name("WebP"),
            webp::in_canvas_with(16, 8, 0x18, &chunks),
        ));
    }
    let app1 = [&b"http://ns.adobe.com/xap/1.0/\0"[..], xmp].concat();
    found.push(hostile(
        Fate::Cleaned,
        "a JPEG with XMP",
        Jpeg::new(8, 8).segment(0xE1, &app1).scan().end(),
    ));
    let icc = [&b"ICC_PROFILE\0\x01\x01"[..], &[0x41; 600]].concat();
    found.push(hostile(
        Fate::Cleaned,
        "a JPEG with ICC",
        Jpeg::new(8, 8).segment(0xE2, &icc).scan().end(),
    ));
    let loops = b"MM\0*\0\0\0\x08\xFF\xFF".to_vec();
    let app1 = [b"Exif\0\0", &loops[..]].concat();
    found.push(hostile(
        Fate::Cleaned,
        "EXIF that claims 65535 entries",
        Jpeg::new(8, 8).segment(0xE1, &app1).scan().end(),
    ));
    found
}

fn odd_pixels() -> Vec<Hostile> {
    use Fate::{Cleaned, Refused};
    vec![
        hostile(Cleaned, "a PNG with 16 bits", Png::of(8, 8, 16, 2).pixels().end()),
        hostile(
            Cleaned,
            "a PNG of grey and alpha",
            Png::of(8, 8, 8, 4).pixels().end(),
        ),
        hostile(Cleaned, "a PNG of one bit", Png::of(8, 8, 1, 0).pixels().end()),
        hostile(
            Cleaned,
            "a PNG with a palette",
            Png::of(8, 8, 8, 3).chunk(b"PLTE", &[9, 8, 7]).pixels().end(),
        ),
        hostile(
            Refused,
            "a PNG whose palette is missing",
            Png::of(8, 8, 8, 3).pixels().end(),
        ),
        hostile(
            Refused,
            "a PNG of an unknown color",
            Png::of(8, 8, 8, 5).pixels().end(),
        ),
        hostile(Refused, "a PNG of 7 bits", Png::of(8, 8, 7, 0).pixels().end()),
        hostile(
            Cleaned,
            "a JPEG of one color",
            Jpeg::of(16, 16, 1, false).scan().end(),
        ),
        hostile(
            Cleaned,
            "a CMYK JPEG",
            Jpeg::of(16, 16, 4, false)
                .segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")
                .scan()
                .end(),
        ),
        hostile(
            Refused,
            "a JPEG of five colors",
            Jpeg::of(16, 16, 5, false).scan().end(),
        ),
        hostile(
            Refused,
            "an arithmetic JPEG",
            Jpeg::new(8, 8)
                .scan()
                .end()
                .iter()
                .scan(0_u8, |before, byte| {
                    let is_frame = *before == 0xFF && *byte == 0xC0;
                    *before = *byte;
                    Some(if is_frame { 0xC9 } else { *byte })
                })
                .collect(),
        ),
    ]
}

fn damaged() -> Vec<Hostile> {
    use Fate::Refused;
    vec![
        hostile(Refused, "nothing", Vec::new()),
        hostile(Refused, "a PNG signature alone", b"\x89PNG\r\n\x1a\n".to_vec()),
        hostile(Refused, "a JPEG start alone", b"\xFF\xD8\xFF".to_vec()),
        hostile(Refused, "a RIFF header alone", b"RIFF\0\0\0\0WEBP".to_vec()),
        hostile(Refused, "a PNG without pixels", Png::new(8, 8).end()),
        hostile(
            Refused,
            "a PNG with half its pixels",
            Png::new(64, 64).idat(&png::deflated(&[0; 100], 0)).end(),
        ),
        hostile(Refused, "a PNG with a wrong checksum", {
            let mut bytes = Png::new(8, 8).pixels().end();
            bytes[30] ^= 1;
            bytes
        }),
        hostile(Refused, "a JPEG without scans", Jpeg::new(8, 8).end()),
        hostile(
            Refused,
            "a JPEG whose scan comes first",
            Jpeg::empty().scan_of(4).end(),
        ),
        hostile(
            Refused,
            "a WebP with a chunk beyond its end",
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
