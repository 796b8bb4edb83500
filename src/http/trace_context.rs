//! The trace that a request belongs to, from its `traceparent` field (W3C Trace Context, level 1).
//!
//! Only the ID of the trace is used, for the log. The server does not take part in the trace.

use axum::http::HeaderMap;
use std::fmt;

/// The ID of a trace: 32 lowercase hexadecimal digits, not all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId([u8; 32]);

impl TraceId {
    /// Returns the trace of a request, or `None` without a single valid `traceparent`.
    pub fn of_headers(headers: &HeaderMap) -> Option<Self> {
        let mut fields = headers.get_all("traceparent").iter();
        let field = fields.next()?;
        fields.next().is_none().then(|| Self::parse(field.as_bytes()))?
    }

    /// Parses `version-traceid-parentid-flags`. A later version may append more fields.
    fn parse(value: &[u8]) -> Option<Self> {
        let (required, appended) = value.split_at_checked(55)?;
        let mut fields = required.split(|&byte| byte == b'-');
        let mut next = |length: usize| {
            let field = fields.next()?;
            let is_valid =
                field.len() == length && field.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            is_valid.then_some(field)
        };
        let (version, trace, parent, _flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
        let has_valid_end = match version {
            b"ff" => false,
            b"00" => appended.is_empty(),
            _ => appended.is_empty() || appended.starts_with(b"-"),
        };
        let is_zero = |field: &[u8]| field.iter().all(|&digit| digit == b'0');
        if !has_valid_end || is_zero(trace) || is_zero(parent) {
            return None;
        }
        Some(Self(trace.try_into().ok()?))
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.0).expect("digits are ASCII"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn parse(value: &str) -> Option<String> {
        TraceId::parse(value.as_bytes()).map(|trace| trace.to_string())
    }

    #[test]
    fn the_trace_id_is_the_second_field() {
        for value in [
            format!("00-{TRACE}-00f067aa0ba902b7-01"),
            format!("cc-{TRACE}-00f067aa0ba902b7-00"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01-what-the-future-brings"),
        ] {
            assert_eq!(parse(&value).as_deref(), Some(TRACE), "{value}");
        }
    }

    #[test]
    fn an_invalid_field_is_ignored() {
        for value in [
            String::new(),
            TRACE.to_owned(),
            format!("00-{TRACE}-00f067aa0ba902b7"),
            format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01.more"),
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}-00f067aa0ba902b7-0g"),
            format!("00_{TRACE}-00f067aa0ba902b7-01"),
        ] {
            assert_eq!(parse(&value), None, "{value}");
        }
        let mut headers = HeaderMap::new();
        let value = format!("00-{TRACE}-00f067aa0ba902b7-01");
        headers.append("traceparent", value.parse().unwrap());
        assert!(TraceId::of_headers(&headers).is_some());
        headers.append("traceparent", value.parse().unwrap());
        assert_eq!(TraceId::of_headers(&headers), None);
    }
}
