//! Entries of the name list: a document and one of its names in 32 bits.
//!
//! The document is in the high bits. Documents are numbered by prominence, so that a smaller entry is a more
//! prominent name.

/// Bits of an entry that hold the index of the name.
const NAME_BITS: u32 = 3;

/// Maximum number of documents in a segment; with more, entries would not fit into 32 bits.
pub(crate) const MAX_DOCUMENTS: u32 = 1 << 28;

/// Returns the entry for name `name` of `document`.
pub(crate) fn pack(document: u32, name: usize) -> u32 {
    document << NAME_BITS | name as u32
}

/// Returns the document of an entry.
#[inline]
pub(crate) fn document(entry: u32) -> u32 {
    entry >> NAME_BITS
}

/// Returns the index of the name among those of its document.
#[inline]
pub(crate) fn name(entry: u32) -> usize {
    (entry & ((1 << NAME_BITS) - 1)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_holds_document_and_name() {
        let entry = pack(18_000_000, 5);
        assert_eq!((document(entry), name(entry)), (18_000_000, 5));
    }
}
