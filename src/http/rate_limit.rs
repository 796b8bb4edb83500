//! The rate limit headers of the IETF draft draft-ietf-httpapi-ratelimit-headers:
//! `RateLimit-Policy: "search";q=500;w=60`, `RateLimit: "search";r=499;t=60`, and `Retry-After` for a rejected request.
//!
//! A key with a limit per address has a second item in both: `"search";q=500;w=60, "address";q=60;w=60`. The address is
//! the partition of that quota, which the draft leaves to the server if it is not named with `pk`.

use access::limits::call::Decision;
use access::limits::window::Verdict;
use access::limits::{ADDRESS, WINDOW_SECONDS};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use std::fmt::Write;

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STATE: HeaderName = HeaderName::from_static("ratelimit");

/// Writes the headers for a request of `class`.
pub fn write_rate_limit_headers(headers: &mut HeaderMap, class: &str, decision: &Decision) {
    let (mut policy, mut state) = (String::with_capacity(64), String::with_capacity(64));
    write_item(&mut policy, &mut state, class, &decision.owner);
    if let Some(address) = &decision.address {
        policy.push_str(", ");
        state.push_str(", ");
        write_item(&mut policy, &mut state, ADDRESS, address);
    }
    headers.insert(POLICY, value(policy));
    headers.insert(STATE, value(state));
    if !decision.is_admitted() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(decision.retry_after()));
    }
}

fn write_item(policy: &mut String, state: &mut String, name: &str, verdict: &Verdict) {
    let Verdict {
        per_minute,
        remaining,
        resets_in,
        ..
    } = *verdict;
    let _ = write!(policy, r#""{name}";q={per_minute};w={WINDOW_SECONDS}"#);
    let _ = write!(state, r#""{name}";r={remaining};t={resets_in}"#);
}

/// Converts a line to a header value. The names of limits are plain words, so the value is always valid.
fn value(line: String) -> HeaderValue {
    HeaderValue::try_from(line).expect("the name of a limit is a plain word")
}

#[cfg(test)]
mod tests {
    use super::*;
    use access::limits::window::Window;

    fn fields(decision: &Decision) -> [Option<String>; 3] {
        let mut headers = HeaderMap::new();
        write_rate_limit_headers(&mut headers, "search", decision);
        ["ratelimit-policy", "ratelimit", "retry-after"]
            .map(|name| headers.get(name).map(|value| value.to_str().unwrap().to_owned()))
    }

    fn of_owner(owner: Verdict) -> Decision {
        Decision { owner, address: None }
    }

    #[test]
    fn the_headers_have_the_form_of_the_draft() {
        let [policy, state, retry] = fields(&of_owner(Window::default().admit(0, 500)));
        assert_eq!(policy.as_deref(), Some(r#""search";q=500;w=60"#));
        assert_eq!(state.as_deref(), Some(r#""search";r=499;t=60"#));
        assert_eq!(retry, None);
    }

    #[test]
    fn a_rejected_request_has_a_retry_after_header() {
        let mut window = Window::default();
        window.admit(0, 1);
        let [_, state, retry] = fields(&of_owner(window.admit(10_500_000, 1)));
        assert_eq!(state.as_deref(), Some(r#""search";r=0;t=50"#));
        assert_eq!(retry.as_deref(), Some("50"));
    }

    #[test]
    fn a_limit_per_address_is_a_second_item() {
        let (mut key, mut address) = (Window::default(), Window::default());
        key.admit(0, 500);
        let admit = |now: u64, key: &mut Window, address: &mut Window| {
            let (owner, address) = Window::admit_in_both((key, 500), (address, 1), now);
            fields(&Decision {
                owner,
                address: Some(address),
            })
        };
        let [policy, state, retry] = admit(10_000_000, &mut key, &mut address);
        assert_eq!(
            policy.as_deref(),
            Some(r#""search";q=500;w=60, "address";q=1;w=60"#)
        );
        assert_eq!(
            state.as_deref(),
            Some(r#""search";r=498;t=50, "address";r=0;t=60"#)
        );
        assert_eq!(retry, None);
        let [_, state, retry] = admit(30_000_000, &mut key, &mut address);
        assert_eq!(
            state.as_deref(),
            Some(r#""search";r=498;t=30, "address";r=0;t=40"#)
        );
        assert_eq!(retry.as_deref(), Some("40"));
    }
}
