//! What every page carries: headers that let a browser load only what is ours, and a refusal of forms that were sent
//! from elsewhere.

use crate::http::error::Error;
use access::origins::Origin;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use std::sync::LazyLock;
use tower_http::csrf::{CsrfLayer, ProtectionError};

/// What a page may load and do.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'";

static PAGE_HEADERS: LazyLock<[(HeaderName, HeaderValue); 6]> =
    LazyLock::new(|| HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));

const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    // Only our own pages may learn from which page of ours somebody came.
    (REFERRER_POLICY, "same-origin"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()",
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    // A page that may be kept says so itself.
    (CACHE_CONTROL, "no-store"),
];

/// The policy of a page whose form may lead on to another origin: browsers follow the redirect of a form only to
/// where the page allows it.
pub fn policy_that_leads_to(origin: &Origin) -> HeaderValue {
    let policy = POLICY.replace("form-action 'self'", &format!("form-action 'self' {origin}"));
    HeaderValue::try_from(policy).expect("an origin is plain text")
}

/// Adds the headers to an answer that is a page. One that a handler has set stays.
pub fn add_headers(headers: &mut HeaderMap) {
    for (name, value) in PAGE_HEADERS.iter() {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}

/// How a refused form is answered.
pub type Refusal = fn(ProtectionError) -> Response;

/// Refuses what changes something and was sent from a page of another origin.
pub fn forms_of_our_own(public_url: &str) -> CsrfLayer<Refusal> {
    let layer = CsrfLayer::new();
    // Behind a proxy that rewrites `Host`, the browser's origin is still the public address.
    let layer = layer
        .clone()
        .add_trusted_origin(origin(public_url))
        .unwrap_or(layer);
    layer.with_rejection_response(|_| Error::CrossSiteForm.into_response())
}

/// The address without its path.
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
    fn the_policy_lets_nothing_of_others_in() {
        assert!(POLICY.starts_with("default-src 'none'"));
        assert!(!POLICY.contains("unsafe") && !POLICY.contains("http") && !POLICY.contains('*'));
        let origin = Origin::parse("https://shop.example.org").unwrap();
        let policy = policy_that_leads_to(&origin);
        assert_eq!(
            policy.to_str().unwrap().len(),
            POLICY.len() + " https://shop.example.org".len()
        );
    }
}
