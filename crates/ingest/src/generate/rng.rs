//! A random number generator that returns the same numbers for the same seed on every machine.
//!
//! All computations use integers, because floating-point functions of the standard library may differ in the last bit
//! between systems.

/// A SplitMix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The mixing function of SplitMix64.
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// Creates the generator of a row. It does not depend on other rows.
    pub(crate) fn for_row(seed: u64, row: u64) -> Rng {
        Rng(mix(mix(seed) ^ row.wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    /// Returns the next 64 random bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        let value = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        value
    }

    /// Returns a uniformly distributed number below `bound`, which must be positive.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns `true` with a probability of `per_ten_thousand` / 10,000.
    pub(crate) fn chance(&mut self, per_ten_thousand: u64) -> bool {
        self.below(10_000) < per_ten_thousand
    }

    /// Returns a rank below `count` that follows Zipf's law, like the frequency of words: each doubling of the rank is as
    /// likely as the one before. The first `uniform` ranks are equally likely.
    pub(super) fn rank(&mut self, count: u64, uniform: u64) -> u64 {
        let steps = count.div_ceil(uniform);
        let doublings = u64::from(u64::BITS - steps.leading_zeros());
        loop {
            let start = 1 << self.below(doublings);
            let step = start + self.below(start) - 1;
            let rank = step * uniform + self.below(uniform);
            if rank < count {
                return rank;
            }
        }
    }

    /// Chooses an entry uniformly.
    pub(super) fn choose<'a, T>(&mut self, entries: &'a [T]) -> &'a T {
        &entries[self.below(entries.len() as u64) as usize]
    }

    /// Chooses an entry by [`rank`](Rng::rank): the first entries are the most likely.
    pub(crate) fn choose_skewed<'a, T>(&mut self, entries: &'a [T]) -> &'a T {
        let count = entries.len() as u64;
        &entries[self.rank(count, (count / 16).max(1)) as usize]
    }

    /// Returns an amount around two to the power of `size`, with a nearly log-normal distribution.
    ///
    /// The number of ones among 64 random bits is nearly normal, and each one counts three quarters of a power of two.
    pub(super) fn amount(&mut self, size: u8) -> i64 {
        let ones = i64::from(self.next_u64().count_ones()) - 32;
        let eighths = (i64::from(size) * 8 + ones * 6 + self.below(6) as i64 - 3).clamp(0, 40 * 8);
        let power = 1_i64 << (eighths / 8);
        power + power / 8 * (eighths % 8) + self.below(power as u64 / 8 + 1) as i64
    }
}

/// Entries that are chosen in proportion to their weights.
#[derive(Debug)]
pub(super) struct Weighted<T> {
    entries: Vec<T>,
    /// The cumulative weight up to and including each entry.
    sums: Vec<u64>,
}

impl<T> Weighted<T> {
    pub(super) fn new(entries: impl IntoIterator<Item = (u64, T)>) -> Weighted<T> {
        let mut sum = 0;
        let (sums, entries) = entries
            .into_iter()
            .map(|(weight, entry)| {
                sum += weight;
                (sum, entry)
            })
            .unzip();
        Weighted { entries, sums }
    }

    /// Returns the first entry that satisfies a condition.
    pub(super) fn find(&self, matches: impl Fn(&T) -> bool) -> Option<&T> {
        self.entries.iter().find(|entry| matches(entry))
    }

    /// Chooses an entry.
    pub(super) fn choose(&self, rng: &mut Rng) -> &T {
        let value = rng.below(self.sums[self.sums.len() - 1]);
        &self.entries[self.sums.partition_point(|sum| *sum <= value)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_row_return_the_same_numbers() {
        let mut one = Rng::for_row(7, 3);
        let mut two = Rng::for_row(7, 3);
        assert!((0..100).all(|_| one.next_u64() == two.next_u64()));
        assert_ne!(Rng::for_row(7, 3).next_u64(), Rng::for_row(7, 4).next_u64());
        assert_ne!(Rng::for_row(7, 3).next_u64(), Rng::for_row(8, 3).next_u64());
    }

    #[test]
    fn low_ranks_are_more_likely_and_all_ranks_occur() {
        let mut rng = Rng::for_row(1, 1);
        let mut counts = [0; 100];
        for _ in 0..100_000 {
            counts[rng.rank(100, 1) as usize] += 1;
        }
        assert!(counts.iter().all(|count| *count > 0));
        assert!(counts[0] > counts[5] && counts[5] > counts[20] && counts[20] > counts[90]);
    }

    #[test]
    fn the_size_is_the_median_amount() {
        let mut rng = Rng::for_row(1, 1);
        let below = (0..10_000).filter(|_| rng.amount(17) < 1 << 17).count();
        assert!((4_000..6_000).contains(&below), "{below}");
    }

    #[test]
    fn weights_determine_how_often_an_entry_is_chosen() {
        let weighted = Weighted::new([(1, "rare"), (0, "never"), (9, "often")]);
        let mut rng = Rng::for_row(1, 1);
        let chosen: Vec<_> = (0..10_000).map(|_| *weighted.choose(&mut rng)).collect();
        assert!(!chosen.contains(&"never"));
        let rare = chosen.iter().filter(|entry| **entry == "rare").count();
        assert!((800..1200).contains(&rare), "{rare}");
    }
}
