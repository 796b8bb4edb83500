//! Atom feeds (RFC 4287) of the newest fundraisers, for all nonprofits or for one.

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::http::cache::IfNoneMatch;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::find::{find, redirect_permanently};
use crate::site::fundraiser_links::find_verified_totals;
use crate::web::fundraiser_article::supporters_line;
use crate::web::texts::fill;
use crate::web::{Layout, Section};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use directory::NonprofitRef;
use directory::nonprofits::identifier::Identifier;
use giving::fundraisers::store::{self, FeedItem};
use giving::fundraisers::{SPECIAL, SPECIAL_SLUG, path};
use platform::clock::rfc3339;
use platform::text::{cut, escape_xml};
use std::fmt::Write;

/// The path of the feed of all fundraisers.
pub const PATH: &str = "/feeds/fundraisers.xml";

/// The number of fundraisers in a feed.
const MAX_ENTRIES: i64 = 50;
/// The maximum length of a summary in characters.
const MAX_SUMMARY_CHARS: usize = 500;

/// `GET /feeds/fundraisers.xml`
pub async fn all(State(app): State<App>, if_none_match: IfNoneMatch) -> Result<Response> {
    let layout = Layout::new(Section::Other);
    let news = store::list_newest(&app.db, MAX_ENTRIES).await?;
    let title = layout.p.fundraiser.feed;
    respond(&app, title, "/", PATH, &news, &if_none_match).await
}

/// `GET /{nonprofit}/fundraisers.xml`
pub async fn of_nonprofit(
    State(app): State<App>,
    PathText(text): PathText,
    if_none_match: IfNoneMatch,
) -> Result<Response> {
    let found = find(&app.directory, &text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    let path = path_of(nonprofit.slug);
    if nonprofit.slug != text {
        return Ok(redirect_permanently(&path, None));
    }
    let news = if app.giving.fundraisers.supports(nonprofit.id).await? {
        store::list_newest_of(&app.db, nonprofit.id, MAX_ENTRIES).await?
    } else {
        Vec::new()
    };
    let texts = &Layout::new(Section::Other).p.fundraiser;
    let title = fill(texts.feed_of, &[("name", nonprofit.name)]);
    let page = format!("/{}", nonprofit.slug);
    respond(&app, &title, &page, &path, &news, &if_none_match).await
}

/// Returns the path of the feed of a nonprofit.
pub fn path_of(slug: &str) -> String {
    format!("/{slug}/fundraisers.xml")
}

async fn respond(
    app: &App,
    title: &str,
    page: &str,
    path: &str,
    news: &[FeedItem],
    if_none_match: &IfNoneMatch,
) -> Result<Response> {
    let mut entries = String::new();
    for one in news {
        entry(app, one, &mut entries).await?;
    }
    let site = Layout::new(Section::Other).t.site.name;
    let (page, own) = (app.site.urls.page(page), app.site.urls.page(path));
    let updated = news.iter().map(|one| one.changed_at).max().unwrap_or_default();
    let feed = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <title>{}</title>\n<id>{own}</id>\n<updated>{}</updated>\n<author><name>{}</name></author>\n\
         <link rel=\"self\" type=\"application/atom+xml\" href=\"{own}\"/>\n\
         <link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n{entries}</feed>\n",
        escape_xml(title),
        rfc3339(updated),
        escape_xml(site),
        escape_xml(&page),
        own = escape_xml(&own),
    );
    let tag = format!("W/\"{:08x}-{:x}\"", crc32fast::hash(feed.as_bytes()), feed.len());
    let tag = HeaderValue::try_from(tag).map_err(|_| Error::Internal)?;
    let mut response = if if_none_match.matches(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let headers = [(CONTENT_TYPE, "application/atom+xml; charset=utf-8")];
        (headers, CompressibleText::once(feed)).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, tag);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    Ok(response)
}

async fn entry(app: &App, news: &FeedItem, out: &mut String) -> Result<()> {
    let found = if news.nonprofit == SPECIAL {
        None
    } else {
        app.directory.find(&Identifier::Id(news.nonprofit)).await?
    };
    let nonprofit = found.as_ref().and_then(NonprofitRef::nonprofit);
    let slug = match nonprofit {
        Some(nonprofit) => nonprofit.slug.to_owned(),
        None if news.nonprofit == SPECIAL => SPECIAL_SLUG.to_owned(),
        None => news.nonprofit.to_string(),
    };
    let summary = cut(news.description.as_deref().unwrap_or_default(), MAX_SUMMARY_CHARS);
    let raised = raised_line(app, news).await?;
    let summary = if summary.is_empty() {
        raised
    } else {
        format!("{summary}\n\n{raised}")
    };
    // Writing to a String cannot fail.
    let _ = write!(
        out,
        "<entry>\n<title>{}</title>\n<id>urn:uuid:{}</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"{}\"/>\n\
         <published>{}</published>\n<updated>{}</updated>\n<summary>{}</summary>\n</entry>\n",
        escape_xml(&news.title),
        news.id,
        escape_xml(&app.site.urls.page(&path(&slug, &news.slug))),
        rfc3339(news.created_at),
        rfc3339(news.changed_at),
        escape_xml(&summary),
    );
    Ok(())
}

/// Returns what a fundraiser has raised, in one line.
async fn raised_line(app: &App, news: &FeedItem) -> Result<String> {
    let texts = &Layout::new(Section::Other).p.fundraiser;
    let fundraisers = &app.giving.fundraisers;
    let totals = find_verified_totals(fundraisers, news.nonprofit, news.id, app.is_test_mode()).await?;
    let raised = fill(texts.raised, &[("amount", &totals.raised.to_string())]);
    let line = format!("{raised} · {}", supporters_line(totals.supporters, texts));
    Ok(if app.is_test_mode() {
        format!("{}: {line}", texts.test_mode)
    } else {
        line
    })
}
