//! The error page: what happened, and where to go next.

use super::{Layout, Section};
use crate::http::request_id::RequestId;
use askama::Template;
use axum::http::StatusCode;

/// Returns whether responses at this path are for people. Programs get problem details (RFC 9457) instead.
pub fn is_page(path: &str) -> bool {
    let mut segments = path.trim_start_matches('/').split('/');
    let first = segments.next().unwrap_or_default();
    let second = segments.next().unwrap_or_default();
    let is_former = (first == "api" && is_version(second)) || second == "button.js";
    !matches!(
        first,
        "media" | "image" | "embed" | "share" | "reconcile" | "mcp" | "webhooks"
    ) && !is_version(first)
        && !is_former
}

/// Returns whether a path segment is a version of the API, such as `v0.2` or `v1`, also one that does not exist.
fn is_version(segment: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    segment.strip_prefix('v').is_some_and(|version| {
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        is_number(major) && is_number(minor)
    })
}

#[derive(Template)]
#[template(path = "web/error.html")]
struct ErrorPage<'a> {
    layout: Layout,
    status: StatusCode,
    title: &'static str,
    detail: &'a str,
    request_id: &'a str,
}

/// Renders the error page. `detail` is our own sentence about what went wrong.
pub fn render(status: StatusCode, detail: &str, request: &RequestId) -> String {
    let layout = Layout::new(Section::Other);
    let t = &layout.t.errors;
    let title = match status.as_u16() {
        404 => t.not_found,
        403 => t.forbidden,
        413 => t.too_large,
        429 => t.too_often,
        503 => t.unavailable,
        500.. => t.internal,
        _ => t.bad_request,
    };
    // The detail of a 404 is written for programs, not for people who followed a link.
    let detail = match status {
        StatusCode::NOT_FOUND => t.not_found_detail,
        _ => detail,
    };
    let page = ErrorPage {
        title,
        status,
        detail,
        request_id: request.as_str(),
        layout,
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_problem_details_and_people_get_pages() {
        for path in [
            "/v0.2",
            "/v0.2/",
            "/v0.2/x",
            "/media/x",
            "/embed/x.js",
            "/share/x.png",
            "/webhooks/stripe",
            "//v0.2/x",
            "/v1",
            "/v3/nonprofit/x",
            "/v0.25",
            "/api/v0.2/search/x",
            "/0.4/button.js",
        ] {
            assert!(!is_page(path), "{path}");
        }
        for path in [
            "/",
            "/dashboard",
            "/v0.2.1",
            "/v",
            "/v.2",
            "/v1a",
            "/mediation",
            "/a/v0.2",
        ] {
            assert!(is_page(path), "{path}");
        }
    }

    #[test]
    fn an_error_page_has_a_link_and_escapes_the_detail() {
        let request = RequestId::next();
        let page = render(StatusCode::BAD_REQUEST, "<b>bold</b>", &request);
        assert!(page.contains("href=\"/\"") && page.contains(request.as_str()));
        assert!(!page.contains("<b>"));
    }
}
