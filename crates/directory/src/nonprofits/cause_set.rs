//! Sets of causes.

/// A set of causes. Bit n is the n-th cause of the [list](super::causes::Causes::list).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CauseSet(u128);

impl CauseSet {
    /// The largest number of causes.
    pub const CAPACITY: usize = u128::BITS as usize;

    /// Returns the bits, as they are stored.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// Creates a set from stored bits.
    #[inline]
    pub const fn from_bits(bits: u128) -> CauseSet {
        CauseSet(bits)
    }

    /// Adds the cause at a position of the list.
    #[inline]
    pub const fn insert(&mut self, position: usize) {
        self.0 |= 1 << position;
    }

    /// Returns whether the set contains the cause at a position of the list.
    #[inline]
    pub const fn contains(self, position: usize) -> bool {
        self.0 >> position & 1 == 1
    }

    /// Returns the causes of both sets.
    #[inline]
    #[must_use]
    pub const fn union(self, other: CauseSet) -> CauseSet {
        CauseSet(self.0 | other.0)
    }

    /// Returns the causes of this set that are not in the other.
    #[inline]
    #[must_use]
    pub const fn without(self, other: CauseSet) -> CauseSet {
        CauseSet(self.0 & !other.0)
    }

    /// Returns whether the sets have a cause in common.
    #[inline]
    pub(crate) const fn intersects(self, other: CauseSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the positions of the causes, in ascending order.
    #[inline]
    pub fn positions(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let position = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_contains_the_inserted_causes(positions in proptest::collection::btree_set(0..CauseSet::CAPACITY, 0..20)) {
            let mut set = CauseSet::default();
            for &position in &positions {
                set.insert(position);
            }
            prop_assert_eq!(set.positions().collect::<Vec<_>>(), positions.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(CauseSet::from_bits(set.bits()), set);
        }
    }
}
