//! Which file a fact comes from.

/// A file of an import: the revision of the import and the position of the file in it, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId {
    pub revision: i64,
    pub position: u16,
}

impl SourceId {
    /// Reads the number in the columns `source`.
    pub const fn from_number(number: i64) -> SourceId {
        SourceId {
            revision: number >> 16,
            position: (number & 0xffff) as u16,
        }
    }

    /// Returns the number for the columns `source`.
    pub const fn number(self) -> i64 {
        self.revision << 16 | self.position as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_source_is_read_as_it_was_written(revision in 0..i64::MAX >> 16, position in any::<u16>()) {
            let source = SourceId { revision, position };
            prop_assert_eq!(SourceId::from_number(source.number()), source);
        }
    }
}
