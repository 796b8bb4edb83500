//! Random numbers that can be repeated with the same seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// A SplitMix64 generator.
pub struct Random(u64);

impl Random {
    /// Takes the seed from `CAUSEWAY_FAULT_SEED` or from the clock, and prints it.
    pub fn new() -> Random {
        let given = std::env::var("CAUSEWAY_FAULT_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| {
            let now = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .expect("the clock is after 1970");
            now.as_nanos() as u64
        });
        println!("the seed is CAUSEWAY_FAULT_SEED={seed}");
        Random(seed)
    }

    /// Another generator, for a thread of its own.
    pub fn fork(&mut self) -> Random {
        Random(self.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number less than `end`, which must not be zero.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
