//! Pagination of lists.

use serde::Serialize;
use utoipa::ToSchema;

/// One page of a list, and the size of the whole list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Pagination {
    /// Counted from 1.
    pub page: u64,
    /// The number of pages.
    pub pages: u64,
    pub page_size: u64,
    pub total_results: u64,
}

impl Pagination {
    /// Describes page `page` of a list of `total` elements.
    pub fn new(page: u64, page_size: u64, total: u64) -> Pagination {
        Pagination {
            page,
            pages: total.div_ceil(page_size),
            page_size,
            total_results: total,
        }
    }

    /// Returns the number of elements before the page.
    pub fn skipped(&self) -> u64 {
        (self.page - 1).saturating_mul(self.page_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_from_one_and_rounded_up() {
        assert_eq!(Pagination::new(1, 10, 0).pages, 0);
        assert_eq!(Pagination::new(1, 10, 10).pages, 1);
        assert_eq!(
            Pagination::new(2, 10, 11),
            Pagination {
                page: 2,
                pages: 2,
                page_size: 10,
                total_results: 11
            }
        );
        assert_eq!(Pagination::new(u64::MAX, 100, 11).skipped(), u64::MAX);
    }
}
