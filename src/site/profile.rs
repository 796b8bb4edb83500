//! The profile of a nonprofit, `/{slug}`, rendered from the directory in memory.

pub mod facts;

use crate::app::App;
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::find::{find, redirect_permanently};
use crate::site::fundraiser_links::{self, FundraiserLink};
use crate::site::profile::facts::Bar;
use crate::site::share_cards;
use crate::site::share_links::ShareLinks;
use crate::web::page::{public_response, render};
use crate::web::texts::fill;
use crate::web::{Layout, Meta, PublicPage, Section};
use askama::Template;
use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::response::{Html, IntoResponse, Response};
use directory::import::store::IrsImport;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::Cause;

#[derive(Template)]
#[template(path = "site/profile.html")]
struct Profile<'a> {
    layout: Layout,
    meta: Meta,
    nonprofit: Nonprofit<'a>,
    path: String,
    logo: String,
    cover: String,
    location: String,
    description: String,
    website: Option<Website<'a>>,
    ein: Option<String>,
    causes: Vec<&'a Cause>,
    irs_sentences: Vec<String>,
    year: Option<u32>,
    bars: Vec<Bar>,
    source: Option<String>,
    share: ShareLinks,
    fundraisers: Vec<FundraiserLink>,
    give: GiveBox,
}

struct Website<'a> {
    url: &'a str,
    host: &'a str,
}

/// `GET /{slug}`; an ID, an EIN or a former slug redirects to it.
pub async fn profile(
    State(app): State<App>,
    PathText(text): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    // The tag is read first: if the directory changes meanwhile, the page is cached under the old tag and expires.
    let tag = app.directory.view().tag.clone();
    let found = find(&app.directory, &text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    if nonprofit.slug != text {
        return Ok(redirect_permanently(
            &format!("/{}", nonprofit.slug),
            query.as_deref(),
        ));
    }
    let revision = app.directory.view().revision;
    let source = app.provenance.find(&app.db, revision).await;
    let fundraisers = fundraiser_links::list(&app.db, &app.fundraisers, &nonprofit).await?;
    let is_cacheable = query.is_none() && fundraisers.is_empty() && source.is_ok();
    let source = source.ok().flatten();
    let give = GiveBox::parse(query.as_deref());
    let page = || Profile::new(&app, &nonprofit, source.as_deref(), fundraisers, give);
    if !is_cacheable {
        return Ok(PublicPage(page()).into_response());
    }
    // The page now depends only on the directory.
    let html = app
        .pages
        .get_or_insert_with(nonprofit.slug, tag.as_ref(), || render(&page()).map(Bytes::from))?;
    Ok(public_response(Html(html)))
}

impl<'a> Profile<'a> {
    fn new(
        app: &App,
        nonprofit: &Nonprofit<'a>,
        source: Option<&IrsImport>,
        fundraisers: Vec<FundraiserLink>,
        give: GiveBox,
    ) -> Profile<'a> {
        let (layout, urls) = (Layout::new(Section::Other), &app.urls);
        let texts = &layout.p.profile;
        let location = nonprofit.location();
        let description = nonprofit.description(&location).into_owned();
        let url = urls.profile(nonprofit.slug);
        let meta = Meta::new(&layout, nonprofit.name, &description, url.clone())
            .image(urls.share_card(
                &format!("/{}", nonprofit.slug),
                &share_cards::of_nonprofit(app.directory.causes(), nonprofit),
            ))
            .json_ld(&facts::json_ld(nonprofit, &description, &url, urls));
        let meta = if fundraisers.is_empty() {
            meta
        } else {
            meta.feed(
                feeds::path_of(nonprofit.slug),
                fill(layout.p.fundraiser.feed_of, &[("name", nonprofit.name)]),
            )
        };
        let facts = nonprofit.facts.as_ref();
        Profile {
            meta,
            logo: Urls::logo_path(nonprofit),
            cover: Urls::cover_path(nonprofit),
            location,
            description,
            website: nonprofit.website_url.and_then(Website::new),
            ein: nonprofit.ein.map(directory::nonprofits::ein::Ein::dashed),
            causes: app.directory.causes().of_set(nonprofit.causes).collect(),
            irs_sentences: facts
                .map(|facts| facts::sentences(facts, texts))
                .unwrap_or_default(),
            year: facts.and_then(facts::return_year),
            bars: facts.map(|facts| facts::bars(facts, texts)).unwrap_or_default(),
            source: facts
                .and(source)
                .map(|source| fill(texts.source, &[("files", &source.files), ("day", &source.day)])),
            share: ShareLinks::new(nonprofit.name, url),
            path: format!("/{}", nonprofit.slug),
            nonprofit: *nonprofit,
            fundraisers,
            give,
            layout,
        }
    }
}

impl<'a> Website<'a> {
    /// Returns the link, or `None` if the URL is not an `http` or `https` URL.
    fn new(url: &'a str) -> Option<Website<'a>> {
        let rest = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        Some(Website {
            url,
            host: host.strip_prefix("www.").unwrap_or(host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_and_https_urls_become_links() {
        assert_eq!(
            Website::new("https://www.redcross.org/give?x").unwrap().host,
            "redcross.org"
        );
        for url in ["javascript:alert(1)", "data:text/html,x", "//evil", ""] {
            assert!(Website::new(url).is_none(), "{url}");
        }
    }
}
