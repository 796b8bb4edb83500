//! The page of an error: what happened, in plain words, and a way on.

use super::{Frame, Place};
use crate::http::request_id::RequestId;
use askama::Template;
use axum::http::StatusCode;

/// Is the answer at this address for people? Programs and picture loaders get problem details instead.
pub fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next();
    !matches!(first, Some("v0.2" | "media" | "embed" | "share"))
}

#[derive(Template)]
#[template(path = "web/error.html")]
struct ErrorPage<'a> {
    frame: Frame,
    status: StatusCode,
    title: &'static str,
    detail: &'a str,
    request_id: &'a str,
}

/// Draws it. `detail` is our own sentence about what went wrong.
pub fn draw(status: StatusCode, detail: &str, request: &RequestId) -> String {
    let frame = Frame::new(Place::Elsewhere);
    let t = &frame.t.errors;
    let title = match status.as_u16() {
        404 => t.not_found,
        403 => t.forbidden,
        413 => t.too_large,
        429 => t.too_often,
        503 => t.unavailable,
        500.. => t.internal,
        _ => t.bad_request,
    };
    // Advice for programs helps nobody who followed a link.
    let detail = match status {
        StatusCode::NOT_FOUND => t.not_found_detail,
        _ => detail,
    };
    let page = ErrorPage {
        title,
        status,
        detail,
        request_id: request.as_str(),
        frame,
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_get_problems_and_people_get_pages() {
        for path in [
            "/v0.2",
            "/v0.2/",
            "/v0.2/x",
            "/media/x",
            "/embed/x.js",
            "/share/x.png",
            "//v0.2/x",
        ] {
            assert!(!is_page(path), "{path}");
        }
        for path in ["/", "/dashboard", "/v0.25", "/mediation", "/a/v0.2"] {
            assert!(is_page(path), "{path}");
        }
    }

    #[test]
    fn an_error_page_offers_a_way_on_and_escapes_what_it_is_told() {
        let request = RequestId::next();
        let page = draw(StatusCode::BAD_REQUEST, "<b>bold</b>", &request);
        assert!(page.contains("href=\"/\"") && page.contains(request.as_str()));
        assert!(!page.contains("<b>"));
    }
}
