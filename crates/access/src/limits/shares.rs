//! Fair sharing of the limit of one key between visitors. A public key appears in a web page, and one visitor must not
//! use it up for the others.
//!
//! Sharing starts with the first refused call and ends when demand has stayed below the limit for two minutes. Until
//! then, only the limit of the key applies. While sharing is in effect, each IP address (or IPv6 /64) that has called
//! gets a share: the limit divided by the number of visitors. A visitor below its share is admitted as long as the key has
//! calls left. A visitor that has used its share gets only calls that are not reserved for the others. For each of
//! them, twice its recent demand plus one call is reserved, up to its share.
//!
//! As a result, a visitor that is alone has the whole limit, the limit is never exceeded, and a visitor that stays
//! below its share is served however much the others call.
//!
//! Visitors are hashed to 255 slots with a secret of the process, which bounds the memory per key.

use crate::limits::WINDOW_MICROS;
use std::hash::{BuildHasher, Hash};

const SLOTS: usize = 256;

/// The slot of a caller. Two callers may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visitor(pub u8);

impl Visitor {
    /// The caller of restored calls and of calls without an IP address. Only the limit of the key applies to it.
    pub const UNKNOWN: Visitor = Visitor(0);

    /// Returns the visitor with an IP address or another identifier.
    pub fn of(address: &impl Hash, secret: &impl BuildHasher) -> Visitor {
        Visitor((secret.hash_one(address) % (SLOTS as u64 - 1)) as u8 + 1)
    }

    fn index(self) -> usize {
        self.0.into()
    }
}

/// The admitted and refused calls of each visitor.
#[derive(Debug)]
pub struct Shares {
    slots: [Slot; SLOTS],
    /// The slots of the visitors with recent calls, so that no call has to search all slots.
    active: Vec<u8>,
    /// The sum of the refused calls in all slots.
    refused: u64,
    /// When the next period for counting refused calls starts.
    rotate_at: u64,
    /// When sharing ends.
    end_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    admitted: u32,
    /// In the current period.
    refused: u32,
    /// In the period before.
    refused_before: u32,
}

impl Slot {
    fn demand(self) -> u32 {
        self.admitted
            .saturating_add(self.refused)
            .saturating_add(self.refused_before)
    }

    /// Returns the number of calls to reserve for this visitor.
    fn reserved(self, share: u32) -> usize {
        let expected = share.min(self.demand().saturating_mul(2).saturating_add(1));
        expected.saturating_sub(self.admitted) as usize
    }
}

impl Shares {
    /// Creates the shares from the calls in a window at `now`.
    pub fn of(callers: impl Iterator<Item = Visitor>, now: u64) -> Shares {
        let mut shares = Shares {
            slots: [Slot::default(); SLOTS],
            active: Vec::new(),
            refused: 0,
            rotate_at: now + WINDOW_MICROS,
            end_at: now + 2 * WINDOW_MICROS,
        };
        callers.for_each(|visitor| shares.add(visitor));
        shares
    }

    /// Returns the number of calls that a visitor may make, if `free` calls are left of the limit.
    pub fn available(&self, limit: usize, free: usize, visitor: Visitor) -> usize {
        if free == 0 || visitor == Visitor::UNKNOWN {
            return free;
        }
        let share = self.share(limit, visitor);
        let below_share = share.saturating_sub(self.slots[visitor.index()].admitted) as usize;
        let others = self.active.iter().filter(|slot| **slot != visitor.0);
        let reserved = others
            .map(|slot| self.slots[usize::from(*slot)].reserved(share))
            .sum();
        free.min(below_share.max(free.saturating_sub(reserved)))
    }

    /// Adds a call that was admitted to the window.
    pub fn add(&mut self, visitor: Visitor) {
        self.activate(visitor).admitted += 1;
    }

    /// Removes a call that has left the window.
    pub fn remove(&mut self, visitor: Visitor) {
        let slot = &mut self.slots[visitor.index()];
        slot.admitted -= 1;
        if slot.demand() == 0 {
            self.active.retain(|slot| *slot != visitor.0);
        }
    }

    /// Counts a refused call. Sharing goes on as long as demand exceeds the limit.
    pub fn refuse(&mut self, visitor: Visitor, now: u64, counted: usize, limit: usize) {
        if now >= self.rotate_at {
            self.rotate(now);
        }
        let slot = self.activate(visitor);
        slot.refused = slot.refused.saturating_add(1);
        self.refused += 1;
        if counted as u64 + self.refused >= limit as u64 {
            self.end_at = now + 2 * WINDOW_MICROS;
        }
    }

    pub fn have_ended(&self, now: u64) -> bool {
        now >= self.end_at
    }

    /// Returns the number of calls of a visitor that have to leave the window before it is below its share.
    pub fn excess(&self, limit: usize, visitor: Visitor) -> usize {
        let admitted = self.slots[visitor.index()].admitted;
        match visitor {
            Visitor::UNKNOWN => 0,
            _ => (admitted + 1).saturating_sub(self.share(limit, visitor)) as usize,
        }
    }

    /// Returns the slot of a visitor, and marks it as active.
    fn activate(&mut self, visitor: Visitor) -> &mut Slot {
        let slot = &mut self.slots[visitor.index()];
        if slot.demand() == 0 && visitor != Visitor::UNKNOWN {
            self.active.push(visitor.0);
        }
        slot
    }

    /// Starts a new period for counting refused calls. Those of the period before still count.
    fn rotate(&mut self, now: u64) {
        let is_recent = now < self.rotate_at + WINDOW_MICROS;
        for slot in &mut self.slots {
            slot.refused_before = if is_recent { slot.refused } else { 0 };
            slot.refused = 0;
        }
        self.refused = self.slots.iter().map(|slot| u64::from(slot.refused_before)).sum();
        self.active
            .retain(|slot| self.slots[usize::from(*slot)].demand() > 0);
        self.rotate_at = now + WINDOW_MICROS;
    }

    /// Returns the share of each visitor, including this one. It is at least one call.
    fn share(&self, limit: usize, visitor: Visitor) -> u32 {
        let is_new = self.slots[visitor.index()].demand() == 0;
        let visitors = self.active.len() + usize::from(is_new);
        u32::try_from(limit / visitors.max(1)).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
mod tests;
