//! Files for crawlers, browsers and security researchers: robots.txt, opensearch.xml and security.txt.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::web::{Layout, Section};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use directory::snapshot::sitemaps::XML_DECLARATION;
use jiff::Timestamp;
use platform::text::escape_xml;

/// How long security.txt is valid, in milliseconds.
const SECURITY_TXT_LIFETIME: i64 = 180 * 24 * 3_600 * 1_000;

const TEXT: &str = "text/plain; charset=utf-8";

fn headers(media_type: &'static str) -> [(HeaderName, HeaderValue); 2] {
    [
        (CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
    ]
}

/// `GET /robots.txt`
pub async fn robots(State(app): State<App>) -> Response {
    let lines = [
        "User-agent: *",
        "Disallow: /dashboard",
        "Disallow: /donations/",
        // Only the search itself: filters, orders and pages have no end.
        "Disallow: /search?*&",
        "Disallow: /search.json",
        "Disallow: /v0.2/",
        &format!("Sitemap: {}", app.site.urls.page("/sitemap.xml")),
        "",
    ];
    (headers(TEXT), lines.join("\n")).into_response()
}

/// `GET /opensearch.xml`: lets browsers add the search.
pub async fn opensearch(State(app): State<App>) -> Response {
    let layout = Layout::new(Section::Other);
    let (name, about) = (escape_xml(layout.t.site.name), escape_xml(layout.p.home.about));
    let search = escape_xml(&app.site.urls.page("/search?q={searchTerms}"));
    let xml = format!(
        "{XML_DECLARATION}<OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\"><ShortName>{name}</ShortName>\
         <Description>{about}</Description><InputEncoding>UTF-8</InputEncoding>\
         <Url type=\"text/html\" template=\"{search}\"/></OpenSearchDescription>\n"
    );
    (headers("application/opensearchdescription+xml"), xml).into_response()
}

/// `GET /.well-known/security.txt` (RFC 9116), if the operator configured a contact.
pub async fn security(State(app): State<App>) -> Result<Response> {
    let contact = app.config.security_contact.url().ok_or(Error::NotFound)?;
    let expires = Timestamp::from_millisecond(app.clock.millis() + SECURITY_TXT_LIFETIME).unwrap_or_default();
    let expires = expires.strftime("%Y-%m-%dT%H:%M:%SZ");
    let canonical = app.site.urls.page("/.well-known/security.txt");
    let text =
        format!("Contact: {contact}\nExpires: {expires}\nCanonical: {canonical}\nPreferred-Languages: en\n");
    Ok((headers(TEXT), text).into_response())
}
