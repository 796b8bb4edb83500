//! The way through a list of many pages.

use super::Frame;
use super::texts::{PublicTexts, fill};
use askama::Template;
use askama::filters::HtmlSafe;

/// Draws itself as a navigation; as nothing where there is one page.
#[derive(Clone, Debug, Template)]
#[template(path = "web/pager.html")]
pub struct Pager {
    p: &'static PublicTexts,
    address: String,
    page: u64,
    pages: u64,
}

impl HtmlSafe for Pager {}

impl Pager {
    /// `address` is the list's own, to which `page=2` can be appended.
    pub fn new(frame: &Frame, address: String, page: u64, pages: u64) -> Pager {
        Pager {
            p: frame.p,
            address,
            page,
            pages,
        }
    }

    fn here(&self) -> String {
        let (page, pages) = (self.page.to_string(), self.pages.to_string());
        fill(self.p.list.page, &[("page", &page), ("pages", &pages)])
    }
}
