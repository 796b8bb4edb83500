//! The rate limit headers of the IETF draft draft-ietf-httpapi-ratelimit-headers:
//! `RateLimit-Policy: "search";q=500;w=60`, `RateLimit: "search";r=499;t=60`, and `Retry-After` for a rejected request.

use access::limits::{WINDOW_SECONDS, window::Verdict};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use std::fmt::{self, Write};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// Writes the headers for a request of `class` with a limit of `per_minute`.
pub fn write_rate_limit_headers(headers: &mut HeaderMap, class: &str, per_minute: u32, verdict: &Verdict) {
    let Verdict {
        admitted,
        remaining,
        resets_in,
        retry_after,
    } = *verdict;
    headers.insert(
        POLICY,
        value(format_args!(r#""{class}";q={per_minute};w={WINDOW_SECONDS}"#)),
    );
    headers.insert(
        STATE,
        value(format_args!(r#""{class}";r={remaining};t={resets_in}"#)),
    );
    if !admitted {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
    }
}

/// Formats a header value. Class names are plain words, so the value is always valid.
fn value(text: fmt::Arguments<'_>) -> HeaderValue {
    let mut line = String::with_capacity(48);
    let _ = line.write_fmt(text);
    HeaderValue::try_from(line).expect("a class name is a plain word")
}

#[cfg(test)]
mod tests {
    use super::*;
    use access::limits::shares::Visitor;
    use access::limits::window::Window;

    fn fields(verdict: &Verdict, per_minute: u32) -> [Option<String>; 3] {
        let mut headers = HeaderMap::new();
        write_rate_limit_headers(&mut headers, "search", per_minute, verdict);
        ["ratelimit-policy", "ratelimit", "retry-after"]
            .map(|name| headers.get(name).map(|value| value.to_str().unwrap().to_owned()))
    }

    #[test]
    fn the_headers_have_the_form_of_the_draft() {
        let verdict = Window::default().admit(0, 500, Visitor::UNKNOWN);
        let [policy, state, retry] = fields(&verdict, 500);
        assert_eq!(policy.as_deref(), Some(r#""search";q=500;w=60"#));
        assert_eq!(state.as_deref(), Some(r#""search";r=499;t=60"#));
        assert_eq!(retry, None);
    }

    #[test]
    fn a_rejected_request_has_a_retry_after_header() {
        let mut window = Window::default();
        window.admit(0, 1, Visitor::UNKNOWN);
        let [_, state, retry] = fields(&window.admit(10_500_000, 1, Visitor::UNKNOWN), 1);
        assert_eq!(state.as_deref(), Some(r#""search";r=0;t=50"#));
        assert_eq!(retry.as_deref(), Some("50"));
    }
}
