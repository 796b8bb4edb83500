//! The size of a nonprofit by its yearly revenue, for filters.

use super::Nonprofit;

/// A range of yearly revenue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Under $100,000.
    Tiny,
    /// From $100,000 to under $1 million.
    Small,
    /// From $1 million to under $10 million.
    Medium,
    /// From $10 million to under $100 million.
    Large,
    /// $100 million or more.
    Huge,
}

impl Size {
    /// All sizes, the smallest first.
    pub const ALL: [Size; 5] = [Size::Tiny, Size::Small, Size::Medium, Size::Large, Size::Huge];

    /// Returns the size of a nonprofit, or `None` if nothing is known about its revenue.
    ///
    /// A nonprofit that files Form 990-N states only that its gross receipts are small.
    pub fn of(nonprofit: &Nonprofit<'_>) -> Option<Size> {
        let is_small = || {
            nonprofit
                .tax
                .epostcard
                .is_some_and(|epostcard| epostcard.has_small_receipts)
        };
        match nonprofit.revenue() {
            Some(revenue) => Some(Size::of_revenue(revenue)),
            None => is_small().then_some(Size::Tiny),
        }
    }

    fn of_revenue(dollars: i64) -> Size {
        match dollars {
            ..100_000 => Size::Tiny,
            100_000..1_000_000 => Size::Small,
            1_000_000..10_000_000 => Size::Medium,
            10_000_000..100_000_000 => Size::Large,
            100_000_000.. => Size::Huge,
        }
    }

    /// Returns the name in URLs and labels.
    pub const fn name(self) -> &'static str {
        match self {
            Size::Tiny => "under-100k",
            Size::Small => "100k-1m",
            Size::Medium => "1m-10m",
            Size::Large => "10m-100m",
            Size::Huge => "over-100m",
        }
    }

    /// Finds a size by its name.
    pub fn find(name: &str) -> Option<Size> {
        Size::ALL.into_iter().find(|size| size.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revenue_has_one_size() {
        for (dollars, size) in [
            (-5, Size::Tiny),
            (99_999, Size::Tiny),
            (100_000, Size::Small),
            (999_999, Size::Small),
            (1_000_000, Size::Medium),
            (99_999_999, Size::Large),
            (100_000_000, Size::Huge),
        ] {
            assert_eq!(Size::of_revenue(dollars), size, "{dollars}");
        }
        for size in Size::ALL {
            assert_eq!(Size::find(size.name()), Some(size));
        }
        assert_eq!(Size::find("huge"), None);
    }
}
