//! Initials of names, such as "mfa" for "Museum of Fine Arts".
//!
//! The builder stores initials and the searcher looks them up; both use the definitions of this file. Only a
//! hash is stored: the searcher compares each hit with the words of the name, so that a collision costs time
//! but never gives a wrong hit.

use std::ops::RangeInclusive;

/// Number of letters that initials may have; organizations are not known by shorter or longer ones.
pub(crate) const INITIALS_LENGTHS: RangeInclusive<usize> = 3..=8;

/// Hashes initials with 32-bit FNV-1a.
pub(crate) fn hash_initials(letters: &str) -> u32 {
    letters.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
