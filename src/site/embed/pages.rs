//! The page that makes a snippet: what to paste, and how it looks. Works as a plain form.

use crate::app::App;
use crate::http::error::{Error, Result};
use crate::http::params::{RawQuery, values};
use crate::site::find::find;
use crate::web::texts::{EmbedTexts, fill};
use crate::web::{Frame, Meta, Place, PublicPage};
use access::keys::{KeyText, Kind as KeyKind};
use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use platform::text::cut;

/// Shown until somebody asks for another nonprofit.
const EXAMPLE: &str = "american-red-cross";
/// Nonprofits that are offered where a name is not clear.
const OFFERED: usize = 6;
const SCHEMES: [&str; 3] = ["auto", "light", "dark"];

#[derive(Template)]
#[template(path = "site/embed/page.html")]
struct EmbedPage {
    frame: Frame,
    meta: Meta,
    asked: Asked,
    snippet: Option<Snippet>,
    /// Names and addresses of nonprofits that may be meant.
    meant: Vec<(String, String)>,
    /// Why there is no snippet.
    fault: Option<&'static str>,
    origin: String,
}

/// What was asked for.
#[derive(Clone, Debug)]
struct Asked {
    is_search: bool,
    nonprofit: String,
    scheme: &'static str,
    key: String,
    amounts: String,
}

/// What is pasted. Drawn into our own page it is its preview.
#[derive(Clone, Debug, Template)]
#[template(path = "site/embed/snippet.html")]
struct Snippet {
    /// Before the paths: our public address in what is pasted, nothing in the preview.
    base: String,
    path: String,
    text: String,
    is_search: bool,
    scheme: &'static str,
    key: String,
    amounts: String,
}

impl HtmlSafe for Snippet {}

impl Asked {
    fn read(query: &str) -> Asked {
        let text = |name: &'static str| {
            let value = values(query, name).next().unwrap_or_default();
            let plain: String = value.chars().filter(|c| !c.is_control()).collect();
            cut(plain.trim(), 256).to_owned()
        };
        let scheme = text("scheme");
        let is_amounts = |text: &String| text.chars().all(|c| c.is_ascii_digit() || ",. ".contains(c));
        Asked {
            is_search: text("kind") == "search",
            nonprofit: text("nonprofit"),
            scheme: SCHEMES
                .into_iter()
                .find(|known| **known == *scheme)
                .unwrap_or(SCHEMES[0]),
            key: text("key"),
            amounts: Some(text("amounts")).filter(is_amounts).unwrap_or_default(),
        }
    }

    /// The same with another nonprofit.
    fn address(&self, slug: &str) -> String {
        let encode = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let kind = if self.is_search { "search" } else { "button" };
        format!(
            "/developers/embed?kind={kind}&nonprofit={}&scheme={}&amounts={}&key={}",
            encode(slug),
            self.scheme,
            encode(&self.amounts),
            encode(&self.key)
        )
    }
}

/// `GET /developers/embed`
pub async fn embed(State(app): State<App>, RawQuery(query): RawQuery) -> Result<Response> {
    let frame = Frame::new(Place::Developers);
    let texts = &frame.p.embed;
    let mut asked = Asked::read(&query);
    let mut meant = Vec::new();
    let snippet = match asked.is_search {
        true => search_snippet(&mut asked, texts),
        false => button_snippet(&app, &mut asked, texts, &mut meant).await?,
    };
    let (snippet, fault) = match snippet {
        Ok(snippet) => (Some(snippet), None),
        Err(fault) => (None, Some(fault)),
    };
    let page = EmbedPage {
        meta: Meta::new(
            &frame,
            texts.title,
            texts.lead,
            app.urls.page("/developers/embed"),
        ),
        origin: app.urls.public().to_owned(),
        asked,
        snippet,
        meant,
        fault,
        frame,
    };
    Ok(PublicPage(page).into_response())
}

type Made = std::result::Result<Snippet, &'static str>;

fn search_snippet(asked: &mut Asked, t: &EmbedTexts) -> Made {
    match KeyText::parse(&asked.key).map(|key| key.kind()) {
        Some(KeyKind::Public) => {}
        Some(KeyKind::Private) => {
            asked.key.clear();
            return Err(t.private_key);
        }
        None if asked.key.is_empty() => return Err(t.no_key),
        None => return Err(t.bad_key),
    }
    Ok(Snippet::new(
        "/search".to_owned(),
        t.search_label.to_owned(),
        asked,
    ))
}

/// The nonprofit is named by its slug, EIN or ID, or else by words that the search finds.
async fn button_snippet(
    app: &App,
    asked: &mut Asked,
    t: &EmbedTexts,
    meant: &mut Vec<(String, String)>,
) -> Result<Made> {
    let named = match asked.nonprofit.as_str() {
        "" => EXAMPLE,
        named => named,
    };
    let found = match find(&app.directory, named).await {
        Err(Error::NotFound) => None,
        found => Some(found?),
    };
    if let Some(nonprofit) = found.as_ref().and_then(directory::NonprofitRef::nonprofit) {
        if !nonprofit.is_disbursable() {
            return Ok(Err(t.not_possible));
        }
        let text = fill(t.button_text, &[("name", nonprofit.name)]);
        return Ok(Ok(Snippet::new(format!("/{}", nonprofit.slug), text, asked)));
    }
    let view = app.directory.view();
    for hit in view.search(named, OFFERED, &[]) {
        let name = hit.nonprofit.name.to_owned();
        meant.push((name, asked.address(hit.nonprofit.slug)));
    }
    Ok(Err(match meant.is_empty() {
        true => t.unknown,
        false => t.which,
    }))
}

impl Snippet {
    fn new(path: String, text: String, asked: &Asked) -> Snippet {
        Snippet {
            base: String::new(),
            path,
            text,
            is_search: asked.is_search,
            scheme: asked.scheme,
            key: if asked.is_search {
                asked.key.clone()
            } else {
                String::new()
            },
            amounts: if asked.is_search {
                String::new()
            } else {
                asked.amounts.replace(' ', "")
            },
        }
    }

    /// As it is pasted elsewhere.
    fn pasted(&self, base: &str) -> String {
        let snippet = Snippet {
            base: base.to_owned(),
            ..self.clone()
        };
        snippet.render().unwrap_or_default()
    }

    /// Without one, the visitor's own setting counts.
    fn has_scheme(&self) -> bool {
        self.scheme != SCHEMES[0]
    }

    fn script(&self) -> &'static str {
        if self.is_search { "search" } else { "button" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_asked_for_breaks_out_of_the_snippet() {
        let asked = Asked::read("kind=search&scheme=%22x&key=%22%3E%3Cb%3E&amounts=%22%3E");
        assert_eq!((asked.scheme, asked.amounts.as_str()), ("auto", ""));
        let evil = "\"><b>'";
        let snippet = Snippet::new("/x".to_owned(), evil.to_owned(), &asked);
        let html = snippet.pasted("https://give.example.org");
        assert!(!html.contains("<b>") && html.matches('"').count() == 6, "{html}");
    }
}
