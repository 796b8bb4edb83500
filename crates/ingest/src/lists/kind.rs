//! Which list files there are.

/// A list file of the IRS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListKind {
    /// Organizations to which donations are deductible.
    Publication78,
    /// Organizations that lost their exemption because they filed no return for three years.
    Revocations,
    /// The notices that the smallest organizations file in place of a return.
    Epostcards,
}

impl ListKind {
    pub const ALL: [ListKind; 3] = [
        ListKind::Publication78,
        ListKind::Revocations,
        ListKind::Epostcards,
    ];

    /// Returns the name in commands and in the history of imports.
    pub const fn name(self) -> &'static str {
        match self {
            ListKind::Publication78 => "pub78",
            ListKind::Revocations => "revocations",
            ListKind::Epostcards => "990n",
        }
    }

    /// Returns the name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            ListKind::Publication78 => "Publication 78",
            ListKind::Revocations => "the automatic revocation list",
            ListKind::Epostcards => "the Form 990-N list",
        }
    }

    /// Returns the number of fields in each row.
    pub const fn fields(self) -> usize {
        match self {
            ListKind::Publication78 => 6,
            ListKind::Revocations => 12,
            ListKind::Epostcards => 26,
        }
    }

    /// Finds the list whose rows have this number of fields.
    pub(crate) fn with_fields(count: usize) -> Option<ListKind> {
        ListKind::ALL.into_iter().find(|kind| kind.fields() == count)
    }
}
