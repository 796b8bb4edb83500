//! Properties that hold for any input. The fuzz target and an ordinary test over its corpus share them.

use pictures::picture::{CleanPicture, Kind, clean, shrink_to_width};

/// Checks that any bytes are refused or become a clean picture.
pub(crate) fn check_any_bytes(bytes: &[u8]) {
    let Ok(picture) = clean(bytes) else { return };
    check_clean_picture(&picture);
    assert!(picture.bytes.len() <= bytes.len().max(1 << 20));
    let narrow = shrink_to_width(&picture.bytes, 64).expect("a clean picture can be decoded");
    if let Some(narrow) = narrow {
        assert_eq!(narrow.width, 64);
        check_clean_picture(&narrow);
    }
}

/// Checks that a clean picture is complete, has a bounded size and can be cleaned again.
pub(crate) fn check_clean_picture(picture: &CleanPicture) {
    let bytes = &picture.bytes;
    match picture.kind {
        Kind::Jpeg => {
            assert!(bytes.starts_with(b"\xFF\xD8\xFF") && bytes.ends_with(b"\xFF\xD9"));
        }
        Kind::WebP => {
            assert!(bytes.starts_with(b"RIFF") && bytes[8..].starts_with(b"WEBP"));
            assert_eq!(bytes[4..8], (bytes.len() as u32 - 8).to_le_bytes());
        }
        Kind::Png => panic!("nothing is stored as a PNG any more"),
    }
    assert!((1..=2_048).contains(&picture.width) && (1..=2_048).contains(&picture.height));
    let again = clean(bytes).expect("a clean picture can be cleaned again");
    assert_eq!((again.width, again.height), (picture.width, picture.height));
}
