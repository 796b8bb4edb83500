//! Chance that can be repeated: the same seed throws the same numbers on every machine.
//!
//! Only whole numbers are used. Logarithms and powers of the standard library may differ in their last bit
//! between systems, and one bit would be another file.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Scatters a number, the same way every time.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The rng of one row, which know nothing of the rows before it.
    pub fn for_row(seed: u64, row: u64) -> Rng {
        Rng(mix(mix(seed) ^ row.wrapping_mul(0xD134_2543_DE82_EF95)))
    }

    pub fn next_u64(&mut self) -> u64 {
        let thrown = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        thrown
    }

    /// A number below `bound`, which is above 0, each as likely as any other.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True in so many of ten thousand throws.
    pub fn chance(&mut self, in_ten_thousand: u64) -> bool {
        self.below(10_000) < in_ten_thousand
    }

    /// A place from 0 to below `places`, the front ones more often, as words of a language come (Zipf's law):
    /// every doubling of the place is as likely as the one before it. The first `even` are as likely as each other.
    pub fn rank(&mut self, places: u64, even: u64) -> u64 {
        let steps = places.div_ceil(even);
        let doublings = u64::from(u64::BITS - steps.leading_zeros());
        loop {
            let start = 1 << self.below(doublings);
            let step = start + self.below(start) - 1;
            let place = step * even + self.below(even);
            if place < places {
                return place;
            }
        }
    }

    /// One of these, each as likely as any other.
    pub fn choose<'a, T>(&mut self, entries: &'a [T]) -> &'a T {
        &entries[self.below(entries.len() as u64) as usize]
    }

    /// One of these, the front ones more often.
    pub fn choose_skewed<'a, T>(&mut self, entries: &'a [T]) -> &'a T {
        let places = entries.len() as u64;
        &entries[self.rank(places, (places / 16).max(1)) as usize]
    }

    /// An amount around two to the power of `size`, spread over many powers as money is: the count of ones among
    /// 64 coins is nearly normal, and each moves the amount by three quarters of a power of two.
    pub fn amount(&mut self, size: u8) -> i64 {
        let ones = i64::from(self.next_u64().count_ones()) - 32;
        let eighths = (i64::from(size) * 8 + ones * 6 + self.below(6) as i64 - 3).clamp(0, 40 * 8);
        let power = 1_i64 << (eighths / 8);
        power + power / 8 * (eighths % 8) + self.below(power as u64 / 8 + 1) as i64
    }
}

/// Entries that are drawn in proportion to their weights.
#[derive(Debug)]
pub struct Weighted<T> {
    entries: Vec<T>,
    /// For each entry the sum of the weights up to and with it.
    sums: Vec<u64>,
}

impl<T> Weighted<T> {
    pub fn new(entries: impl IntoIterator<Item = (u64, T)>) -> Weighted<T> {
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

    /// The first entry that fits, whatever its weight.
    pub fn find(&self, fits: impl Fn(&T) -> bool) -> Option<&T> {
        self.entries.iter().find(|entry| fits(entry))
    }

    pub fn draw(&self, rng: &mut Rng) -> &T {
        let thrown = rng.below(self.sums[self.sums.len() - 1]);
        &self.entries[self.sums.partition_point(|sum| *sum <= thrown)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_row_of_the_same_seed_throws_the_same() {
        let mut one = Rng::for_row(7, 3);
        let mut two = Rng::for_row(7, 3);
        assert!((0..100).all(|_| one.next_u64() == two.next_u64()));
        assert_ne!(Rng::for_row(7, 3).next_u64(), Rng::for_row(7, 4).next_u64());
        assert_ne!(Rng::for_row(7, 3).next_u64(), Rng::for_row(8, 3).next_u64());
    }

    #[test]
    fn ranks_fall_as_their_place_rises_and_reach_the_last() {
        let mut rng = Rng::for_row(1, 1);
        let mut seen = [0; 100];
        for _ in 0..100_000 {
            seen[rng.rank(100, 1) as usize] += 1;
        }
        assert!(seen.iter().all(|count| *count > 0));
        assert!(seen[0] > seen[5] && seen[5] > seen[20] && seen[20] > seen[90]);
    }

    #[test]
    fn half_of_all_amounts_lie_below_their_size() {
        let mut rng = Rng::for_row(1, 1);
        let below = (0..10_000).filter(|_| rng.amount(17) < 1 << 17).count();
        assert!((4_000..6_000).contains(&below), "{below}");
    }

    #[test]
    fn weights_decide_how_often_an_entry_comes() {
        let weighted = Weighted::new([(1, "rare"), (0, "never"), (9, "often")]);
        let mut rng = Rng::for_row(1, 1);
        let drawn: Vec<_> = (0..10_000).map(|_| *weighted.draw(&mut rng)).collect();
        assert!(!drawn.contains(&"never"));
        let rare = drawn.iter().filter(|entry| **entry == "rare").count();
        assert!((800..1200).contains(&rare), "{rare}");
    }
}
