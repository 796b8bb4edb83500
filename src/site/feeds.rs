//! Feeds of the newest fundraisers, as Atom (RFC 4287): of all, and of one nonprofit.

use crate::app::App;
use crate::http::cache::IfNoneMatch;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::crawlers::escaped;
use crate::site::find::{find, moved};
use crate::web::texts::fill;
use crate::web::{Frame, Place};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::store::{self, FeedItem};
use giving::fundraisers::{SPECIAL, SPECIAL_SLUG};
use platform::clock::rfc3339;
use platform::text::cut;
use std::fmt::Write;

/// The path of the feed of all fundraisers.
pub const ADDRESS: &str = "/feeds/fundraisers.xml";

const NEWEST: i64 = 50;
/// Characters of a story that a feed tells.
const SUMMARY: usize = 500;

/// `GET /feeds/fundraisers.xml`
pub async fn all(State(app): State<App>, if_none_match: IfNoneMatch) -> Result<Response> {
    let frame = Frame::new(Place::Elsewhere);
    let news = store::list_newest(&app.db, NEWEST).await?;
    let title = frame.p.fundraiser.feed;
    answer(&app, title, "/", ADDRESS, &news, &if_none_match).await
}

/// `GET /{nonprofit}/fundraisers.xml`
pub async fn of_nonprofit(
    State(app): State<App>,
    PathText(text): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let found = find(&app.directory, &text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let address = address_of(nonprofit.slug);
    if nonprofit.slug != text {
        return Ok(moved(&address, None));
    }
    let news = match app.fundraisers.supports(nonprofit.id).await? {
        true => store::list_newest_of(&app.db, nonprofit.id, NEWEST).await?,
        false => Vec::new(),
    };
    let texts = &Frame::new(Place::Elsewhere).p.fundraiser;
    let title = fill(texts.feed_of, &[("name", nonprofit.name)]);
    let page = format!("/{}", nonprofit.slug);
    answer(&app, &title, &page, &address, &news, &if_none_match).await
}

/// The path of the feed of a nonprofit.
pub fn address_of(slug: &str) -> String {
    format!("/{slug}/fundraisers.xml")
}

async fn answer(
    app: &App,
    title: &str,
    page: &str,
    address: &str,
    news: &[FeedItem],
    if_none_match: &IfNoneMatch,
) -> Result<Response> {
    let mut entries = String::new();
    for one in news {
        entry(app, one, &mut entries).await?;
    }
    let site = Frame::new(Place::Elsewhere).t.site.name;
    let (page, own) = (app.urls.page(page), app.urls.page(address));
    let updated = news.iter().map(|one| one.changed_at).max().unwrap_or_default();
    let feed = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>{}</title>\n<id>{own}</id>\n<updated>{}</updated>\n<author><name>{}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{own}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n{entries}</feed>\n",
        escaped(title),
        rfc3339(updated),
        escaped(site),
        escaped(&page),
        own = escaped(&own),
    );
    let tag = format!("\"{:08x}-{:x}\"", crc32fast::hash(feed.as_bytes()), feed.len());
    let tag = HeaderValue::try_from(tag).map_err(|_| Error::Internal)?;
    let mut response = match if_none_match.matches(&tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "application/atom+xml; charset=utf-8")], feed).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    Ok(response)
}

async fn entry(app: &App, news: &FeedItem, out: &mut String) -> Result<()> {
    let found = match news.nonprofit == SPECIAL {
        true => None,
        false => app.directory.find(&Identifier::Id(news.nonprofit)).await?,
    };
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    let slug = match nonprofit {
        Some(nonprofit) => nonprofit.slug.to_owned(),
        None if news.nonprofit == SPECIAL => SPECIAL_SLUG.to_owned(),
        None => news.nonprofit.to_string(),
    };
    let summary = cut(news.description.as_deref().unwrap_or_default(), SUMMARY);
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<entry>\n<title>{}</title>\n<id>urn:uuid:{}</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n\
         <published>{}</published>\n<updated>{}</updated>\n<summary>{}</summary>\n</entry>\n",
        escaped(&news.title),
        news.id,
        escaped(&app.urls.fundraiser(&slug, &news.slug)),
        rfc3339(news.created_at),
        rfc3339(news.changed_at),
        escaped(summary),
    );
    Ok(())
}
