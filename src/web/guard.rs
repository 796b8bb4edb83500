//! Security of pages: headers that let a browser load only our own content, and protection against cross-site request
//! forgery (CSRF).

use crate::http::error::Error;
use access::origins::Origin;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;
use tower_http::csrf::{CsrfLayer, ProtectionError};

/// The Content-Security-Policy of pages.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'";

static PAGE_HEADERS: LazyLock<[(HeaderName, HeaderValue); 6]> =
    LazyLock::new(|| HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

/// The header of pages that may ask for the location of a visitor, after a click.
pub const LOCATION_PERMISSIONS: (HeaderName, HeaderValue) = (
    PERMISSIONS_POLICY,
    HeaderValue::from_static(
        "camera=(), geolocation=(self), microphone=(), payment=(), usb=(), browsing-topics=()",
    ),
);

const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    // Only our own pages learn which page a visitor came from.
    (REFERRER_POLICY, "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        PERMISSIONS_POLICY,
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    // Pages that caches may store set this header themselves.
    (CACHE_CONTROL, "no-store"),
];

/// Returns the policy of a page whose form may redirect to the origins in `form_actions`, since browsers follow the redirect
/// of a form only to origins that the page allows, and that pages of `frame_ancestor` may show in a frame.
pub fn policy<'o>(
    form_actions: impl IntoIterator<Item = &'o str>,
    frame_ancestor: Option<&Origin>,
) -> HeaderValue {
    let mut policy = POLICY.to_owned();
    for origin in form_actions {
        policy = policy.replace("form-action 'self'", &format!("form-action 'self' {origin}"));
    }
    if let Some(origin) = frame_ancestor {
        policy = policy.replace("frame-ancestors 'none'", &format!("frame-ancestors {origin}"));
    }
    HeaderValue::try_from(policy).expect("an origin is ASCII")
}

/// Adds the security headers to the response of a page. Headers that the handler has set stay.
pub fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in PAGE_HEADERS.iter() {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}

/// Creates the response to a cross-origin request.
pub type RejectionResponse = fn(ProtectionError) -> Response;

/// Returns a layer that rejects unsafe requests from pages of other origins.
pub fn csrf_layer(public_url: &str) -> CsrfLayer<RejectionResponse> {
    let layer = CsrfLayer::new();
    // Behind a proxy that rewrites `Host`, the browser's origin is still that of the public URL.
    let layer = layer
        .clone()
        .add_trusted_origin(origin(public_url))
        .unwrap_or(layer);
    layer.with_rejection_response(|_| Error::CrossSiteForm.into_response())
}

/// Returns the URL without its path.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(origin("https://give.example.org"), "https://give.example.org");
        assert_eq!(origin("https://example.org/give/x"), "https://example.org");
    }

    #[test]
    fn the_policy_allows_only_our_own_content() {
        assert!(POLICY.starts_with("default-src 'none'"));
        assert!(!POLICY.contains("unsafe") && !POLICY.contains("http") && !POLICY.contains('*'));
        let origin = Origin::parse("https://shop.example.org").unwrap();
        assert_eq!(policy([], None), POLICY);
        let with_form = policy([origin.as_str()], None);
        assert_eq!(
            with_form.to_str().unwrap().len(),
            POLICY.len() + " https://shop.example.org".len()
        );
        let with_frame = policy([], Some(&origin));
        let with_frame = with_frame.to_str().unwrap();
        assert!(with_frame.contains("; frame-ancestors https://shop.example.org;"));
        assert!(!with_frame.contains("'none'; manifest") && with_frame.contains("form-action 'self';"));
    }
}
