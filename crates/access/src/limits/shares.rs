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

use crate::limits::WINDOW_MICROS;
use std::hash::{BuildHasher, Hash};

const SLOTS: usize = 256;

/// Who calls, as far as fairness tells visitors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor(pub u8);

impl Visitor {
    /// The caller of a call that was let through before this process began, or that no address stands for. It has no share and waits for nothing.
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
pub struct Shares {
    slots: [Slot; SLOTS],
    /// The places of the visitors that have asked for anything, so that no call looks through all slots.
    active: Vec<u8>,
    /// All refusals that the slots count.
    refused: u64,
    /// When the count of refusals begins anew, and the one before it is forgotten.
    turn_at: u64,
    over_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    admitted: u32,
    refused: u32,
    refused_before: u32,
}

impl Slot {
    fn asked(self) -> u32 {
        self.admitted
            .saturating_add(self.refused)
            .saturating_add(self.refused_before)
    }

    /// The calls that this visitor is expected to make, as far as it does not hold them already.
    fn kept(self, share: u32) -> usize {
        let expected = share.min(self.asked().saturating_mul(2).saturating_add(1));
        expected.saturating_sub(self.admitted) as usize
    }
}

impl Shares {
    /// The shares of the calls that a window counts at `now`.
    pub fn of(callers: impl Iterator<Item = Visitor>, now: u64) -> Shares {
        let mut shares = Shares {
            slots: [Slot::default(); SLOTS],
            active: Vec::new(),
            refused: 0,
            turn_at: now + WINDOW_MICROS,
            over_at: now + 2 * WINDOW_MICROS,
        };
        callers.for_each(|visitor| shares.enter(visitor));
        shares
    }

    /// How many calls of a visitor would be let through, where `free` are left of the limit.
    pub fn room(&self, limit: usize, free: usize, visitor: Visitor) -> usize {
        if free == 0 || visitor == Visitor::UNKNOWN {
            return free;
        }
        let share = self.share(limit, visitor);
        let below_share = share.saturating_sub(self.slots[visitor.place()].admitted) as usize;
        let others = self.active.iter().filter(|place| **place != visitor.0);
        let kept = others
            .map(|place| self.slots[usize::from(*place)].kept(share))
            .sum();
        free.min(below_share.max(free.saturating_sub(kept)))
    }

    pub fn enter(&mut self, visitor: Visitor) {
        self.ask(visitor).admitted += 1;
    }

    pub fn leave(&mut self, visitor: Visitor) {
        let slot = &mut self.slots[visitor.place()];
        slot.admitted -= 1;
        if slot.asked() == 0 {
            self.active.retain(|place| *place != visitor.0);
        }
    }

    /// Notes a refusal. The key stays in want as long as more is asked of it than its limit.
    pub fn refuse(&mut self, visitor: Visitor, now: u64, counted: usize, limit: usize) {
        if now >= self.turn_at {
            self.turn(now);
        }
        let slot = self.ask(visitor);
        slot.refused = slot.refused.saturating_add(1);
        self.refused += 1;
        if counted as u64 + self.refused >= limit as u64 {
            self.over_at = now + 2 * WINDOW_MICROS;
        }
    }

    pub fn are_over(&self, now: u64) -> bool {
        now >= self.over_at
    }

    /// How many calls of a visitor have to leave before it is below its share.
    pub fn beyond_share(&self, limit: usize, visitor: Visitor) -> usize {
        let held = self.slots[visitor.place()].admitted;
        match visitor {
            Visitor::UNKNOWN => 0,
            _ => (held + 1).saturating_sub(self.share(limit, visitor)) as usize,
        }
    }

    /// The slot of a visitor who asks for something.
    fn ask(&mut self, visitor: Visitor) -> &mut Slot {
        let slot = &mut self.slots[visitor.place()];
        if slot.asked() == 0 && visitor != Visitor::UNKNOWN {
            self.active.push(visitor.0);
        }
        slot
    }

    /// Begins a new minute of refusals; those of the minute before still count.
    fn turn(&mut self, now: u64) {
        let is_recent = now < self.turn_at + WINDOW_MICROS;
        for slot in &mut self.slots {
            slot.refused_before = if is_recent { slot.refused } else { 0 };
            slot.refused = 0;
        }
        self.refused = self.slots.iter().map(|slot| u64::from(slot.refused_before)).sum();
        self.active
            .retain(|place| self.slots[usize::from(*place)].asked() > 0);
        self.turn_at = now + WINDOW_MICROS;
    }

    /// The calls of each visitor, this one among them. Where there are more visitors than calls, it is one.
    fn share(&self, limit: usize, visitor: Visitor) -> u32 {
        let is_new = self.slots[visitor.place()].asked() == 0;
        let visitors = self.active.len() + usize::from(is_new);
        u32::try_from(limit / visitors.max(1)).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests;
