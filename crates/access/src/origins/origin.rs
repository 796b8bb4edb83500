//! Origins, and addresses under them. What a browser could read in another way than we do is no address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;
use thiserror::Error;

/// Bytes of an address that we lead back to.
const LONGEST: usize = 2_000;

/// What stands for itself in a query (RFC 3986, unreserved).
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Scheme, host and port as a browser writes them: `https://shop.example.org`, `http://localhost:3000`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// Why a text is no origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("write https:// and a host, as in https://shop.example.org; http:// only for localhost")]
pub struct InvalidOrigin;

impl Origin {
    /// Reads an origin as people type it: a slash may stand at its end, but no path.
    pub fn parse(text: &str) -> Result<Origin, InvalidOrigin> {
        let text = text.trim();
        let text = text.strip_suffix('/').unwrap_or(text);
        Origin::read(text).ok_or(InvalidOrigin)
    }

    fn read(text: &str) -> Option<Origin> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let (host, port) = match authority.split_once(':') {
            Some((host, port)) => (host, Some(read_port(port)?)),
            None => (authority, None),
        };
        let host = host.to_ascii_lowercase();
        let (is_local, own_port) = (host == "localhost", if scheme == "https" { 443 } else { 80 });
        let is_allowed = match scheme.as_str() {
            "https" => is_local || is_host(&host),
            "http" => is_local,
            _ => false,
        };
        let port = port.filter(|port| *port != own_port);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        is_allowed.then(|| Origin(format!("{scheme}://{host}{port}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Without the scheme, for people.
    pub fn host(&self) -> &str {
        self.0.split_once("://").map_or(&self.0, |(_, host)| host)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn read_port(text: &str) -> Option<u16> {
    let is_number = (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| is_number && *port > 0)
}

/// A public name in ASCII. Its last label has a letter, so that no number is read as an address of a machine.
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

/// An address under an origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReturnUrl {
    origin: Origin,
    /// Path, query and fragment.
    rest: String,
}

impl ReturnUrl {
    /// Reads a whole address. Only plain ASCII without quotes, brackets and backslashes: all else comes
    /// percent-encoded from whoever means well.
    pub fn parse(text: &str) -> Option<ReturnUrl> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"\"'<>\\^`{|}".contains(&byte);
        if text.len() > LONGEST || !text.bytes().all(is_plain) {
            return None;
        }
        let host = text.find("://")? + 3;
        let end = text[host..]
            .find(['/', '?', '#'])
            .map_or(text.len(), |at| host + at);
        Some(ReturnUrl {
            origin: Origin::read(&text[..end])?,
            rest: text[end..].to_owned(),
        })
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The address with parameters added to its query; those without a value are left out.
    pub fn with(&self, parameters: &[(&str, &str)]) -> String {
        let (rest, fragment) = match self.rest.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (self.rest.as_str(), None),
        };
        let mut address = format!("{}{rest}", self.origin);
        if rest.is_empty() || rest.starts_with('?') {
            address.insert(self.origin.as_str().len(), '/');
        }
        for (name, value) in parameters.iter().filter(|(_, value)| !value.is_empty()) {
            let joint = match (address.contains('?'), address.ends_with(['?', '&'])) {
                (false, _) => "?",
                (true, true) => "",
                (true, false) => "&",
            };
            address = format!("{address}{joint}{name}={}", utf8_percent_encode(value, IN_QUERY));
        }
        if let Some(fragment) = fragment {
            address = format!("{address}#{fragment}");
        }
        address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_origin_is_https_and_a_host_or_localhost() {
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
    fn what_a_browser_could_read_in_another_way_is_no_address() {
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
        let far = format!("https://shop.example.org/{}", "x".repeat(LONGEST));
        assert_eq!(ReturnUrl::parse(&far), None);
    }

    #[test]
    fn parameters_join_the_query_before_the_fragment() {
        let parameters = [("gift_id", "1"), ("none", ""), ("partner_metadata", "a&b=é#")];
        let added = "gift_id=1&partner_metadata=a%26b%3D%C3%A9%23";
        for (address, before, after) in [
            ("https://a.example", "https://a.example/?", ""),
            ("https://a.example/x", "https://a.example/x?", ""),
            ("https://a.example?", "https://a.example/?", ""),
            ("https://a.example/x?y=1", "https://a.example/x?y=1&", ""),
            ("https://a.example/x?y=1&#z?", "https://a.example/x?y=1&", "#z?"),
            ("https://a.example#z", "https://a.example/?", "#z"),
        ] {
            let address = ReturnUrl::parse(address).unwrap();
            assert_eq!(address.with(&parameters), format!("{before}{added}{after}"));
        }
    }

    proptest! {
        #[test]
        fn an_address_leads_to_its_origin_whatever_is_added(
            text in "https?:[/\\\\]{0,3}[a-z@:.0-9%\\\\]{0,20}[/?#]?[ -~]{0,20}",
            value in any::<String>(),
        ) {
            if let Some(address) = ReturnUrl::parse(&text) {
                let whole = address.with(&[("gift_id", &value)]);
                let rest = whole.strip_prefix(address.origin().as_str());
                prop_assert!(rest.is_some_and(|rest| rest.starts_with('/')), "{}", whole);
                prop_assert!(whole.is_ascii() && !whole.contains(char::is_whitespace));
            }
        }
    }
}
