//! Links for sharing a page.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The URL of a page, and a link that starts an email with it.
#[derive(Debug)]
pub struct ShareLinks {
    pub url: String,
    pub mailto: String,
}

impl ShareLinks {
    pub fn new(title: &str, url: String) -> ShareLinks {
        let mut mailto = String::with_capacity(32 + 2 * (title.len() + url.len()));
        for (name, text) in [("mailto:?subject=", title), ("&body=", &url)] {
            mailto.push_str(name);
            mailto.extend(utf8_percent_encode(text, NON_ALPHANUMERIC));
        }
        ShareLinks { url, mailto }
    }
}
