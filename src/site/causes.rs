//! The list of causes, and the nonprofits of a cause.

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::http::error::{Error, Result};
use crate::http::pagination::Pagination;
use crate::http::params::{PathText, RawQuery, positive};
use crate::site::card::Card;
use crate::site::cause_links::{CauseLink, link, offered};
use crate::web::icons;
use crate::web::numbers::thousands;
use crate::web::page::{public_response, render};
use crate::web::texts::{CausesTexts, fill};
use crate::web::{Layout, Meta, Pager, PublicPage, Section};
use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::LOCATION;
use axum::response::{IntoResponse, Response};
use directory::View;
use directory::nonprofits::causes::Category;

/// The path of the list, which no slug equals.
const PATH: &str = "/causes";
const PAGE_SIZE: u64 = 24;

#[derive(Template)]
#[template(path = "site/causes.html")]
struct CausesPage {
    layout: Layout,
    meta: Meta,
    categories: Vec<CategoryLinks>,
}

/// The causes of one category.
struct CategoryLinks {
    title: &'static str,
    icon: &'static str,
    links: Vec<CauseLink>,
}

#[derive(Template)]
#[template(path = "site/cause.html")]
struct CausePage<'a> {
    layout: Layout,
    meta: Meta,
    title: &'static str,
    name: &'static str,
    icon: &'static str,
    lead: String,
    /// Whether no nonprofit has the cause, rather than none of this page.
    is_empty: bool,
    hits: Vec<Card<'a>>,
    pager: Pager,
}

/// `GET /causes`
pub async fn causes(State(app): State<App>) -> Result<Response> {
    let view = app.directory.view();
    let html = app.caches.pages.get_or_insert_with(PATH, view.tag.as_ref(), || {
        render(&CausesPage::new(&app, &view)).map(CompressibleText::new)
    })?;
    Ok(public_response(html))
}

impl CausesPage {
    fn new(app: &App, view: &View) -> CausesPage {
        let layout = Layout::new(Section::Causes);
        let texts = &layout.p.causes;
        let offered = offered(view, app.directory.causes());
        let of_category = |category: Category| {
            let links = offered.iter().filter(|cause| cause.category == category);
            let links: Vec<CauseLink> = links.map(|cause| link(view, cause)).collect();
            (!links.is_empty()).then(|| CategoryLinks {
                title: title_of(category, texts),
                icon: icons::svg(icons::of_category(category)),
                links,
            })
        };
        CausesPage {
            meta: Meta::new(&layout, texts.title, texts.lead, app.site.urls.page(PATH)),
            categories: Category::ALL.into_iter().filter_map(of_category).collect(),
            layout,
        }
    }
}

/// `GET /causes/{cause}`
pub async fn cause(
    State(app): State<App>,
    PathText(name): PathText,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    let causes = app.directory.causes();
    let cause = causes.find(&name).ok_or_else(|| Error::unknown_cause(&name))?;
    if cause.name != name {
        let path = format!("/causes/{}", cause.name);
        return Ok((StatusCode::MOVED_PERMANENTLY, [(LOCATION, path)]).into_response());
    }
    let view = app.directory.view();
    let page = positive(&query, "page").ok().flatten().unwrap_or(1) as u64;
    let pagination = Pagination::new(page, PAGE_SIZE, view.count_by_cause(&cause.name));
    let found = view.list_by_cause(&cause.name, pagination.skipped(), PAGE_SIZE as usize);
    let layout = Layout::new(Section::Causes);
    let count = thousands(pagination.total_results);
    let title = cause.title.as_str();
    let is_empty = pagination.total_results == 0;
    let lead = if is_empty {
        layout.p.causes.none_of_cause.to_owned()
    } else {
        fill(
            layout.p.causes.lead_of_one,
            &[("count", &count), ("title", title)],
        )
    };
    let path = match page {
        1 => format!("/causes/{}", cause.name),
        _ => format!("/causes/{}?page={page}", cause.name),
    };
    let meta = Meta::new(&layout, title, &lead, app.site.urls.page(&path));
    let page = CausePage {
        meta: if is_empty { meta.noindex() } else { meta },
        title,
        name: &cause.name,
        icon: icons::svg(icons::of_cause(cause)),
        lead,
        is_empty,
        hits: found
            .iter()
            .filter_map(|location| Some(Card::new(&view.nonprofit(*location)?, &[], causes)))
            .collect(),
        pager: Pager::new(
            &layout,
            format!("/causes/{}?", cause.name),
            pagination.page,
            pagination.pages,
        ),
        layout,
    };
    Ok(PublicPage(page).into_response())
}

fn title_of(category: Category, texts: &CausesTexts) -> &'static str {
    match category {
        Category::Animals => texts.animals,
        Category::Education => texts.education,
        Category::Environment => texts.environment,
        Category::Health => texts.health,
        Category::HumanAndCivilRights => texts.rights,
        Category::HumanServices => texts.services,
        Category::ResearchAndPublicPolicy => texts.research,
    }
}
