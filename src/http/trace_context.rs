//! The trace that a request belongs to, from its `traceparent` field (W3C Trace Context, level 1).

use crate::app::traces::{SpanId, TraceId, TraceParent};
use axum::http::HeaderMap;

/// The flag of a client that records its span.
const SAMPLED: u8 = 1;

/// Returns the span that a request belongs to, or `None` without a single valid `traceparent`.
pub fn parent_of(headers: &HeaderMap) -> Option<TraceParent> {
    let mut fields = headers.get_all("traceparent").iter();
    let field = fields.next()?;
    fields.next().is_none().then(|| parse(field.as_bytes()))?
}

/// Parses `version-traceid-parentid-flags`. A later version may append more fields.
fn parse(value: &[u8]) -> Option<TraceParent> {
    let (required, appended) = value.split_at_checked(55)?;
    let mut fields = required.split(|&byte| byte == b'-');
    let mut next = |length: usize| {
        let field = fields.next()?;
        let is_valid =
            field.len() == length && field.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_valid.then_some(field)
    };
    let (version, trace, parent, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
    let has_valid_end = match version {
        b"ff" => false,
        b"00" => appended.is_empty(),
        _ => appended.is_empty() || appended.starts_with(b"-"),
    };
    let is_zero = |field: &[u8]| field.iter().all(|&digit| digit == b'0');
    if !has_valid_end || is_zero(trace) || is_zero(parent) {
        return None;
    }
    let flags = u8::from_str_radix(std::str::from_utf8(flags).ok()?, 16).ok()?;
    Some(TraceParent {
        trace: TraceId(trace.try_into().ok()?),
        span: SpanId(parent.try_into().ok()?),
        is_sampled: flags & SAMPLED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    fn parse(value: &str) -> Option<String> {
        super::parse(value.as_bytes()).map(|parent| parent.trace.to_string())
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
    fn the_parent_and_its_decision_to_record_are_read() {
        for (flags, is_sampled) in [("00", false), ("01", true), ("02", false), ("03", true)] {
            let value = format!("00-{TRACE}-00f067aa0ba902b7-{flags}");
            let parent = super::parse(value.as_bytes()).unwrap();
            assert_eq!(parent.span.to_string(), "00f067aa0ba902b7");
            assert_eq!(parent.is_sampled, is_sampled, "{flags}");
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
        assert!(parent_of(&headers).is_some());
        headers.append("traceparent", value.parse().unwrap());
        assert_eq!(parent_of(&headers), None);
    }
}
