//! Differences between the provider and the ledger. Each stays listed until an operator explains it.

use platform::money::Cents;
use uuid::Uuid;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceKind {
    /// A charge names a donation of this store that does not exist.
    NoDonation,
    /// A charge has another amount, currency or mode than its donation.
    Amount,
    /// A second charge for one donation, which was refunded.
    SecondCharge,
    /// A balance transaction that belongs to nothing in the ledger.
    Unknown,
    /// A balance transaction whose amount or fee differs from its entry.
    Entry,
    /// An entry whose balance transaction does not exist.
    NoTransaction,
    /// The balance at the provider is not that of the books.
    Balance,
}

impl DifferenceKind {
    pub(crate) const ALL: [DifferenceKind; 7] = [
        DifferenceKind::NoDonation,
        DifferenceKind::Amount,
        DifferenceKind::SecondCharge,
        DifferenceKind::Unknown,
        DifferenceKind::Entry,
        DifferenceKind::NoTransaction,
        DifferenceKind::Balance,
    ];

    /// The name that is stored and printed.
    pub const fn as_str(self) -> &'static str {
        match self {
            DifferenceKind::NoDonation => "no donation",
            DifferenceKind::Amount => "other amount",
            DifferenceKind::SecondCharge => "second charge",
            DifferenceKind::Unknown => "unknown transaction",
            DifferenceKind::Entry => "other entry",
            DifferenceKind::NoTransaction => "no transaction",
            DifferenceKind::Balance => "balance",
        }
    }

    pub(crate) fn find(name: &str) -> Option<DifferenceKind> {
        DifferenceKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Something that the provider and the ledger say differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: DifferenceKind,
    /// The ID of the object at the provider.
    pub object: String,
    pub livemode: bool,
    pub donation: Option<Uuid>,
    pub amount: Cents,
    /// For the operator.
    pub detail: String,
}

/// A difference that is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDifference {
    pub difference: Difference,
    pub found_at: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in DifferenceKind::ALL {
            assert_eq!(DifferenceKind::find(kind.as_str()), Some(kind));
        }
        assert_eq!(DifferenceKind::find("none"), None);
    }
}
