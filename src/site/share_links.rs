//! Links for sharing a page.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// The URL of a page, and a link that starts an email with it.
#[derive(Debug)]
pub struct ShareLinks {
    pub address: String,
    pub mail: String,
}

impl ShareLinks {
    pub fn new(title: &str, address: String) -> ShareLinks {
        let mut mail = String::with_capacity(32 + 2 * (title.len() + address.len()));
        for (name, text) in [("mailto:?subject=", title), ("&body=", &address)] {
            mail.push_str(name);
            mail.extend(utf8_percent_encode(text, NON_ALPHANUMERIC));
        }
        ShareLinks { address, mail }
    }
}
