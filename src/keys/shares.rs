//! Fairness inside one key: a public key stands in a web page, and one visitor must not use it up for the others.
//!
//! The rule: as long as a key's limit suffices, it is all there is. Once calls were turned away, and until the key
//! has not been asked for more than its limit for two minutes, each address (an IPv6 /64 is one) that called in
//! that time has a share, the limit divided by their number. An address below its share is let through as long as
//! the key has any call left. One that has its share gets more only from what the others are not expected to
//! use: for each of them as many calls are kept as it asked for lately, twice over and one more, up to its
//! share. So an address that is alone has the whole limit to the last call, the limit is never exceeded, and
//! one that asks for less than its share is served however hard the others press.
//!
//! Addresses are told apart by 255 slots under a secret of the process, so the memory for a key is bounded.

use super::limit::WINDOW;
use std::hash::{BuildHasher, Hash};

const SLOTS: usize = 256;

/// Who calls, as far as fairness tells visitors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor(pub(super) u8);

impl Visitor {
    /// The caller of a call that was let through before this process began. It has no share and waits for nothing.
    pub const UNKNOWN: Visitor = Visitor(0);

    /// The visitor behind an address, or whatever else tells callers apart.
    pub fn of(address: &impl Hash, secret: &impl BuildHasher) -> Visitor {
        Visitor((secret.hash_one(address) % (SLOTS as u64 - 1)) as u8 + 1)
    }

    fn place(self) -> usize {
        self.0.into()
    }
}

/// What each visitor holds of a window, and how often it was turned away lately.
#[derive(Debug)]
pub(super) struct Shares {
    admitted: [u32; SLOTS],
    refused: [u32; SLOTS],
    refused_before: [u32; SLOTS],
    /// When the count of refusals begins anew, and the one before it is forgotten.
    turn_at: u64,
    over_at: u64,
}

impl Shares {
    /// The shares of the calls that a window counts at `now`.
    pub fn of(callers: impl Iterator<Item = Visitor>, now: u64) -> Shares {
        let mut shares = Shares {
            admitted: [0; SLOTS],
            refused: [0; SLOTS],
            refused_before: [0; SLOTS],
            turn_at: now + WINDOW,
            over_at: now + 2 * WINDOW,
        };
        callers.for_each(|visitor| shares.enter(visitor));
        shares
    }

    /// How many calls of a visitor would be let through, where `free` are left of the limit.
    pub fn room(&self, limit: usize, free: usize, visitor: Visitor) -> usize {
        if visitor == Visitor::UNKNOWN {
            return free;
        }
        let share = self.share(limit, visitor);
        let below_share = share.saturating_sub(self.admitted[visitor.place()]) as usize;
        let unclaimed = free.saturating_sub(self.kept_from(visitor, share));
        free.min(below_share.max(unclaimed))
    }

    pub fn enter(&mut self, visitor: Visitor) {
        self.admitted[visitor.place()] += 1;
    }

    pub fn leave(&mut self, visitor: Visitor) {
        self.admitted[visitor.place()] -= 1;
    }

    /// Notes a refusal. The key stays in want as long as more is asked of it than its limit.
    pub fn refuse(&mut self, visitor: Visitor, now: u64, counted: usize, limit: usize) {
        if now >= self.turn_at {
            let is_recent = now < self.turn_at + WINDOW;
            self.refused_before = if is_recent { self.refused } else { [0; SLOTS] };
            self.refused = [0; SLOTS];
            self.turn_at = now + WINDOW;
        }
        let refused = &mut self.refused[visitor.place()];
        *refused = refused.saturating_add(1);
        let turned_away = self.refused.iter().chain(&self.refused_before);
        let asked = counted as u64 + turned_away.map(|count| u64::from(*count)).sum::<u64>();
        if asked >= limit as u64 {
            self.over_at = now + 2 * WINDOW;
        }
    }

    pub fn are_over(&self, now: u64) -> bool {
        now >= self.over_at
    }

    /// How many calls of a visitor have to leave before it is below its share.
    pub fn beyond_share(&self, limit: usize, visitor: Visitor) -> usize {
        let held = self.admitted[visitor.place()];
        match visitor {
            Visitor::UNKNOWN => 0,
            _ => (held + 1).saturating_sub(self.share(limit, visitor)) as usize,
        }
    }

    /// The calls of each visitor, this one among them. Where there are more visitors than calls, it is one.
    fn share(&self, limit: usize, visitor: Visitor) -> u32 {
        let others = (1..SLOTS)
            .filter(|place| (self.asked(*place) > 0) & (*place != visitor.place()))
            .count();
        u32::try_from(limit / (others + 1)).unwrap_or(u32::MAX).max(1)
    }

    /// The calls that the others are expected to make, as far as they do not hold them already.
    fn kept_from(&self, visitor: Visitor, share: u32) -> usize {
        (1..SLOTS)
            .filter(|place| (self.asked(*place) > 0) & (*place != visitor.place()))
            .map(|place| {
                let expected = share.min(self.asked(place).saturating_mul(2).saturating_add(1));
                expected.saturating_sub(self.admitted[place]) as usize
            })
            .sum()
    }

    fn asked(&self, place: usize) -> u32 {
        self.admitted[place]
            .saturating_add(self.refused[place])
            .saturating_add(self.refused_before[place])
    }
}

#[cfg(test)]
mod tests;
