//! Incremental sorting: documents are sorted as far as they are read.
//!
//! Most passes fill the page after a few documents, so that sorting all of them would take longer than the pass.

use crate::search::prefilter::BATCH_SIZE;

/// Number of documents that are sorted together.
const PART_SIZE: usize = 8 * BATCH_SIZE;

/// Documents in any order, which are read in ascending order and each only once.
#[derive(Clone, Debug, Default)]
pub(crate) struct IncrementalSort {
    documents: Vec<u32>,
    /// The end of the part that is sorted; all other documents come after it.
    sorted: usize,
    /// The next document to read.
    next: usize,
}

impl IncrementalSort {
    /// Creates a sort of `documents`.
    pub(crate) fn new(documents: Vec<u32>) -> Self {
        Self {
            documents,
            sorted: 0,
            next: 0,
        }
    }

    /// Returns the number of documents, read or not, in which duplicates count.
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Returns `true` if all documents have been read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.next == self.documents.len()
    }

    /// Removes all documents and begins again with those that `add` appends.
    pub(crate) fn refill(&mut self, add: impl FnOnce(&mut Vec<u32>)) {
        self.documents.clear();
        (self.sorted, self.next) = (0, 0);
        add(&mut self.documents);
    }

    /// Fills `batch` with the next documents and returns their number: zero only at the end.
    pub(crate) fn read(&mut self, batch: &mut [u32; BATCH_SIZE]) -> usize {
        let mut count = 0;
        while count < BATCH_SIZE && !self.is_at_end() {
            if self.next == self.sorted {
                self.sort_next_part();
            }
            let document = self.documents[self.next];
            let is_duplicate = self.next > 0 && self.documents[self.next - 1] == document;
            batch[count] = document;
            count += usize::from(!is_duplicate);
            self.next += 1;
        }
        count
    }

    fn sort_next_part(&mut self) {
        let rest = &mut self.documents[self.sorted..];
        let count = PART_SIZE.min(rest.len());
        if count < rest.len() {
            rest.select_nth_unstable(count - 1);
        }
        rest[..count].sort_unstable();
        self.sorted += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn documents_are_read_in_order_and_once(
            documents in proptest::collection::vec(0u32..2_000, 0..3_000)
        ) {
            let mut expected = documents.clone();
            expected.sort_unstable();
            expected.dedup();
            let mut sort = IncrementalSort::new(documents);
            let (mut batch, mut read) = ([0; BATCH_SIZE], Vec::new());
            loop {
                let count = sort.read(&mut batch);
                if count == 0 {
                    break;
                }
                read.extend_from_slice(&batch[..count]);
            }
            prop_assert!(sort.is_at_end());
            prop_assert_eq!(read, expected);
        }
    }
}
