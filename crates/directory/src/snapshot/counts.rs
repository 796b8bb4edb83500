//! How many nonprofits there are in the directory, and what is known about them.
//!
//! The snapshot holds the counts, and a view corrects them by its overlay, so nothing is scanned.

use crate::nonprofits::Nonprofit;

/// Counts of nonprofits. All but `nonprofits` are counts of some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that can be looked up.
    pub nonprofits: u64,
    pub with_website: u64,
    /// With a description that is not generated.
    pub with_description: u64,
    /// With a return.
    pub with_finances: u64,
    /// Those to which donations are tax-deductible.
    pub deductible: u64,
    /// Those whose tax exemption was revoked and not reinstated.
    pub revoked: u64,
    /// Those that are no longer in the IRS files.
    pub gone: u64,
}

const FIELDS: usize = 7;
/// The size of the counts in a snapshot.
pub const BYTES: usize = FIELDS * 8;

impl Counts {
    /// Returns the counts of a directory with only this nonprofit.
    pub fn of(nonprofit: &Nonprofit<'_>) -> Counts {
        Counts {
            nonprofits: 1,
            with_website: u64::from(nonprofit.website_url.is_some()),
            with_description: u64::from(nonprofit.own_description.is_some()),
            with_finances: u64::from(nonprofit.tax.latest_return.is_some()),
            deductible: u64::from(nonprofit.is_deductible()),
            revoked: u64::from(nonprofit.tax.is_revoked()),
            gone: u64::from(nonprofit.gone_at.is_some()),
        }
    }

    fn fields(self) -> [u64; FIELDS] {
        [
            self.nonprofits,
            self.with_website,
            self.with_description,
            self.with_finances,
            self.deductible,
            self.revoked,
            self.gone,
        ]
    }

    fn from_fields(fields: [u64; FIELDS]) -> Counts {
        let [
            nonprofits,
            with_website,
            with_description,
            with_finances,
            deductible,
            revoked,
            gone,
        ] = fields;
        Counts {
            nonprofits,
            with_website,
            with_description,
            with_finances,
            deductible,
            revoked,
            gone,
        }
    }

    /// Adds the counts of other nonprofits.
    #[must_use]
    pub fn plus(self, other: Counts) -> Counts {
        let (fields, other) = (self.fields(), other.fields());
        Counts::from_fields(std::array::from_fn(|at| fields[at] + other[at]))
    }

    /// Subtracts the counts of nonprofits that are among those counted.
    #[must_use]
    pub(crate) fn minus(self, other: Counts) -> Counts {
        let (fields, other) = (self.fields(), other.fields());
        Counts::from_fields(std::array::from_fn(|at| fields[at].saturating_sub(other[at])))
    }

    /// Returns the counts as they are written in a snapshot.
    pub fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        for (target, value) in bytes.chunks_exact_mut(8).zip(self.fields()) {
            target.copy_from_slice(&value.to_le_bytes());
        }
        bytes
    }

    /// Reads the counts of a snapshot.
    pub fn from_bytes(bytes: &[u8; BYTES]) -> Counts {
        let mut fields = [0; FIELDS];
        for (field, bytes) in fields.iter_mut().zip(bytes.chunks_exact(8)) {
            *field = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        }
        Counts::from_fields(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_read_as_they_were_written(fields in any::<[u64; FIELDS]>()) {
            let counts = Counts::from_fields(fields);
            prop_assert_eq!(Counts::from_bytes(&counts.to_bytes()), counts);
        }
    }
}
