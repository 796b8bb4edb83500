//! Links to the previous and next page of a list.

use super::Layout;
use super::texts::{PublicTexts, fill};
use askama::Template;
use askama::filters::HtmlSafe;

/// Renders as a `<nav>` element, or as nothing if the list has only one page.
#[derive(Clone, Debug, Template)]
#[template(path = "web/pager.html")]
pub struct Pager {
    p: &'static PublicTexts,
    url: String,
    page: u64,
    pages: u64,
}

impl HtmlSafe for Pager {}

impl Pager {
    /// Creates a pager. `url` ends with `?` or `&`, so that `page=2` can be appended.
    pub fn new(layout: &Layout, url: String, page: u64, pages: u64) -> Pager {
        Pager {
            p: layout.p,
            url,
            page,
            pages,
        }
    }

    fn current_page(&self) -> String {
        let (page, pages) = (self.page.to_string(), self.pages.to_string());
        fill(self.p.list.page, &[("page", &page), ("pages", &pages)])
    }
}
