//! Checks that a request names exactly one host.
//!
//! A proxy that reads the first of two hosts and a server that reads the second would answer for different sites (RFC
//! 9112, section 3.2).

use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Version};

/// Returns whether a request has one host, or none where none is needed.
///
/// - HTTP/1.1 needs one `Host` field, even if the target is a whole URL. HTTP/1.0 needs none.
/// - HTTP/2 needs `:authority` or `Host`, and both must be equal (RFC 9113, section 8.3.1).
pub(crate) fn has_valid_host<B>(request: &Request<B>) -> bool {
    let mut fields = request.headers().get_all(HOST).iter();
    let host = fields.next().map(HeaderValue::as_bytes);
    if fields.next().is_some() || !host.is_none_or(is_host) {
        return false;
    }
    match request.version() {
        Version::HTTP_2 => match (request.uri().authority(), host) {
            (Some(authority), Some(host)) => authority.as_str().as_bytes().eq_ignore_ascii_case(host),
            (authority, host) => authority.is_some() || host.is_some(),
        },
        Version::HTTP_11 => host.is_some(),
        _ => true,
    }
}

/// Returns whether `host` consists of characters of a host and a port (RFC 3986, section 3.2). It may be empty.
fn is_host(host: &[u8]) -> bool {
    host.iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:%[]".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_valid(version: Version, target: &str, hosts: &[&str]) -> bool {
        let mut request = Request::builder().version(version).uri(target);
        for host in hosts {
            request = request.header(HOST, *host);
        }
        has_valid_host(&request.body(()).unwrap())
    }

    #[test]
    fn http_1_1_needs_exactly_one_host() {
        for host in ["example.org", "example.org:8080", "[2001:db8::1]:80", "a_b", ""] {
            assert!(is_valid(Version::HTTP_11, "/", &[host]), "{host}");
        }
        assert!(is_valid(
            Version::HTTP_11,
            "http://other.example/",
            &["example.org"]
        ));
        assert!(!is_valid(Version::HTTP_11, "/", &[]));
        assert!(!is_valid(Version::HTTP_11, "http://example.org/", &[]));
        assert!(!is_valid(Version::HTTP_11, "/", &["example.org", "example.org"]));
        for host in ["a b", "a/b", "user@example.org", "a\\b", "caf\u{e9}", "a, b"] {
            assert!(!is_valid(Version::HTTP_11, "/", &[host]), "{host}");
        }
    }

    #[test]
    fn http_1_0_needs_no_host() {
        assert!(is_valid(Version::HTTP_10, "/", &[]));
        assert!(is_valid(Version::HTTP_10, "/", &["example.org"]));
        assert!(!is_valid(Version::HTTP_10, "/", &["example.org", "example.com"]));
    }

    #[test]
    fn http_2_needs_an_authority_or_a_host() {
        let url = "http://example.org/";
        assert!(is_valid(Version::HTTP_2, url, &[]));
        assert!(is_valid(Version::HTTP_2, url, &["Example.org"]));
        assert!(is_valid(Version::HTTP_2, "/", &["example.org"]));
        assert!(!is_valid(Version::HTTP_2, "/", &[]));
        assert!(!is_valid(Version::HTTP_2, url, &["example.com"]));
        assert!(!is_valid(Version::HTTP_2, url, &["example.org", "example.org"]));
    }
}
