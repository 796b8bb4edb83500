//! The documentation for developers: guides from Markdown, the reference of the API with a console, and a search over
//! both. Everything is rendered once, for the first page that is requested; after that, a request only writes the reader's
//! key into the samples.

mod guides;
mod markdown;
mod menu;
mod postman;
pub mod reader;
mod reference;
mod request_samples;
mod samples;
mod schema;
mod search;

use crate::app::App;
use crate::app::compressible_text::CompressibleText;
use crate::http::error::{Error, Result};
use crate::http::params::{PathText, RawQuery, decode, pairs, values};
use crate::http::routing::get;
use crate::web::texts::{self, DEVELOPERS_EN, fill};
use crate::web::{Layout, Meta, Page, PublicPage, Section};
use askama::Template;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
pub use guides::paths as guide_paths;
use guides::{Group, Guide};
use markdown::Heading;
use menu::{Link, Menu};
use platform::text::cut;
use reader::Reader;
use reference::{Input, Operation, Tag};
use search::{Entry, SearchIndex, SearchResult};
use serde_json::json;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};
use utoipa::openapi::OpenApi;

/// The longest text that is searched for, in bytes.
const MAX_QUERY: usize = 256;
/// The number of results while somebody types.
const MAX_LIVE_RESULTS: usize = 8;

const MARKDOWN: &str = "text/markdown; charset=utf-8";
const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// The documentation of a server.
#[derive(Debug)]
struct Documentation {
    guides: Vec<Guide>,
    tags: Vec<Tag>,
    operations: Vec<Operation>,
    menu: Menu,
    index: SearchIndex,
    postman: CompressibleText,
}

/// What all pages of the documentation share.
struct Frame<'a> {
    d: &'static texts::Documentation,
    r: &'static texts::Reference,
    menu: &'a Menu,
    /// The path of this page.
    path: &'a str,
    title: &'a str,
    /// What was searched for.
    typed: &'a str,
    headings: &'a [Heading],
}

impl Frame<'_> {
    fn aria_current(&self, link: &Link) -> &'static str {
        if link.path == self.path { "page" } else { "false" }
    }

    fn previous(&self) -> Option<&Link> {
        self.menu.around(self.path).0
    }

    fn next(&self) -> Option<&Link> {
        self.menu.around(self.path).1
    }

    fn is_overview(&self) -> bool {
        self.path == "/developers"
    }

    fn is_operation(&self) -> bool {
        self.path.starts_with("/developers/reference/")
    }
}

#[derive(Template)]
#[template(path = "site/developers/guide.html")]
struct GuidePage<'a> {
    layout: Layout,
    meta: Meta,
    frame: Frame<'a>,
    /// The URL of its Markdown version.
    markdown: String,
    lead_html: &'a str,
    html: String,
    has_samples: bool,
    reader: Reader,
}

#[derive(Template)]
#[template(path = "site/developers/results.html")]
struct ResultsPage<'a> {
    layout: Layout,
    meta: Meta,
    frame: Frame<'a>,
    found: Vec<SearchResult<'a>>,
    count: String,
}

#[derive(Template)]
#[template(path = "site/developers/reference.html")]
struct ReferencePage<'a> {
    layout: Layout,
    meta: Meta,
    frame: Frame<'a>,
    tags: &'a [Tag],
    operations: &'a [Operation],
}

#[derive(Template)]
#[template(path = "site/developers/operation.html")]
struct OperationPage<'a> {
    layout: Layout,
    meta: Meta,
    frame: Frame<'a>,
    operation: &'a Operation,
    inputs: Vec<Input>,
    /// The sample as HTML, with the key of the reader.
    sample: String,
    /// The path and query of the request that the form describes, if the form was sent without JavaScript.
    request: Option<String>,
    base: &'a str,
    public_key: String,
}

/// Returns the routes of the documentation.
pub fn routes(app: &App, description: &'static OpenApi) -> Router<App> {
    let public_url = app.site.urls.public().to_owned();
    let render = move || Documentation::new(&public_url, description);
    let documentation = Arc::new(LazyLock::new(render));
    let overview = Arc::clone(&documentation);
    let pages = Arc::clone(&documentation);
    let results = Arc::clone(&documentation);
    let reference = Arc::clone(&documentation);
    let operations = Arc::clone(&documentation);
    let live = Arc::clone(&documentation);
    let llms = Arc::clone(&documentation);
    Router::new()
        .route(
            "/developers",
            get(async move |State(app): State<App>, headers: HeaderMap| {
                overview.guide(&app, "", &headers).await
            }),
        )
        .route(
            "/developers/{page}",
            get(
                async move |State(app): State<App>, PathText(page): PathText, headers: HeaderMap| {
                    // The overview has the empty slug, and a path of its own.
                    let slug = Some(page.as_str()).filter(|slug| !slug.is_empty());
                    pages.guide(&app, slug.ok_or(Error::NotFound)?, &headers).await
                },
            ),
        )
        .route(
            "/developers/search",
            get(async move |State(app): State<App>, RawQuery(query): RawQuery| results.results(&app, &query)),
        )
        .route(
            "/developers/search.json",
            get(async move |RawQuery(query): RawQuery| live.live(&query)),
        )
        .route(
            "/llms.txt",
            get(async move |State(app): State<App>| llms.overview_for_models(&app)),
        )
        .route(
            "/developers/reference",
            get(async move |State(app): State<App>| reference.reference(&app)),
        )
        .route(
            "/developers/reference/{operation}",
            get(
                async move |State(app): State<App>,
                            PathText(id): PathText,
                            RawQuery(query): RawQuery,
                            headers: HeaderMap| {
                    operations.operation(&app, &id, &query, &headers).await
                },
            ),
        )
        .route(
            "/developers/postman.json",
            get(async move || documentation.collection()),
        )
}

impl Documentation {
    fn new(public_url: &str, description: &OpenApi) -> Documentation {
        let guides = guides::guides(public_url);
        let description = serde_json::to_value(description).expect("the description is plain data");
        let (tags, operations) = reference::read(&description, public_url);
        let menu = Menu::new(&guides, &operations);
        let index = SearchIndex::new(entries(&guides, &operations));
        let postman = CompressibleText::permanent(postman::collection(&description, public_url));
        Documentation {
            guides,
            tags,
            operations,
            menu,
            index,
            postman,
        }
    }

    fn frame<'a>(&'a self, path: &'a str, title: &'a str, headings: &'a [Heading]) -> Frame<'a> {
        Frame {
            d: &DEVELOPERS_EN.documentation,
            r: &DEVELOPERS_EN.reference,
            menu: &self.menu,
            path,
            title,
            typed: "",
            headings,
        }
    }

    /// `GET /developers` and `GET /developers/{page}`
    async fn guide(&self, app: &App, slug: &str, headers: &HeaderMap) -> Result<Response> {
        if slug.contains('.') {
            let guide = self.guides.iter().find(|guide| guide.markdown_name() == slug);
            return Ok(text_response(
                MARKDOWN,
                guide.ok_or(Error::NotFound)?.markdown.clone(),
            ));
        }
        let guide = self.guides.iter().find(|guide| guide.slug == slug);
        let guide = guide.ok_or(Error::NotFound)?;
        let reader = Reader::find(app, headers).await;
        let layout = Layout::new(Section::Developers);
        let content = &guide.page;
        let page = GuidePage {
            meta: Meta::new(
                &layout,
                &content.title,
                &content.lead,
                app.site.urls.page(&guide.path),
            ),
            frame: self.frame(&guide.path, &content.title, &content.headings),
            markdown: format!("/developers/{}", guide.markdown_name()),
            lead_html: &content.lead_html,
            html: reader.fill(&content.html),
            has_samples: content.has_samples,
            reader: reader.clone(),
            layout,
        };
        Ok(reader.respond(page))
    }

    /// `GET /developers/search`
    fn results(&self, app: &App, query: &str) -> Response {
        let (typed, found) = self.search(query);
        let typed = typed.as_str();
        let texts = &DEVELOPERS_EN.documentation;
        let title = if typed.is_empty() {
            texts.search_label.to_owned()
        } else {
            fill(texts.results, &[("typed", typed)])
        };
        let layout = Layout::new(Section::Developers);
        let path = "/developers/search";
        let page = ResultsPage {
            meta: Meta::new(&layout, &title, texts.search_label, app.site.urls.page(path)).noindex(),
            frame: Frame {
                typed,
                ..self.frame(path, &title, &[])
            },
            count: describe_count(found.len()),
            found,
            layout,
        };
        Page(page).into_response()
    }

    /// Returns what was typed, and the sections that match.
    fn search(&self, query: &str) -> (String, Vec<SearchResult<'_>>) {
        let typed = values(query, "q").next().unwrap_or_default();
        let typed = cut(typed.trim(), MAX_QUERY).to_owned();
        let found = if typed.is_empty() {
            Vec::new()
        } else {
            self.index.search(&typed)
        };
        (typed, found)
    }

    /// `GET /developers/search.json`: the results while somebody types.
    fn live(&self, query: &str) -> Response {
        let (_, mut found) = self.search(query);
        let status = describe_count(found.len());
        found.truncate(MAX_LIVE_RESULTS);
        let headers = [(CACHE_CONTROL, HeaderValue::from_static("no-cache"))];
        (headers, Json(json!({ "status": status, "results": found }))).into_response()
    }

    /// `GET /llms.txt`: what AI applications should read, in the form of <https://llmstxt.org>.
    fn overview_for_models(&self, app: &App) -> Response {
        let texts = &DEVELOPERS_EN.documentation;
        let layout = Layout::new(Section::Developers);
        let mut text = format!(
            "# {}\n\n> {}\n\n{}\n",
            layout.t.site.name, layout.p.home.about, texts.llms_about
        );
        for (group, title) in [
            (Group::Start, texts.start),
            (Group::Guides, texts.guides),
            (Group::Operation, texts.operation),
        ] {
            let _ = write!(text, "\n## {title}\n\n");
            for guide in self.guides.iter().filter(|guide| guide.group == group) {
                let url = app
                    .site
                    .urls
                    .page(&format!("/developers/{}", guide.markdown_name()));
                let (title, lead) = (&guide.page.title, &guide.page.lead);
                let _ = writeln!(text, "- [{title}]({url}): {lead}");
            }
        }
        let openapi = app.site.urls.page("/v0.2/openapi.json");
        let _ = write!(
            text,
            "\n## {}\n\n- [OpenAPI]({openapi}): {}\n",
            texts.reference, texts.openapi_about
        );
        text_response(PLAIN_TEXT, CompressibleText::once(text))
    }

    /// `GET /developers/reference`
    fn reference(&self, app: &App) -> Response {
        let texts = &DEVELOPERS_EN.reference;
        let layout = Layout::new(Section::Developers);
        let path = "/developers/reference";
        let page = ReferencePage {
            meta: Meta::new(&layout, texts.title, texts.lead, app.site.urls.page(path)),
            frame: self.frame(path, texts.title, &[]),
            tags: &self.tags,
            operations: &self.operations,
            layout,
        };
        PublicPage(page).into_response()
    }

    /// `GET /developers/reference/{operation}`
    async fn operation(&self, app: &App, id: &str, query: &str, headers: &HeaderMap) -> Result<Response> {
        let operation = self.operations.iter().find(|operation| operation.id == id);
        let operation = operation.ok_or(Error::NotFound)?;
        let reader = Reader::find(app, headers).await;
        let sent: Vec<(String, String)> = pairs(query)
            .map(|(name, value)| (name.into_owned(), decode(value).into_owned()))
            .collect();
        let inputs = operation.inputs(&sent);
        let sent_key = sent.iter().find(|(name, _)| name == "apiKey");
        let public_key = sent_key.map_or(reader.key(), |(_, key)| key).to_owned();
        let layout = Layout::new(Section::Developers);
        let path = operation.page();
        let page = OperationPage {
            meta: Meta::new(
                &layout,
                &operation.title,
                &operation.summary,
                app.site.urls.page(&path),
            ),
            frame: self.frame(&path, &operation.title, &operation.headings),
            request: (!query.is_empty()).then(|| operation.request(&inputs, &public_key)),
            sample: reader.fill(&request_samples::render(operation, app.site.urls.public())),
            operation,
            inputs,
            base: app.site.urls.public(),
            public_key,
            layout,
        };
        Ok(reader.respond(page))
    }

    /// `GET /developers/postman.json`
    fn collection(&self) -> Response {
        let headers = [
            (CONTENT_TYPE, "application/json; charset=utf-8"),
            (CACHE_CONTROL, "public, max-age=300"),
        ];
        (headers, self.postman.clone()).into_response()
    }
}

fn text_response(media_type: &'static str, text: CompressibleText) -> Response {
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "public, max-age=300")];
    (headers, text).into_response()
}

fn describe_count(count: usize) -> String {
    let texts = &DEVELOPERS_EN.documentation;
    match count {
        0 => texts.nothing_found.to_owned(),
        1 => texts.one_result.to_owned(),
        count => fill(texts.results_count, &[("count", &count.to_string())]),
    }
}

/// Returns everything that the search can find.
fn entries(guides: &[Guide], operations: &[Operation]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for guide in guides {
        let page = &guide.page;
        for section in &page.sections {
            let heading = page.headings.iter().find(|heading| heading.id == section.id);
            entries.push(Entry {
                url: match section.id.as_str() {
                    "" => guide.path.clone(),
                    id => format!("{}#{id}", guide.path),
                },
                page: page.title.clone(),
                title: section.title.clone(),
                text: section.text.clone(),
                rank: heading.map_or(0, |heading| 1 + u8::from(heading.is_minor)),
            });
        }
    }
    entries.extend(operations.iter().map(|operation| Entry {
        url: operation.page(),
        page: DEVELOPERS_EN.reference.title.to_owned(),
        title: operation.title.clone(),
        text: operation.searchable(),
        rank: 0,
    }));
    entries
}
