//! The sitemaps: an index, one of the pages of the site, and numbered ones of all nonprofits.
//!
//! Those of the nonprofits are files that were written with the snapshot. They are sent as they are, compressed, or
//! decompressed piece by piece for the few clients that do not accept gzip.

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::http::cache::IfNoneMatch;
use crate::http::client::Client;
use crate::http::compression::{VARY_BY_ENCODING, accepts_gzip};
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::cause_links::offered;
use crate::site::developers;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    LAST_MODIFIED, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::snapshot::sitemaps::{Sitemap, Sitemaps, XML_DECLARATION, XML_NAMESPACE};
use futures_util::stream;
use jiff::Timestamp;
use platform::text::escape_xml;
use std::fmt::Write;
use std::io::{self, Read};
use std::sync::Arc;

const XML: HeaderValue = HeaderValue::from_static("application/xml; charset=utf-8");
const CACHEABLE: HeaderValue = HeaderValue::from_static("public, max-age=3600");
const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// The format of dates in headers (RFC 9110).
const HTTP_DATE: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// The pages that are not about one nonprofit or cause.
const PAGES: [&str; 10] = [
    "/",
    "/causes",
    "/fundraisers",
    "/about",
    "/contact",
    "/developers/embed",
    "/developers/reference",
    "/privacy",
    "/terms",
    "/accessibility",
];

/// The XML that is decompressed at a time.
const PIECE_SIZE: usize = 64 * 1_024;

/// `GET /sitemap.xml`: the index of all sitemaps.
pub async fn index(State(app): State<App>) -> Result<Response> {
    let sitemaps = find(&app).await?;
    let count = sitemaps.map_or(0, |sitemaps| sitemaps.len());
    let mut xml = format!("{XML_DECLARATION}<sitemapindex {XML_NAMESPACE}>\n");
    let numbers = (0..count).map(|number| number.to_string());
    for name in std::iter::once("pages".to_owned()).chain(numbers) {
        let url = escape_xml(&app.site.urls.page(&format!("/sitemaps/{name}.xml")));
        // Writing to a String cannot fail.
        let _ = writeln!(xml, "<sitemap><loc>{url}</loc></sitemap>");
    }
    xml.push_str("</sitemapindex>\n");
    let headers = [(CONTENT_TYPE, XML), (CACHE_CONTROL, CACHEABLE)];
    Ok((headers, CompressibleText::once(xml)).into_response())
}

/// `GET /sitemaps/{file}`: `pages.xml`, or a numbered part of the nonprofits.
pub async fn sitemap(
    State(app): State<App>,
    PathText(file): PathText,
    client: Client,
    if_none_match: IfNoneMatch,
    headers: HeaderMap,
) -> Result<Response> {
    let name = file.strip_suffix(".xml").ok_or(Error::NotFound)?;
    if name == "pages" {
        return Ok(pages(&app));
    }
    let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
    let number: usize = name.parse().ok().filter(|_| is_number).ok_or(Error::NotFound)?;
    let sitemaps = find(&app).await?.ok_or(Error::Unavailable)?;
    let sitemap = sitemaps.find(number).ok_or(Error::NotFound)?;
    Ok(respond(&app, client, sitemap, &if_none_match, &headers))
}

/// Finds the sitemaps of the nonprofits. If they cannot be written now, a later request can succeed.
async fn find(app: &App) -> Result<Option<Arc<Sitemaps>>> {
    app.sitemaps().await.map_err(|error| {
        let error = format!("{error:#}");
        tracing::error!(error, "the sitemaps are not available");
        Error::Unavailable
    })
}

/// The sitemap of the pages that are not about one nonprofit.
fn pages(app: &App) -> Response {
    let view = app.directory.view();
    let causes = offered(&view, app.directory.causes()).into_iter();
    let causes = causes.map(|cause| format!("/causes/{}", cause.name));
    let mut xml = format!("{XML_DECLARATION}<urlset {XML_NAMESPACE}>\n");
    let own = PAGES.map(str::to_owned);
    for path in own.into_iter().chain(developers::guide_paths()).chain(causes) {
        let _ = writeln!(
            xml,
            "<url><loc>{}</loc></url>",
            escape_xml(&app.site.urls.page(&path))
        );
    }
    xml.push_str("</urlset>\n");
    let headers = [(CONTENT_TYPE, XML), (CACHE_CONTROL, CACHEABLE)];
    (headers, CompressibleText::once(xml)).into_response()
}

fn respond(
    app: &App,
    client: Client,
    sitemap: Sitemap,
    if_none_match: &IfNoneMatch,
    request: &HeaderMap,
) -> Response {
    let is_compressed = accepts_gzip(request);
    // The same XML in another encoding is another representation, with a tag of its own.
    let encoding = if is_compressed { "-gzip" } else { "" };
    let tag = format!("\"{:08x}{encoding}\"", sitemap.checksum());
    let tag = HeaderValue::from_str(&tag).expect("hexadecimal digits");
    let modified_at = Timestamp::from_millisecond(sitemap.modified_at()).unwrap_or_default();
    let is_known = if request.contains_key(IF_NONE_MATCH) {
        if_none_match.matches(&tag)
    } else {
        is_unmodified_since(request, modified_at)
    };
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else if is_compressed {
        let body = Body::from(Bytes::from_owner(sitemap));
        ([(CONTENT_ENCODING, GZIP)], body).into_response()
    } else {
        let length = HeaderValue::from(sitemap.xml_size());
        (
            [(CONTENT_LENGTH, length)],
            decompressed(app.clone(), client, sitemap),
        )
            .into_response()
    };
    let headers = response.headers_mut();
    if !is_known {
        headers.insert(CONTENT_TYPE, XML);
    }
    let modified_at = modified_at.strftime(HTTP_DATE).to_string();
    if let Ok(modified_at) = HeaderValue::from_str(&modified_at) {
        headers.insert(LAST_MODIFIED, modified_at);
    }
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, CACHEABLE);
    headers.insert(VARY, VARY_BY_ENCODING);
    response
}

/// Decompresses a sitemap as fast as the client reads it.
fn decompressed(app: App, client: Client, sitemap: Sitemap) -> Body {
    let pieces = stream::try_unfold((app, sitemap.decompress()), move |(app, mut xml)| async move {
        let read = app.bulk_work.run_piece(client.owner(), move || {
            let mut piece = Vec::with_capacity(PIECE_SIZE);
            xml.by_ref().take(PIECE_SIZE as u64).read_to_end(&mut piece)?;
            io::Result::Ok((piece, xml))
        });
        let (piece, xml) = read.await.map_err(io::Error::other)??;
        io::Result::Ok((!piece.is_empty()).then(|| (Bytes::from(piece), (app, xml))))
    });
    Body::from_stream(pieces)
}

/// Returns whether the client has a version of at least this time. A date that cannot be read is ignored.
fn is_unmodified_since(headers: &HeaderMap, modified_at: Timestamp) -> bool {
    let since = headers.get(IF_MODIFIED_SINCE).and_then(|date| date.to_str().ok());
    let since = since.and_then(|date| jiff::civil::DateTime::strptime(HTTP_DATE, date).ok());
    let since = since.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok());
    since.is_some_and(|since| since.timestamp().as_second() >= modified_at.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_compared_by_the_second() {
        let modified_at: Timestamp = "1994-11-06T08:49:37.900Z".parse().unwrap();
        for (date, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", true),
            ("Sun, 06 Nov 1994 08:49:38 GMT", true),
            ("Sun, 06 Nov 1994 08:49:36 GMT", false),
            ("yesterday", false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_MODIFIED_SINCE, HeaderValue::from_static(date));
            assert_eq!(is_unmodified_since(&headers, modified_at), expected, "{date}");
        }
    }
}
