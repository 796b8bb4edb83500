//! The page that creates a snippet to embed, with a preview. It works without JavaScript.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::site::developers::reader::Reader;
use crate::site::find::find;
use crate::site::fundraiser_links;
use crate::web::texts::{EmbedTexts, fill};
use crate::web::{Layout, Meta, Section};
use access::keys::{KeyText, Kind as KeyKind};
use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use giving::fundraisers::names::split_path;
use giving::providers::Provider;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::text::cut;

/// The nonprofit of the button until the visitor chooses another.
const EXAMPLE: &str = "american-red-cross";
/// The number of suggestions for an ambiguous name.
const MAX_SUGGESTIONS: usize = 6;
const SCHEMES: [&str; 3] = ["light", "auto", "dark"];

#[derive(Template)]
#[template(path = "site/embed/page.html")]
struct EmbedPage {
    layout: Layout,
    meta: Meta,
    options: EmbedOptions,
    snippet: Option<Snippet>,
    /// Names and URLs of nonprofits that the visitor may mean.
    suggestions: Vec<(String, String)>,
    /// Why there is no snippet.
    error: Option<&'static str>,
    origin: String,
}

/// What can be embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EmbedKind {
    Button,
    Search,
    Thermometer,
}

impl EmbedKind {
    /// Returns the name in URLs, which is also that of the script.
    const fn name(self) -> &'static str {
        match self {
            EmbedKind::Button => "button",
            EmbedKind::Search => "search",
            EmbedKind::Thermometer => "thermometer",
        }
    }
}

/// The options of the form.
#[derive(Clone, Debug)]
struct EmbedOptions {
    kind: EmbedKind,
    nonprofit: String,
    /// The URL or path of a fundraiser's page.
    fundraiser: String,
    /// Whether the button opens the form in a dialog.
    uses_dialog: bool,
    scheme: &'static str,
    key: String,
    amounts: String,
}

/// The snippet to paste. Rendered into our own page, it is the preview.
#[derive(Clone, Debug, Template)]
#[template(path = "site/embed/snippet.html")]
struct Snippet {
    /// The prefix of all paths: our public URL in the pasted snippet, empty in the preview.
    base: String,
    path: String,
    text: String,
    kind: EmbedKind,
    uses_dialog: bool,
    scheme: &'static str,
    key: String,
    amounts: String,
}

impl HtmlSafe for Snippet {}

impl EmbedOptions {
    fn parse(query: &str) -> EmbedOptions {
        let text = |name: &'static str| {
            let value = values(query, name).next().unwrap_or_default();
            let plain: String = value.chars().filter(|c| !c.is_control()).collect();
            cut(plain.trim(), 256).to_owned()
        };
        let scheme = text("scheme");
        let is_amounts = |text: &String| text.chars().all(|c| c.is_ascii_digit() || ",. ".contains(c));
        EmbedOptions {
            kind: [EmbedKind::Search, EmbedKind::Thermometer]
                .into_iter()
                .find(|kind| kind.name() == text("kind"))
                .unwrap_or(EmbedKind::Button),
            nonprofit: text("nonprofit"),
            fundraiser: text("fundraiser"),
            uses_dialog: text("dialog") == "1",
            scheme: SCHEMES
                .into_iter()
                .find(|name| **name == *scheme)
                .unwrap_or(SCHEMES[0]),
            key: text("key"),
            amounts: Some(text("amounts")).filter(is_amounts).unwrap_or_default(),
        }
    }

    /// Returns the URL of this page for another nonprofit.
    fn url(&self, slug: &str) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let dialog = if self.uses_dialog { "&dialog=1" } else { "" };
        format!(
            "/developers/embed?kind={}&nonprofit={}{dialog}&scheme={}&amounts={}&key={}",
            self.kind.name(),
            encode(slug),
            self.scheme,
            encode(&self.amounts),
            encode(&self.key)
        )
    }
}

/// `GET /developers/embed`
pub async fn embed(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response> {
    let layout = Layout::new(Section::Developers);
    let texts = &layout.p.embed;
    let mut options = EmbedOptions::parse(&query);
    let reader = Reader::find(&app, &headers).await;
    if options.key.is_empty() {
        reader.key().clone_into(&mut options.key);
    }
    let mut suggestions = Vec::new();
    let snippet = match options.kind {
        EmbedKind::Search => search_snippet(&mut options, texts),
        EmbedKind::Button => button_snippet(&app, &mut options, texts, &mut suggestions).await?,
        EmbedKind::Thermometer => thermometer_snippet(&app, &options, texts).await?,
    };
    let (snippet, error) = match snippet {
        Ok(snippet) => (Some(snippet), None),
        Err(error) => (None, Some(error)),
    };
    let page = EmbedPage {
        meta: Meta::new(
            &layout,
            texts.title,
            texts.lead,
            app.site.urls.page("/developers/embed"),
        ),
        origin: app.site.urls.public().to_owned(),
        options,
        snippet,
        suggestions,
        error,
        layout,
    };
    Ok(reader.respond(page))
}

type SnippetResult = std::result::Result<Snippet, &'static str>;

fn search_snippet(options: &mut EmbedOptions, t: &EmbedTexts) -> SnippetResult {
    match KeyText::parse(&options.key).map(|key| key.kind()) {
        Some(KeyKind::Public) => {}
        Some(KeyKind::Private) => {
            options.key.clear();
            return Err(t.private_key);
        }
        None if options.key.is_empty() => return Err(t.no_key),
        None => return Err(t.bad_key),
    }
    Ok(Snippet::new(
        "/search".to_owned(),
        t.search_label.to_owned(),
        options,
    ))
}

/// Creates a button for a nonprofit, given by slug, EIN or ID. For anything else, it suggests search results.
async fn button_snippet(
    app: &App,
    options: &mut EmbedOptions,
    t: &EmbedTexts,
    suggestions: &mut Vec<(String, String)>,
) -> Result<SnippetResult> {
    if app.config.giving == Provider::Off {
        return Ok(Err(t.off));
    }
    let identifier = match options.nonprofit.as_str() {
        "" => EXAMPLE,
        text => text,
    };
    let found = match find(&app.directory, identifier).await {
        Err(Error::NotFound) => None,
        found => Some(found?),
    };
    if let Some(nonprofit) = found.as_ref().and_then(directory::NonprofitRef::nonprofit) {
        if !nonprofit.is_disbursable() {
            return Ok(Err(t.not_possible));
        }
        let text = fill(t.button_text, &[("name", nonprofit.name)]);
        return Ok(Ok(Snippet::new(format!("/{}", nonprofit.slug), text, options)));
    }
    let view = app.directory.view();
    for hit in view.search(identifier, MAX_SUGGESTIONS) {
        let name = hit.nonprofit.name.to_owned();
        suggestions.push((name, options.url(hit.nonprofit.slug)));
    }
    Ok(Err(if suggestions.is_empty() {
        t.unknown
    } else {
        t.which
    }))
}

/// Creates a thermometer for the fundraiser whose page has a URL.
async fn thermometer_snippet(app: &App, options: &EmbedOptions, t: &EmbedTexts) -> Result<SnippetResult> {
    if options.fundraiser.is_empty() {
        return Ok(Err(t.no_fundraiser));
    }
    let public = app.site.urls.public();
    let path = options.fundraiser.strip_prefix(public);
    let path = path.unwrap_or(&options.fundraiser);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let Some((nonprofit, name)) = split_path(path) else {
        return Ok(Err(t.unknown_fundraiser));
    };
    match fundraiser_links::find(&app.directory, &app.giving.fundraisers, nonprofit, name).await {
        Ok(found) => {
            let path = fundraiser_links::path_of(&app.directory, &found.fundraiser).await?;
            Ok(Ok(Snippet::new(path, found.fundraiser.title.clone(), options)))
        }
        Err(Error::NotFound | Error::NonprofitNotFound(_)) => Ok(Err(t.unknown_fundraiser)),
        Err(error) => Err(error),
    }
}

impl Snippet {
    fn new(path: String, text: String, options: &EmbedOptions) -> Snippet {
        Snippet {
            base: String::new(),
            path,
            text,
            kind: options.kind,
            uses_dialog: options.uses_dialog && options.kind == EmbedKind::Button,
            scheme: options.scheme,
            key: match options.kind {
                EmbedKind::Search => options.key.clone(),
                _ => String::new(),
            },
            amounts: match options.kind {
                EmbedKind::Button => options.amounts.replace(' ', ""),
                _ => String::new(),
            },
        }
    }

    /// Returns the HTML to paste into another site.
    fn pasted(&self, base: &str) -> String {
        let snippet = Snippet {
            base: base.to_owned(),
            ..self.clone()
        };
        snippet.render().unwrap_or_default()
    }

    /// Returns whether the snippet names a color scheme.
    fn has_scheme(&self) -> bool {
        self.scheme != SCHEMES[0]
    }

    fn script(&self) -> &'static str {
        self.kind.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_cannot_break_out_of_the_snippet() {
        let options = EmbedOptions::parse("kind=search&scheme=%22x&key=%22%3E%3Cb%3E&amounts=%22%3E");
        assert_eq!((options.scheme, options.amounts.as_str()), ("light", ""));
        let evil = "\"><b>'";
        let snippet = Snippet::new("/x".to_owned(), evil.to_owned(), &options);
        let html = snippet.pasted("https://give.example.org");
        assert!(!html.contains("<b>") && html.matches('"').count() == 6, "{html}");
    }
}
