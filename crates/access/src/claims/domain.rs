//! The domain of the website that a nonprofit filed, and what it proves.
//!
//! Domains are compared as ASCII, so a look-alike in another script is another domain. Only the exact host counts: who has
//! `parent.org` does not speak for `chapter.parent.org`, nor the other way around.

use crate::origins::Origin;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Domains on which many people have pages or mailboxes, one per line.
static SHARED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let file = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/shared-domains.txt"
    ));
    let lines = file.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
});

/// The domain of a filed website.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiledDomain {
    /// Without `www.`.
    host: String,
    /// Whether the website is only a page below the domain, such as that of a chapter.
    is_page: bool,
}

impl FiledDomain {
    /// Returns the domain of a filed website. Returns `None` if it proves nothing: an address, a name in another script, or a
    /// service on which many have a page or a mailbox.
    pub fn of_website(url: &str) -> Option<FiledDomain> {
        let (_, rest) = url.split_once("://")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.split(':').next()?.to_ascii_lowercase();
        let host = host.strip_suffix('.').unwrap_or(&host);
        let host = host.strip_prefix("www.").unwrap_or(host);
        Origin::parse(&format!("https://{host}")).ok()?;
        let is_shared = host
            .match_indices('.')
            .map(|(at, _)| &host[at + 1..])
            .chain([host])
            .any(|suffix| SHARED.contains(suffix));
        let path = path.to_ascii_lowercase();
        let is_home = matches!(
            path.as_str(),
            "" | "/" | "/index.html" | "/index.htm" | "/index.php" | "/home"
        );
        (!is_shared && host != "localhost").then(|| FiledDomain {
            host: host.to_owned(),
            is_page: !is_home,
        })
    }

    pub fn as_str(&self) -> &str {
        &self.host
    }

    /// Returns whether the nonprofit is only one of those on the domain.
    pub fn is_page(&self) -> bool {
        self.is_page
    }

    /// Returns whether many people who do not act for the nonprofit have an address there, such as students.
    pub(crate) fn has_many_mailboxes(&self) -> bool {
        self.host.rsplit('.').next() == Some("edu")
    }

    /// Returns the origin at which the token is looked for.
    pub fn origin(&self) -> Option<Origin> {
        Origin::parse(&format!("https://{}", self.host)).ok()
    }

    /// Returns whether an email address is at the domain. It is normalized, so its domain is in ASCII.
    pub fn has_mailbox(&self, normalized: &str) -> bool {
        normalized
            .rsplit_once('@')
            .is_some_and(|(_, domain)| domain == self.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domain(url: &str) -> Option<(String, bool)> {
        FiledDomain::of_website(url).map(|domain| (domain.host, domain.is_page))
    }

    #[test]
    fn the_domain_of_a_website_is_its_host_without_www() {
        for (url, host, is_page) in [
            ("https://www.Food.example", "food.example", false),
            ("http://food.example/", "food.example", false),
            ("http://food.example:80/index.html", "food.example", false),
            ("https://chapter.food.example", "chapter.food.example", false),
            ("https://food.example/chapters/nh", "food.example", true),
            ("https://food.example?chapter=nh", "food.example", true),
        ] {
            assert_eq!(domain(url), Some((host.to_owned(), is_page)), "{url}");
        }
    }

    #[test]
    fn a_domain_that_many_share_proves_nothing() {
        for url in [
            "https://www.facebook.com/food",
            "https://m.facebook.com/food",
            "https://food.wixsite.com/home",
            "https://sites.google.com/view/food",
            "https://gmail.com",
            "http://www.yahoo.com/",
            "https://food.github.io",
            "https://127.0.0.1",
            "https://localhost",
            "https://fööd.example",
            "https://food。example",
            "food.example",
            "",
        ] {
            assert_eq!(domain(url), None, "{url}");
        }
    }

    #[test]
    fn only_addresses_at_the_exact_domain_count() {
        let domain = FiledDomain::of_website("https://www.food.example").unwrap();
        assert!(domain.has_mailbox("ada@food.example"));
        for other in [
            "ada@www.food.example",
            "ada@mail.food.example",
            "ada@notfood.example",
            "ada@food.example.evil.example",
            "ada@xn--fod-hna.example",
            "ada@gmail.com",
            "food.example",
            "ada@food.example@gmail.com",
        ] {
            assert!(!domain.has_mailbox(other), "{other}");
        }
    }
}
