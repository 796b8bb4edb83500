//! What a page says of itself to search engines and to those who share it.

use super::Frame;
use askama::Template;
use askama::filters::HtmlSafe;
use serde::Serialize;

/// Most facts are shorter, so that writing them takes its room once.
const USUAL_FACTS: usize = 1_024;

/// Draws itself into the head of a page.
#[derive(Clone, Debug, Template)]
#[template(path = "web/meta.html")]
pub struct Meta {
    site: &'static str,
    title: String,
    description: String,
    canonical: String,
    picture: Option<String>,
    feed: Option<(String, String)>,
    is_hidden: bool,
    facts: Option<String>,
}

impl HtmlSafe for Meta {}

impl Meta {
    /// Of the page at `canonical`, the whole address.
    pub fn new(frame: &Frame, title: &str, description: &str, canonical: String) -> Meta {
        Meta {
            site: frame.t.site.name,
            title: title.to_owned(),
            description: platform::text::cut(description, 300).to_owned(),
            canonical,
            picture: None,
            feed: None,
            is_hidden: false,
            facts: None,
        }
    }

    /// With a picture of 1200 by 630 for those who share it.
    #[must_use]
    pub fn picture(mut self, address: String) -> Meta {
        self.picture = Some(address);
        self
    }

    /// With a feed, by its path and its title.
    #[must_use]
    pub fn feed(mut self, address: impl Into<String>, title: impl Into<String>) -> Meta {
        self.feed = Some((address.into(), title.into()));
        self
    }

    /// Not to be kept by search engines.
    #[must_use]
    pub fn hidden(mut self) -> Meta {
        self.is_hidden = true;
        self
    }

    /// With facts for machines, as JSON-LD.
    #[must_use]
    pub fn facts(mut self, facts: &impl Serialize) -> Meta {
        let mut json = Vec::with_capacity(USUAL_FACTS);
        // Texts and numbers under plain names can always be written, and as text.
        let written = serde_json::to_writer(&mut json, facts).ok();
        let facts = written
            .and_then(|()| String::from_utf8(json).ok())
            .unwrap_or_default();
        // Inside a script element only `<` could end it; JSON may write it as an escape.
        self.facts = Some(match facts.contains('<') {
            true => facts.replace('<', "\\u003c"),
            false => facts,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::Place;
    use serde_json::{Value, json};

    #[test]
    fn nothing_that_is_told_ends_the_element_it_stands_in() {
        let frame = Frame::new(Place::Home);
        let evil = "</script><script>alert(1)</script>\"'><b>";
        let meta = Meta::new(&frame, evil, evil, "https://example.org/\"><b>".to_owned());
        let html = meta.facts(&json!({ "name": evil, "<b>": 1 })).render().unwrap();
        assert_eq!(html.matches("<script").count(), 1);
        assert_eq!(html.matches("</script").count(), 1);
        assert!(!html.contains("<b>"));
        let (_, facts) = html.split_once("ld+json\">").unwrap();
        let facts: Value = serde_json::from_str(facts.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(facts["name"], evil);
    }
}
