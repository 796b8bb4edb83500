//! What programs that look for pages read: robots.txt, the sitemaps, opensearch.xml and security.txt.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::web::Frame;
use crate::web::frame::Place;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use std::fmt::Write;

/// Addresses of one sitemap, the most that the protocol allows.
const PER_FILE: u32 = 50_000;
/// Milliseconds for which security.txt stands.
const HALF_A_YEAR: i64 = 180 * 24 * 3_600 * 1_000;

const XML: &str = "application/xml; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SITEMAPS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";

fn kept(media_type: &'static str) -> [(HeaderName, HeaderValue); 2] {
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
        "Disallow: /gifts/",
        "Disallow: /search",
        "Disallow: /v0.2/",
        &format!("Sitemap: {}", app.urls.page("/sitemap.xml")),
        "",
    ];
    (kept(TEXT), lines.join("\n")).into_response()
}

/// `GET /sitemap.xml`: the list of all sitemaps.
pub async fn sitemaps(State(app): State<App>) -> Response {
    let view = app.directory.view();
    let count = view.snapshot.as_ref().map_or(0, |snapshot| snapshot.len());
    let mut xml = format!("{HEAD}<sitemapindex {SITEMAPS}>\n");
    let numbers = (0..count.div_ceil(PER_FILE)).map(|number| number.to_string());
    for name in std::iter::once("pages".to_owned()).chain(numbers) {
        let address = escaped(&app.urls.page(&format!("/sitemaps/{name}.xml")));
        // Writing to a String cannot fail.
        let _ = writeln!(xml, "<sitemap><loc>{address}</loc></sitemap>");
    }
    xml.push_str("</sitemapindex>\n");
    (kept(XML), xml).into_response()
}

/// `GET /sitemaps/{file}`: some of the nonprofits, or the pages beside them.
pub async fn sitemap(State(app): State<App>, PathText(file): PathText) -> Result<Response> {
    let name = file.strip_suffix(".xml").ok_or(Error::NotFound)?;
    let public = escaped(app.urls.public());
    let mut xml = format!("{HEAD}<urlset {SITEMAPS}>\n");
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
        let first = number.checked_mul(PER_FILE).ok_or(Error::NotFound)?;
        if first >= snapshot.len() {
            return Err(Error::NotFound);
        }
        let last = first.saturating_add(PER_FILE).min(snapshot.len());
        for nonprofit in (first..last).filter_map(|place| snapshot.nonprofit(place)) {
            if nonprofit.gone_at.is_none() {
                add(&format!("/{}", nonprofit.slug));
            }
        }
    }
    xml.push_str("</urlset>\n");
    Ok((kept(XML), xml).into_response())
}

/// `GET /opensearch.xml`: lets a browser search here.
pub async fn opensearch(State(app): State<App>) -> Response {
    let frame = Frame::new(Place::Elsewhere);
    let (name, about) = (escaped(frame.t.site.name), escaped(frame.p.home.about));
    let search = escaped(&app.urls.page("/search?q={searchTerms}"));
    let xml = format!(
        "{HEAD}<OpenSearchDescription xmlns=\"http://a9.com/-/spec/opensearch/1.1/\"><ShortName>{name}</ShortName>\
         <Description>{about}</Description><InputEncoding>UTF-8</InputEncoding>\
         <Url type=\"text/html\" template=\"{search}\"/></OpenSearchDescription>\n"
    );
    (kept("application/opensearchdescription+xml"), xml).into_response()
}

/// `GET /.well-known/security.txt` (RFC 9116), where the operator named a contact.
pub async fn security(State(app): State<App>) -> Result<Response> {
    let contact = app.config.security_contact.url().ok_or(Error::NotFound)?;
    let expires = Timestamp::from_millisecond(app.clock.millis() + HALF_A_YEAR).unwrap_or_default();
    let expires = expires.strftime("%Y-%m-%dT%H:%M:%SZ");
    let canonical = app.urls.page("/.well-known/security.txt");
    let text =
        format!("Contact: {contact}\nExpires: {expires}\nCanonical: {canonical}\nPreferred-Languages: en\n");
    Ok((kept(TEXT), text).into_response())
}

/// As text of an XML document, which some characters may not stand in at all.
pub fn escaped(text: &str) -> String {
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
    fn nothing_ends_the_element_it_stands_in() {
        assert_eq!(escaped("a&b<c>\"d\u{0}\u{ffff}"), "a&amp;b&lt;c&gt;&quot;d");
    }
}
