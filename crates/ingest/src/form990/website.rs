//! Websites as nonprofits write them on forms: `WWW.EXAMPLE.ORG`, two at once, an email address, or `N/A`.
//!
//! A website is never visited. The host becomes lowercase; a path keeps its case.

use directory::nonprofits::web_url::is_web_url;

/// Returns the URL of the first website in a field, or `None` if there is none.
///
/// The URL starts with `https://`, whatever was written: browsers and almost all sites understand it.
pub fn website(filed: &str) -> Option<String> {
    let is_separator = |c: char| c.is_whitespace() || c.is_control() || matches!(c, ',' | ';' | '|');
    filed.split(is_separator).find_map(url)
}

fn url(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '@');
    let rest = without_scheme(word);
    if rest.contains('@') {
        return None;
    }
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = host.trim_end_matches(['.', ':']).to_lowercase();
    let path = if path.len() > 1 && path.starts_with(['/', '?', '#']) {
        path
    } else {
        ""
    };
    if !is_host_of_website(&host) {
        return None;
    }
    let url = format!("https://{host}{path}");
    is_web_url(&url).then_some(url)
}

/// Removes a scheme, also if it is misspelled: `HTTP//`, `HTTPS:/`, `HTTP:\\`.
fn without_scheme(word: &str) -> &str {
    let Some(rest) = strip_prefix_ignore_case(word, "http") else {
        return word.trim_start_matches('/');
    };
    let rest = strip_prefix_ignore_case(rest, "s").unwrap_or(rest);
    let bare = rest.trim_start_matches([':', '/', '\\', '.']);
    if bare.len() < rest.len() {
        without_scheme(bare)
    } else {
        word
    }
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (front, rest) = text.split_at_checked(prefix.len())?;
    front.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Returns whether a host can be a website: it ends in a known domain, and is more than `www` and a word.
fn is_host_of_website(host: &str) -> bool {
    let name = host.split(':').next().unwrap_or_default();
    let bare = name.strip_prefix("www.").unwrap_or(name);
    let Some((rest, domain)) = bare.rsplit_once('.') else {
        return false;
    };
    let is_known = match domain.len() {
        2 => domain.bytes().all(|b| b.is_ascii_lowercase()),
        _ => DOMAINS.contains(&domain),
    };
    // One letter before a domain of two is an abbreviation, such as `n.a` or `p.o`.
    let is_abbreviation = domain.len() == 2 && rest.len() < 2;
    is_known && !is_abbreviation && !rest.is_empty() && !MAIL_HOSTS.contains(&bare)
}

/// Hosts of email addresses of which only the end is left.
const MAIL_HOSTS: [&str; 11] = [
    "gmail.com",
    "yahoo.com",
    "hotmail.com",
    "aol.com",
    "outlook.com",
    "comcast.net",
    "msn.com",
    "icloud.com",
    "sbcglobal.net",
    "att.net",
    "verizon.net",
];

/// Top-level domains that nonprofits use, besides those of two letters.
const DOMAINS: [&str; 115] = [
    "org",
    "com",
    "net",
    "edu",
    "gov",
    "mil",
    "int",
    "info",
    "biz",
    "name",
    "pro",
    "museum",
    "coop",
    "aero",
    "jobs",
    "mobi",
    "travel",
    "asia",
    "post",
    "church",
    "foundation",
    "charity",
    "ngo",
    "ong",
    "community",
    "school",
    "academy",
    "education",
    "center",
    "care",
    "health",
    "healthcare",
    "clinic",
    "hospital",
    "fund",
    "give",
    "gives",
    "giving",
    "support",
    "help",
    "team",
    "club",
    "social",
    "events",
    "live",
    "life",
    "love",
    "family",
    "kids",
    "baby",
    "farm",
    "garden",
    "house",
    "homes",
    "land",
    "earth",
    "eco",
    "green",
    "world",
    "global",
    "international",
    "network",
    "media",
    "news",
    "press",
    "blog",
    "site",
    "website",
    "online",
    "page",
    "tech",
    "technology",
    "digital",
    "cloud",
    "app",
    "dev",
    "studio",
    "design",
    "art",
    "gallery",
    "theater",
    "theatre",
    "music",
    "dance",
    "fit",
    "fitness",
    "run",
    "yoga",
    "football",
    "golf",
    "camp",
    "today",
    "zone",
    "city",
    "town",
    "nyc",
    "boston",
    "miami",
    "vegas",
    "agency",
    "group",
    "company",
    "partners",
    "services",
    "works",
    "energy",
    "solar",
    "bio",
    "science",
    "university",
    "college",
    "institute",
    "training",
    "vote",
    "bible",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn websites_are_normalized() {
        for (filed, expected) in [
            ("WWW.EXAMPLE.ORG", "https://www.example.org"),
            ("example.org/", "https://example.org"),
            ("HTTP://EXAMPLE.ORG/About?Id=1", "https://example.org/About?Id=1"),
            ("https://Example.org:8443/x", "https://example.org:8443/x"),
            ("LAFOODBANK.ORG WWW.LAFIGHTSHUNGER.ORG", "https://lafoodbank.org"),
            ("WWW.ONE.ORG;WWW.TWO.ORG", "https://www.one.org"),
            ("INFO@EXAMPLE.ORG OR WWW.EXAMPLE.ORG", "https://www.example.org"),
            ("HTTP//WWW.EXAMPLE.COM", "https://www.example.com"),
            ("HTTPS:/WWW.EXAMPLE.COM.", "https://www.example.com"),
            ("http://https://example.net", "https://example.net"),
            ("(www.facebook.com/OurTown)", "https://www.facebook.com/OurTown"),
            ("OUR SITE IS WWW.EXAMPLE.CHURCH", "https://www.example.church"),
            ("HTTPSTER.ORG", "https://httpster.org"),
            ("WWW.CITY.CA.US", "https://www.city.ca.us"),
        ] {
            assert_eq!(website(filed).as_deref(), Some(expected), "{filed}");
        }
    }

    #[test]
    fn what_is_no_website_is_dropped() {
        for filed in [
            "",
            "N/A",
            "NONE",
            "N.A.",
            "NOT APPLICABLE",
            "SEE FOOTNOTE",
            "HTTP://",
            "https://",
            "HTTP://N/A",
            "www.",
            "WWW.EXAMPLE",
            "info@example.org",
            "mailto:info@example.org",
            "JOHN@ GMAIL.COM",
            "Welcome to our page",
            "U.S.A.",
            "ST.MARYS",
            "P.O. BOX 12",
            "127.0.0.1",
            "javascript:alert(1)",
            "HTTP://USER@EXAMPLE.ORG",
            "0",
        ] {
            assert_eq!(website(filed), None, "{filed}");
        }
    }

    proptest! {
        #[test]
        fn every_website_is_a_url_that_stays_the_same(filed in "[A-Za-z:/.@?# -]{0,40}|(HTTPS?://)?(WWW.)?[A-Z]{1,8}.(ORG|COM|XX)(/[A-Za-z]{0,4})?|.*") {
            if let Some(url) = website(&filed) {
                prop_assert!(is_web_url(&url), "{}", url);
                prop_assert!(url.starts_with("https://"));
                prop_assert_eq!(website(&url), Some(url.clone()));
            }
        }
    }
}
