//! Sets of causes.

/// A set of causes: bit n stands for the n-th cause of the list it was made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CauseSet(u128);

impl CauseSet {
    /// The number of causes that a set can hold.
    pub const CAPACITY: usize = u128::BITS as usize;

    /// The set as it is stored.
    #[inline]
    pub const fn bits(self) -> u128 {
        self.0
    }

    /// A stored set.
    #[inline]
    pub const fn from_bits(bits: u128) -> CauseSet {
        CauseSet(bits)
    }

    /// Adds the cause at this place of the list.
    #[inline]
    pub const fn insert(&mut self, place: usize) {
        self.0 |= 1 << place;
    }

    /// Is the cause at this place in the set?
    #[inline]
    pub const fn contains(self, place: usize) -> bool {
        self.0 >> place & 1 == 1
    }

    /// All causes of both.
    #[inline]
    #[must_use]
    pub const fn union(self, other: CauseSet) -> CauseSet {
        CauseSet(self.0 | other.0)
    }

    /// Do the sets share a cause?
    #[inline]
    pub const fn intersects(self, other: CauseSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Is there none?
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The places of its causes, in the order of the list.
    #[inline]
    pub fn positions(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let place = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_set_holds_what_was_put_in(places in proptest::collection::btree_set(0..CauseSet::CAPACITY, 0..20)) {
            let mut set = CauseSet::default();
            for &place in &places {
                set.insert(place);
            }
            prop_assert_eq!(set.positions().collect::<Vec<_>>(), places.into_iter().collect::<Vec<_>>());
            prop_assert_eq!(CauseSet::from_bits(set.bits()), set);
        }
    }
}
