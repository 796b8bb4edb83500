//! Origins, and URLs under them. Text that a browser might parse differently is rejected.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;
use thiserror::Error;

const MAX_URL_BYTES: usize = 2_000;

/// Everything but the unreserved characters of RFC 3986.
const QUERY_ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Scheme, host and port as a browser serializes them: `https://shop.example.org`, `http://localhost:3000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// The error of an invalid origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("enter https:// and a host, such as https://shop.example.org; http:// is allowed only for localhost")]
pub struct InvalidOrigin;

impl Origin {
    /// Parses an origin as people type it. It may end with a slash, but must not have a path.
    pub fn parse(text: &str) -> Result<Origin, InvalidOrigin> {
        let text = text.trim();
        let text = text.strip_suffix('/').unwrap_or(text);
        Origin::parse_exact(text).ok_or(InvalidOrigin)
    }

    fn parse_exact(text: &str) -> Option<Origin> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(parse_port(port)?)),
            None => (authority, None),
        };
        let host = host.to_ascii_lowercase();
        let is_local = host == "localhost";
        let default_port = if scheme == "https" { 443 } else { 80 };
        let is_allowed = match scheme.as_str() {
            "https" => is_local || is_host(&host),
            "http" => is_local,
            _ => false,
        };
        let port = port.filter(|port| *port != default_port);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        is_allowed.then(|| Origin(format!("{scheme}://{host}{port}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it uses HTTPS, its host name, and its port.
    pub fn parts(&self) -> (bool, &str, u16) {
        let is_https = self.0.starts_with("https:");
        let default_port = if is_https { 443 } else { 80 };
        match self.host().split_once(':') {
            Some((host, port)) => (is_https, host, port.parse().unwrap_or(default_port)),
            None => (is_https, self.host(), default_port),
        }
    }

    /// Returns whether it is on the machine of the browser.
    pub fn is_localhost(&self) -> bool {
        self.parts().1 == "localhost"
    }

    /// Returns the host and port without the scheme, for display.
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or(&self.0, |(_, host)| host)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn parse_port(text: &str) -> Option<u16> {
    let is_number = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

/// Returns whether this is a public host name in ASCII. Its last label starts with a letter, so that a browser cannot
/// read it as an IP url.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.contains('.')
        && host.split('.').all(is_label)
        && last.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// A URL to redirect to after checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnUrl {
    origin: Origin,
    /// Path, query and fragment.
    rest: String,
}

impl ReturnUrl {
    /// Parses an absolute URL. Other characters than ASCII, quotes, brackets and backslashes must be percent-encoded.
    pub fn parse(text: &str) -> Option<ReturnUrl> {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
        if text.len() > MAX_URL_BYTES || !text.bytes().all(is_allowed) {
            return None;
        }
        let host = text.find("://")? + 3;
        let end = text[host..]
            .find(['/', '?', '#'])
            .map_or(text.len(), |length| host + length);
        Some(ReturnUrl {
            origin: Origin::parse_exact(&text[..end])?,
            rest: text[end..].to_owned(),
        })
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the URL with parameters added to its query. Parameters with an empty value are omitted.
    pub fn with(&self, parameters: &[(&str, &str)]) -> String {
        let (rest, fragment) = match self.rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (self.rest.as_str(), None),
        };
        let mut url = format!("{}{rest}", self.origin);
        if rest.is_empty() || rest.starts_with('?') {
            url.insert(self.origin.as_str().len(), '/');
        }
        for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
            let separator = match (url.contains('?'), url.ends_with(['?', '&'])) {
                (false, _) => "?",
                (true, true) => "",
                (true, false) => "&",
            };
            url = format!(
                "{url}{separator}{name}={}",
                utf8_percent_encode(value, QUERY_ENCODE_SET)
            );
        }
        if let Some(fragment) = fragment {
            url = format!("{url}#{fragment}");
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_origin_is_https_or_localhost() {
        for (typed, origin) in [
            ("https://shop.example.org", "https://shop.example.org"),
            (" HTTPS://Shop.Example.org/ ", "https://shop.example.org"),
            ("https://shop.example.org:443", "https://shop.example.org"),
            ("https://shop.example.org:08443", "https://shop.example.org:8443"),
            ("http://localhost:3000", "http://localhost:3000"),
            ("http://localhost:80/", "http://localhost"),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(Origin::parse(typed).unwrap().as_str(), origin, "{typed}");
        }
        for typed in [
            "",
            "shop.example.org",
            "http://shop.example.org",
            "https://shop.example.org/path",
            "https://shop.example.org//",
            "https://shop",
            "https://127.0.0.1",
            "https://0x7f.0.0.1",
            "https://1.2.3.0x4",
            "https://[::1]",
            "https://ada@shop.example.org",
            "https://shop.example.org:0",
            "https://shop.example.org:99999",
            "https://shop.example.org:+1",
            "https://shop..example.org",
            "https://shop.example.org.",
            "https://bücher.example",
            "https://shop。example.org",
            "https://*.example.org",
            "javascript://shop.example.org",
            "https:shop.example.org",
        ] {
            assert_eq!(Origin::parse(typed), Err(InvalidOrigin), "{typed}");
        }
    }

    #[test]
    fn an_origin_has_a_scheme_a_host_and_a_port() {
        for (origin, parts) in [
            ("https://shop.example.org", (true, "shop.example.org", 443)),
            ("https://shop.example.org:8443", (true, "shop.example.org", 8443)),
            ("http://localhost", (false, "localhost", 80)),
            ("http://localhost:3000", (false, "localhost", 3000)),
        ] {
            assert_eq!(Origin::parse(origin).unwrap().parts(), parts);
        }
        assert!(Origin::parse("https://localhost:1").unwrap().is_localhost());
        assert!(
            !Origin::parse("https://localhost.example.org")
                .unwrap()
                .is_localhost()
        );
    }

    #[test]
    fn urls_that_a_browser_might_parse_differently_are_rejected() {
        for hostile in [
            "//evil.example",
            "\\\\evil.example",
            "/\\evil.example",
            "https:evil.example",
            "https:/evil.example",
            "https:///evil.example",
            "javascript:alert(1)",
            "javascript://shop.example.org/%0aalert(1)",
            "data:text/html,x",
            "https://shop.example.org\\@evil.example/",
            "https://shop.example.org@evil.example/",
            "https://shop.example.org%2f@evil.example/",
            "https://shop.example.org%00.evil.example/",
            "https://shop。example.org/",
            "https://shop.example.org\u{2044}evil",
            "https://shop.example.org/\r\nSet-Cookie: a=b",
            "https://shop.example.org/\t",
            " https://shop.example.org/",
            "https://shop.example.org/\"onclick",
            "https://shop.example.org:https@evil.example",
            "",
        ] {
            assert_eq!(ReturnUrl::parse(hostile), None, "{hostile}");
        }
        let long = format!("https://shop.example.org/{}", "x".repeat(MAX_URL_BYTES));
        assert_eq!(ReturnUrl::parse(&long), None);
    }

    #[test]
    fn parameters_are_added_to_the_query_before_the_fragment() {
        let parameters = [("donation_id", "1"), ("none", ""), ("partner_metadata", "a&b=é#")];
        let added = "donation_id=1&partner_metadata=a%26b%3D%C3%A9%23";
        for (url, before, after) in [
            ("https://a.example", "https://a.example/?", ""),
            ("https://a.example/x", "https://a.example/x?", ""),
            ("https://a.example?", "https://a.example/?", ""),
            ("https://a.example/x?y=1", "https://a.example/x?y=1&", ""),
            ("https://a.example/x?y=1&#z?", "https://a.example/x?y=1&", "#z?"),
            ("https://a.example#z", "https://a.example/?", "#z"),
        ] {
            let url = ReturnUrl::parse(url).unwrap();
            assert_eq!(url.with(&parameters), format!("{before}{added}{after}"));
        }
    }

    proptest! {
        #[test]
        fn a_url_keeps_its_origin_whatever_is_added(
            text in "https?:[/\\\\]{0,3}[a-z@:.0-9%\\\\]{0,20}[/?#]?[ -~]{0,20}",
            value in any::<String>(),
        ) {
            if let Some(url) = ReturnUrl::parse(&text) {
                let whole = url.with(&[("donation_id", &value)]);
                let rest = whole.strip_prefix(url.origin().as_str());
                prop_assert!(rest.is_some_and(|rest| rest.starts_with('/')), "{}", whole);
                prop_assert!(whole.is_ascii() && !whole.contains(char::is_whitespace));
            }
        }
    }
}
