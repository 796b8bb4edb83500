//! Arrays of integers and bits, read in place from the bytes of a segment.
//!
//! Every read is checked and returns zero past the end. A segment with invalid content behind a valid
//! checksum can therefore give wrong results, but never causes a panic or a read out of bounds.

/// An array of little-endian `u32`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedU32s<'a>(pub &'a [u8]);

impl<'a> PackedU32s<'a> {
    /// Returns the number of elements.
    pub(crate) fn len(self) -> usize {
        self.0.len() / 4
    }

    /// Returns the element at `index`, or 0 past the end.
    #[inline]
    pub(crate) fn get(self, index: usize) -> u32 {
        match self.0.get(index * 4..index * 4 + 4) {
            Some(bytes) => u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            None => 0,
        }
    }

    /// Returns the elements `from..to`, as far as they exist.
    #[inline]
    pub(crate) fn slice(self, from: usize, to: usize) -> Self {
        let to = to.min(self.len());
        Self(self.0.get(from.min(to) * 4..to * 4).unwrap_or_default())
    }

    /// Iterates over the elements.
    pub(crate) fn iter(self) -> impl Iterator<Item = u32> + 'a {
        self.0
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Returns the index of the first element that is not less than `bound`. The array must be sorted.
    #[inline]
    pub(crate) fn lower_bound(self, bound: u32) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.get(middle) < bound {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns `true` if `value` is one of the elements. The array must be sorted.
    #[inline]
    pub(crate) fn contains(self, value: u32) -> bool {
        let index = self.lower_bound(value);
        index < self.len() && self.get(index) == value
    }
}

/// An array of little-endian `u16`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedU16s<'a>(pub &'a [u8]);

impl PackedU16s<'_> {
    /// Returns the element at `index`, or 0 past the end.
    #[inline]
    pub(crate) fn get(self, index: usize) -> u16 {
        match self.0.get(index * 2..index * 2 + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        }
    }
}

/// A set of documents with one bit per document of the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bitmap<'a>(pub &'a [u8]);

impl Bitmap<'_> {
    /// Returns `true` if the bit at `index` is set.
    #[inline]
    pub(crate) fn contains(self, index: u32) -> bool {
        self.0
            .get(index as usize / 8)
            .is_some_and(|byte| byte >> (index % 8) & 1 == 1)
    }
}

/// Returns the size of the bitmap of a segment with `documents` documents.
pub(crate) fn bitmap_bytes(documents: usize) -> usize {
    documents.div_ceil(64) * 8
}

/// Encodes integers as the bytes of a [`PackedU32s`].
pub(crate) fn pack_u32s(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let values = values.into_iter();
    let mut bytes = Vec::with_capacity(values.size_hint().0 * 4);
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Encodes a set of documents, out of `documents`, as the bytes of a [`Bitmap`].
pub(crate) fn pack_bitmap(set: impl Iterator<Item = u32>, documents: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; bitmap_bytes(documents)];
    for document in set {
        bytes[document as usize / 8] |= 1 << (document % 8);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_read_past_the_end_is_zero() {
        let bytes = pack_u32s([7, 9]);
        assert_eq!(
            (
                PackedU32s(&bytes).get(1),
                PackedU32s(&bytes).get(2),
                PackedU32s(&bytes).get(99)
            ),
            (9, 0, 0)
        );
        assert_eq!(PackedU16s(&[1]).get(0), 0);
        assert!(!Bitmap(&[]).contains(3));
    }

    proptest! {
        #[test]
        fn bitmaps_and_arrays_contain_the_packed_numbers(
            numbers in proptest::collection::btree_set(0u32..300, 0..50)
        ) {
            let bitmap = pack_bitmap(numbers.iter().copied(), 300);
            let array = pack_u32s(numbers.iter().copied());
            for number in 0..400 {
                prop_assert_eq!(Bitmap(&bitmap).contains(number), numbers.contains(&number));
                prop_assert_eq!(PackedU32s(&array).contains(number), numbers.contains(&number));
            }
        }
    }
}
