//! Encoded sections on their way into a segment.

use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;

/// Sections with their content.
pub(super) type Sections = Vec<(Section, Vec<u8>)>;

/// Encodes the offsets of lists that are stored one after another, followed by the end of the last.
pub(crate) fn pack_offsets(lengths: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut end = 0u32;
    let ends = lengths.map(|length| {
        end += length as u32;
        end
    });
    pack_u32s(std::iter::once(0).chain(ends))
}
