//! What the fuzz target does with any bytes; the corpus runs through the same function in an ordinary test.

use pictures::picture::{Clean, Kind, clean, narrowed};

/// Any bytes are refused, or become a picture of ours that is whole, bounded and can be cleaned again.
pub fn picture(bytes: &[u8]) {
    let Ok(picture) = clean(bytes) else { return };
    check(&picture);
    if let Some(narrow) = narrowed(&picture.bytes, 64).expect("a clean picture can be read") {
        assert_eq!(narrow.width, 64);
        check(&narrow);
    }
}

/// Holds against a picture what every cleaned one promises.
pub fn check(picture: &Clean) {
    let bytes = &picture.bytes;
    match picture.kind {
        Kind::Jpeg => {
            assert!(bytes.starts_with(b"\xFF\xD8\xFF") && bytes.ends_with(b"\xFF\xD9"));
        }
        Kind::Png => {
            assert!(
                bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"\0\0\0\0IEND\xAE\x42\x60\x82")
            );
        }
    }
    assert!((1..=2_048).contains(&picture.width) && (1..=2_048).contains(&picture.height));
    let again = clean(bytes).expect("a clean picture is a picture");
    assert_eq!(
        (again.width, again.height, again.kind),
        (picture.width, picture.height, picture.kind)
    );
}
