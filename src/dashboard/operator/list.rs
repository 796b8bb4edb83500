//! Lists on the operator pages, page by page.

use crate::http::params;
use crate::web::Layout;
use crate::web::pager::Pager;
use crate::web::relative_time::RelativeTime;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write;

/// Rows per page of a list.
pub const PAGE_SIZE: i64 = 50;

/// The page of a list that is shown. A page number past the end shows the last page.
#[derive(Clone, Copy, Debug)]
pub struct ListPage {
    page: i64,
    pages: i64,
}

impl ListPage {
    pub fn parse(query: Option<&str>, count: i64) -> ListPage {
        let pages = (count + PAGE_SIZE - 1) / PAGE_SIZE;
        let page = params::values(query.unwrap_or_default(), "page").next();
        let page = page.and_then(|page| page.parse().ok()).unwrap_or(1);
        ListPage {
            page: i64::clamp(page, 1, pages.max(1)),
            pages,
        }
    }

    pub fn skipped(self) -> i64 {
        (self.page - 1) * PAGE_SIZE
    }

    /// Returns the links to the other pages, which keep the parameters that are not empty.
    pub fn pager(self, layout: &Layout, path: &str, parameters: &[(&str, &str)]) -> Pager {
        let mut url = format!("{path}?");
        for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
            // Writing to a String cannot fail.
            let _ = write!(url, "{name}={}&", utf8_percent_encode(value, NON_ALPHANUMERIC));
        }
        Pager::new(layout, url, self.page as u64, self.pages as u64)
    }
}

/// Adds the time of each row, relative to now.
pub fn with_times<T>(
    rows: impl Iterator<Item = T>,
    now: i64,
    at: impl Fn(&T) -> i64,
) -> Vec<(T, RelativeTime)> {
    rows.map(|row| {
        let time = RelativeTime::new(at(&row), now);
        (row, time)
    })
    .collect()
}

/// Returns the first value of a parameter, trimmed.
pub fn parameter(query: Option<&str>, name: &'static str) -> String {
    let value = params::values(query.unwrap_or_default(), name).next();
    value.unwrap_or_default().trim().replace('\0', "")
}
