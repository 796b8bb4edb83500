//! The profile of a nonprofit, `/{slug}`.
//!
//! It is rendered from the directory in memory, with the fundraisers, returns and sources in the store. While the store is
//! down, it is shown without them, and with the amounts of the latest return.

pub mod chart;
pub mod facts;
pub mod finances;
pub mod sources;

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::app::urls::Urls;
use crate::http::error::{Error, Result};
use crate::http::params::PathText;
use crate::site::card::Card;
use crate::site::checkout::link::GiveBox;
use crate::site::checkout::target::{find_account, has_no_donee};
use crate::site::feeds;
use crate::site::find::{find, redirect_permanently};
use crate::site::fundraiser_links::{self, FundraiserLink};
use crate::site::own_site::{OwnSite, Website};
use crate::site::profile::facts::{Bar, KeyFact};
use crate::site::profile::finances::Finances;
use crate::site::profile::sources::SourceRow;
use crate::site::share_cards;
use crate::web::page::{public_response, render};
use crate::web::share_links::ShareLinks;
use crate::web::texts::{PUBLIC_EN, fill};
use crate::web::{Layout, Meta, PublicPage, Section};
use access::claims::settings::WithoutConsent;
use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::history::field_sources;
use directory::nonprofits::Nonprofit;
use directory::nonprofits::causes::Cause;
use directory::returns::years;
use giving::providers::Provider;
use platform::db::Revision;
use std::sync::Arc;

/// The number of similar nonprofits.
const MAX_SIMILAR: usize = 4;

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
    /// Its EIN and tax status.
    standing: String,
    /// What it does, in its own words or those of its return. Without any, the page shows the facts only.
    mission: Option<&'a str>,
    /// What is known in sentences, if the nonprofit says nothing itself.
    about: Option<String>,
    key_facts: Vec<KeyFact>,
    website: Option<Website>,
    ein: Option<String>,
    causes: Vec<&'a Cause>,
    irs_sentences: Vec<String>,
    year: Option<u32>,
    bars: Vec<Bar>,
    /// Why donations cannot be passed on to it.
    refusal: Option<String>,
    /// Whether the page says that the nonprofit has not reviewed it.
    is_unreviewed: bool,
    finances: Finances,
    sources: Vec<SourceRow>,
    share: ShareLinks,
    fundraisers: Vec<FundraiserLink>,
    similar: Vec<Card<'a>>,
    is_test_mode: bool,
    /// None if it cannot receive donations here.
    give: Option<GiveBox>,
    /// Where people can give instead, if this server does not accept donations.
    own_site: Option<OwnSite>,
}

/// `GET /{slug}`; an ID, an EIN or a former slug redirects to it.
pub async fn profile(
    State(app): State<App>,
    PathText(text): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    // The tags are read first: if something changes meanwhile, the page is cached under the old tag and expires.
    let tag = app.directory.view().tag.clone();
    let found = find(&app.directory, &text).await?;
    let nonprofit = found.nonprofit().ok_or(Error::Internal)?;
    if nonprofit.slug != text {
        return Ok(redirect_permanently(
            &format!("/{}", nonprofit.slug),
            query.as_deref(),
        ));
    }
    let budget = app.optional_reads.budget();
    let supports = budget.read(app.giving.fundraisers.supports(nonprofit.id)).await;
    let tag = if supports.unwrap_or(true) {
        let version = app.giving.fundraisers.version().await;
        tag.map(|tag| Arc::from(format!("{tag} {version}")))
    } else {
        tag
    };
    if query.is_none()
        && let Some(html) = app.caches.pages.get(nonprofit.slug, tag.as_ref())
    {
        return Ok(public_response(html));
    }
    let revision = app.directory.view().revision;
    let filings = budget.read(Filings::read(&app, &nonprofit, revision)).await;
    let is_test_mode = app.is_test_mode();
    // Without the store, the page shows what is known.
    let fundraisers = fundraiser_links::list(&app.db, &app.giving.fundraisers, &nonprofit, is_test_mode);
    let fundraisers = budget.read(fundraisers).await;
    let account = budget.read(find_account(&app, nonprofit.id)).await;
    let mut is_complete = filings.is_ok() && fundraisers.is_ok() && account.is_ok();
    let has_donee = !account.is_ok_and(|account| has_no_donee(&app, account.as_deref()));
    let accepts_donations = app.config.giving != Provider::Off && has_donee;
    let fundraisers = fundraisers.unwrap_or_default();
    let filings = filings.unwrap_or_else(|_| Filings::without_store(&nonprofit));
    let can_receive = app.directory.may_receive(&nonprofit);
    let give = (can_receive && accepts_donations).then(|| GiveBox::parse(query.as_deref()));
    let own_site = if can_receive && !accepts_donations {
        let own_site = budget.read(OwnSite::find(&app, &nonprofit)).await;
        is_complete &= own_site.is_ok();
        Some(own_site.unwrap_or_else(|_| OwnSite::new(&nonprofit, None)))
    } else {
        None
    };
    let is_cacheable = query.is_none() && is_complete;
    let view = app.directory.view();
    let page = || Profile::new(&app, &view, &nonprofit, filings, fundraisers, give, own_site);
    if !is_cacheable {
        return Ok(PublicPage(page()).into_response());
    }
    // The page depends only on the directory, and on fundraisers if the nonprofit has some.
    let html = app
        .caches
        .pages
        .get_or_insert_with(nonprofit.slug, tag.as_ref(), || {
            render(&page()).map(CompressibleText::new)
        })?;
    Ok(public_response(html))
}

impl<'a> Profile<'a> {
    fn new(
        app: &App,
        view: &'a View,
        nonprofit: &Nonprofit<'a>,
        filings: Filings,
        fundraisers: Vec<FundraiserLink>,
        give: Option<GiveBox>,
        own_site: Option<OwnSite>,
    ) -> Profile<'a> {
        let (layout, urls) = (Layout::new(Section::Other), &app.site.urls);
        let texts = &layout.p.profile;
        let without_consent = app.config.claims.without_consent;
        let is_unreviewed = without_consent != WithoutConsent::Allow && !nonprofit.has_consented;
        // Without its consent, none of its marks are shown.
        let unmarked = Nonprofit {
            logo: None,
            cover: None,
            ..*nonprofit
        };
        let nonprofit = if is_unreviewed { &unmarked } else { nonprofit };
        let location = nonprofit.location();
        let description = nonprofit.description(&location).into_owned();
        let url = urls.profile(nonprofit.slug);
        let card = share_cards::of_nonprofit(app.directory.causes(), nonprofit);
        let meta = Meta::new(&layout, nonprofit.name, &description, url.clone())
            .image(
                urls.share_card(&format!("/{}", nonprofit.slug), &card),
                card.kind().content_type(),
            )
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
            standing: facts::standing(nonprofit, texts),
            mission: nonprofit.own_description,
            about: (nonprofit.own_description.is_none() && nonprofit.description_long.is_none())
                .then(|| facts::about(nonprofit, &description, texts)),
            key_facts: facts::key_facts(nonprofit, texts),
            website: nonprofit.website_url.and_then(Website::new),
            ein: nonprofit.ein.map(directory::nonprofits::ein::Ein::dashed),
            causes: app.directory.causes().of_set(nonprofit.causes).collect(),
            refusal: if nonprofit.is_closed {
                Some(texts.closed_at_its_request.to_owned())
            } else if without_consent == WithoutConsent::Refuse && is_unreviewed {
                Some(texts.needs_consent.to_owned())
            } else {
                facts::refusal(nonprofit, texts)
            },
            is_unreviewed,
            irs_sentences: facts::sentences(nonprofit, texts),
            year: facts.and_then(facts::return_year),
            bars: facts
                .filter(|_| filings.finances.is_empty())
                .map(|facts| facts::bars(facts, texts))
                .unwrap_or_default(),
            finances: filings.finances,
            sources: filings.sources,
            share: ShareLinks::new(nonprofit.name, url),
            path: format!("/{}", nonprofit.slug),
            nonprofit: *nonprofit,
            fundraisers,
            similar: view
                .find_similar(nonprofit, MAX_SIMILAR)
                .iter()
                .map(|similar| Card::new(similar, &[], app.directory.causes()))
                .collect(),
            is_test_mode: app.is_test_mode(),
            give,
            own_site,
            layout,
        }
    }
}

/// What a profile shows of returns, and the sources of what it shows.
struct Filings {
    finances: Finances,
    sources: Vec<SourceRow>,
}

impl Filings {
    async fn read(app: &App, nonprofit: &Nonprofit<'_>, revision: Revision) -> sqlx::Result<Filings> {
        let texts = &PUBLIC_EN.profile;
        let imports = app.caches.provenance.list(&app.db, revision).await?;
        let sources = field_sources::list(&app.db, &imports, nonprofit.id).await?;
        let years = match nonprofit.ein.filter(|_| nonprofit.tax.latest_return.is_some()) {
            Some(ein) => years::list(&app.db, ein).await?,
            None => Vec::new(),
        };
        Ok(Filings {
            finances: Finances::new(nonprofit.ein, &years, texts),
            sources: sources::rows(&sources.unwrap_or_default(), &years, texts),
        })
    }

    fn without_store(nonprofit: &Nonprofit<'_>) -> Filings {
        Filings {
            finances: Finances::of_latest(nonprofit.tax.latest_return, &PUBLIC_EN.profile),
            sources: Vec::new(),
        }
    }
}
