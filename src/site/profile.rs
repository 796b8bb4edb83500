//! The profile of a nonprofit, `/{slug}`: drawn from the directory in memory.

pub mod facts;

use crate::app::App;
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::checkout::link::GiveBox;
use crate::site::feeds;
use crate::site::find::{find, moved};
use crate::site::fundraiser_links::{self, Line};
use crate::site::profile::facts::Bar;
use crate::site::share_cards;
use crate::site::share_links::ShareLinks;
use crate::web::page::{draw, public};
use crate::web::texts::fill;
use crate::web::{Frame, Meta, Place, PublicPage};
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
    frame: Frame,
    meta: Meta,
    nonprofit: Nonprofit<'a>,
    address: String,
    logo: String,
    cover: String,
    location: String,
    description: String,
    website: Option<Website<'a>>,
    ein: Option<String>,
    causes: Vec<&'a Cause>,
    told: Vec<String>,
    year: Option<u32>,
    bars: Vec<Bar>,
    source: Option<String>,
    share: ShareLinks,
    fundraisers: Vec<Line>,
    give: GiveBox,
}

struct Website<'a> {
    address: &'a str,
    host: &'a str,
}

/// `GET /{slug}`; other ways to name a nonprofit lead to it.
pub async fn profile(
    State(app): State<App>,
    PathText(text): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    // A state of the directory that is older than what is read from it keeps nothing that is out of date.
    let tag = app.directory.view().tag.clone();
    let found = find(&app.directory, &text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    if nonprofit.slug != text {
        return Ok(moved(&format!("/{}", nonprofit.slug), query.as_deref()));
    }
    let revision = app.directory.view().revision;
    let source = app.provenance.find(&app.db, revision).await;
    let fundraisers = fundraiser_links::lines(&app.db, &app.fundraisers, &nonprofit).await?;
    let is_plain = query.is_none() && fundraisers.is_empty() && source.is_ok();
    let source = source.ok().flatten();
    let give = GiveBox::read(query.as_deref());
    let page = || Profile::new(&app, &nonprofit, source.as_deref(), fundraisers, give);
    if !is_plain {
        return Ok(PublicPage(page()).into_response());
    }
    // Then it says what the directory does, and nothing else.
    let kept = app
        .pages
        .get_or_insert_with(nonprofit.slug, tag.as_ref(), || draw(&page()).map(Bytes::from))?;
    Ok(public(Html(kept)))
}

impl<'a> Profile<'a> {
    fn new(
        app: &App,
        nonprofit: &Nonprofit<'a>,
        source: Option<&IrsImport>,
        fundraisers: Vec<Line>,
        give: GiveBox,
    ) -> Profile<'a> {
        let (frame, urls) = (Frame::new(Place::Elsewhere), &app.urls);
        let texts = &frame.p.profile;
        let location = nonprofit.location();
        let description = nonprofit.description(&location).into_owned();
        let address = urls.profile(nonprofit.slug);
        let meta = Meta::new(&frame, nonprofit.name, &description, address.clone())
            .picture(urls.share_card(
                &format!("/{}", nonprofit.slug),
                &share_cards::of_nonprofit(app.directory.causes(), nonprofit),
            ))
            .facts(&facts::for_machines(nonprofit, &description, &address, urls));
        let meta = match fundraisers.is_empty() {
            true => meta,
            false => meta.feed(
                feeds::address_of(nonprofit.slug),
                fill(frame.p.fundraiser.feed_of, &[("name", nonprofit.name)]),
            ),
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
            told: facts
                .map(|facts| facts::sentences(facts, texts))
                .unwrap_or_default(),
            year: facts.and_then(facts::return_year),
            bars: facts.map(|facts| facts::bars(facts, texts)).unwrap_or_default(),
            source: facts
                .and(source)
                .map(|source| fill(texts.source, &[("files", &source.files), ("day", &source.day)])),
            share: ShareLinks::new(nonprofit.name, address),
            address: format!("/{}", nonprofit.slug),
            nonprofit: *nonprofit,
            fundraisers,
            give,
            frame,
        }
    }
}

impl<'a> Website<'a> {
    /// Only an address of the web becomes a link.
    fn new(address: &'a str) -> Option<Website<'a>> {
        let rest = address
            .strip_prefix("https://")
            .or_else(|| address.strip_prefix("http://"))?;
        let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        Some(Website {
            address,
            host: host.strip_prefix("www.").unwrap_or(host),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_the_web_becomes_a_link() {
        assert_eq!(
            Website::new("https://www.redcross.org/give?x").unwrap().host,
            "redcross.org"
        );
        for address in ["javascript:alert(1)", "data:text/html,x", "//evil", ""] {
            assert!(Website::new(address).is_none(), "{address}");
        }
    }
}
