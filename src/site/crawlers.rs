//! Files for crawlers, browsers and security researchers: robots.txt, sitemaps, opensearch.xml and security.txt.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::{Layout, Section};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use std::fmt::Write;

/// URLs per sitemap, the maximum of the protocol.
const URLS_PER_SITEMAP: u32 = 50_000;
/// How long security.txt is valid, in milliseconds.
const SECURITY_TXT_LIFETIME: i64 = 180 * 24 * 3_600 * 1_000;

const XML: &str = "application/xml; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const XML_DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAP_NAMESPACE: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

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
        "Disallow: /search",
        "Disallow: /v0.2/",
        &format!("Sitemap: {}", app.urls.page("/sitemap.xml")),
        "",
    ];
    (headers(TEXT), lines.join("\n")).into_response()
}

/// `GET /sitemap.xml`: the index of all sitemaps.
pub async fn sitemaps(State(app): State<App>) -> Response {
    let view = app.directory.view();
    let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
    let mut xml = format!("{XML_DECLARATION}<sitemapindex {SITEMAP_NAMESPACE}>\n");
    let numbers = (0..count.div_ceil(URLS_PER_SITEMAP)).map(|number| number.to_string());
    for name in std::iter::once("pages".to_owned()).chain(numbers) {
        let url = escape_xml(&app.urls.page(&format!("/sitemaps/{name}.xml")));
        // Writing to a String cannot fail.
        let _ = writeln!(xml, "<sitemap><loc>{url}</loc></sitemap>");
    }
    xml.push_str("</sitemapindex>\n");
    (headers(XML), xml).into_response()
}

/// `GET /sitemaps/{file}`: `pages.xml`, or a numbered part of the nonprofits.
pub async fn sitemap(State(app): State<App>, PathText(file): PathText) -> Result<Response> {
    let name = file.strip_suffix(".xml").ok_or(Error::NotFound)?;
    let public = escape_xml(app.urls.public());
    let mut xml = format!("{XML_DECLARATION}<urlset {SITEMAP_NAMESPACE}>\n");
    let mut add = |path: &str| {
        let _ = writeln!(xml, "<url><loc>{public}{path}</loc></url>");
    };
    if name == "pages" {
        add("/");
        add("/causes");
        for cause in app.directory.causes().list() {
            add(&format!("/causes/{}", cause.name));
        }
    } else {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = name.parse().ok().filter(|_| is_number).ok_or(Error::NotFound)?;
        let view = app.directory.view();
        let snapshot = view.snapshot.as_ref().ok_or(Error::Unavailable)?;
        let first = number.checked_mul(URLS_PER_SITEMAP).ok_or(Error::NotFound)?;
        if first >= snapshot.len() {
            return Err(Error::NotFound);
        }
        let last = first.saturating_add(URLS_PER_SITEMAP).min(snapshot.len());
        for nonprofit in (first..last).filter_map(|index| snapshot.nonprofit(index)) {
            if nonprofit.gone_at.is_none() {
                add(&format!("/{}", nonprofit.slug));
            }
        }
    }
    xml.push_str("</urlset>\n");
    Ok((headers(XML), xml).into_response())
}

/// `GET /opensearch.xml`: lets browsers add the search.
pub async fn opensearch(State(app): State<App>) -> Response {
    let layout = Layout::new(Section::Other);
    let (name, about) = (escape_xml(layout.t.site.name), escape_xml(layout.p.home.about));
    let search = escape_xml(&app.urls.page("/search?q={searchTerms}"));
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
    let canonical = app.urls.page("/.well-known/security.txt");
    let text =
        format!("Contact: {contact}\nExpires: {expires}\nCanonical: {canonical}\nPreferred-Languages: en\n");
    Ok((headers(TEXT), text).into_response())
}

/// Escapes text for XML and removes the characters that XML does not allow.
pub fn escape_xml(text: &str) -> String {
    let is_allowed = |c: &char| !matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    let text: String = text.chars().filter(is_allowed).collect();
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_the_element_that_contains_it() {
        assert_eq!(escape_xml("a&b<c>\"d\u{0}\u{ffff}"), "a&amp;b&lt;c&gt;&quot;d");
    }
}
