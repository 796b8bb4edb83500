//! The EXIF orientation of a picture: how its pixels must be rearranged to show it upright.

const ORIENTATION_TAG: u16 = 0x0112;
const TYPE_SHORT: u16 = 3;
const ENTRY_LENGTH: usize = 12;

/// The transformation that turns stored pixels upright.
///
/// Axes are swapped last, so the flips refer to the stored picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    pub flips_x: bool,
    pub flips_y: bool,
    pub swaps_axes: bool,
}

impl Orientation {
    /// Reads the orientation from EXIF data, with or without the `Exif\0\0` prefix.
    ///
    /// Returns the identity if the data are damaged or do not contain a valid orientation.
    pub(crate) fn from_exif(exif: &[u8]) -> Orientation {
        let tiff = exif.strip_prefix(b"Exif\0\0").unwrap_or(exif);
        find_value(tiff).map(Orientation::from_value).unwrap_or_default()
    }

    /// Converts one of the eight EXIF values; all other values are the identity.
    fn from_value(value: u16) -> Orientation {
        let (flips_x, flips_y, swaps_axes) = match value {
            2 => (true, false, false),
            3 => (true, true, false),
            4 => (false, true, false),
            5 => (false, false, true),
            6 => (false, true, true),
            7 => (true, true, true),
            8 => (true, false, true),
            _ => (false, false, false),
        };
        Orientation {
            flips_x,
            flips_y,
            swaps_axes,
        }
    }
}

/// Returns the value of the orientation tag in the first directory of a TIFF structure.
fn find_value(tiff: &[u8]) -> Option<u16> {
    let is_little_endian = match tiff.first_chunk::<4>()? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let u16_at = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk::<2>()?;
        Some(if is_little_endian {
            u16::from_le_bytes(*bytes)
        } else {
            u16::from_be_bytes(*bytes)
        })
    };
    let u32_at = |at: usize| {
        let bytes = tiff.get(at..)?.first_chunk::<4>()?;
        Some(if is_little_endian {
            u32::from_le_bytes(*bytes)
        } else {
            u32::from_be_bytes(*bytes)
        })
    };
    let directory = u32_at(4)? as usize;
    let entries = directory.checked_add(2)?;
    for index in 0..usize::from(u16_at(directory)?) {
        let entry = entries.checked_add(index * ENTRY_LENGTH)?;
        let is_orientation =
            u16_at(entry)? == ORIENTATION_TAG && u16_at(entry + 2)? == TYPE_SHORT && u32_at(entry + 4)? == 1;
        if is_orientation {
            return u16_at(entry + 8);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UPSIDE_DOWN: Orientation = Orientation {
        flips_x: true,
        flips_y: true,
        swaps_axes: false,
    };

    #[test]
    fn both_byte_orders_are_read() {
        let big = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x03\0\0";
        let little = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x03\0\0\0";
        assert_eq!(Orientation::from_exif(big), UPSIDE_DOWN);
        assert_eq!(Orientation::from_exif(little), UPSIDE_DOWN);
    }

    #[test]
    fn other_tags_and_values_out_of_range_are_ignored() {
        let other_tag = b"II*\0\x08\0\0\0\x01\0\x13\x01\x03\0\x01\0\0\0\x03\0\0\0";
        let value_9 = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x09\0\0\0";
        for exif in [&other_tag[..], value_9, b"", b"II*\0\xFF\xFF\xFF\xFF"] {
            assert_eq!(Orientation::from_exif(exif), Orientation::default());
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..60), is_little_endian in any::<bool>()) {
            let magic: &[u8] = if is_little_endian { b"II*\0" } else { b"MM\0*" };
            Orientation::from_exif(&[magic, &bytes].concat());
        }
    }
}
