//! Metadata of a page for search engines, social networks and feed readers.

use super::Layout;
use askama::Template;
use askama::filters::HtmlSafe;
use serde::Serialize;

/// The initial buffer size in bytes. Most structured data is shorter, so writing it allocates only once.
const INITIAL_CAPACITY: usize = 1_024;

/// The lengths in characters that messengers and search engines show. What is longer they cut, in the middle of a word.
pub const MAX_TITLE_CHARS: usize = 70;
pub const MAX_DESCRIPTION_CHARS: usize = 155;

/// Renders into the `<head>` of a page.
#[derive(Clone, Debug, Template)]
#[template(path = "web/meta.html")]
pub struct Meta {
    site: &'static str,
    title: String,
    description: String,
    canonical: String,
    /// The URL of the share image, and its media type.
    image: Option<(String, &'static str)>,
    feed: Option<(String, String)>,
    is_noindex: bool,
    json_ld: Option<String>,
}

impl HtmlSafe for Meta {}

impl Meta {
    /// Creates the metadata of the page at the absolute URL `canonical`.
    pub fn new(layout: &Layout, title: &str, description: &str, canonical: String) -> Meta {
        Meta {
            site: layout.t.site.name,
            title: shorten(title, MAX_TITLE_CHARS),
            description: shorten(description, MAX_DESCRIPTION_CHARS),
            canonical,
            image: None,
            feed: None,
            is_noindex: false,
            json_ld: None,
        }
    }

    /// Sets the share image, 1200 by 630 pixels.
    #[must_use]
    pub fn image(mut self, url: String, media_type: &'static str) -> Meta {
        self.image = Some((url, media_type));
        self
    }

    /// Sets the path and the title of a feed.
    #[must_use]
    pub fn feed(mut self, path: impl Into<String>, title: impl Into<String>) -> Meta {
        self.feed = Some((path.into(), title.into()));
        self
    }

    /// Keeps the page out of search engines.
    #[must_use]
    pub fn noindex(mut self) -> Meta {
        self.is_noindex = true;
        self
    }

    /// Sets the structured data (JSON-LD).
    #[must_use]
    pub fn json_ld(mut self, value: &impl Serialize) -> Meta {
        let mut json = Vec::with_capacity(INITIAL_CAPACITY);
        // Structs of strings and numbers always serialize.
        let written = serde_json::to_writer(&mut json, value).ok();
        let json = written
            .and_then(|()| String::from_utf8(json).ok())
            .unwrap_or_default();
        // Only `<` could end the script element, and JSON can escape it.
        self.json_ld = Some(if json.contains('<') {
            json.replace('<', "\\u003c")
        } else {
            json
        });
        self
    }
}

/// Shortens a text to one line of at most `max` characters, between two words.
pub fn shorten(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= max {
        return line;
    }
    let beginning = platform::text::cut(&line, max - 1);
    let end = beginning.rfind(' ').unwrap_or(beginning.len());
    format!(
        "{}…",
        beginning[..end].trim_end_matches([',', '.', ';', ':', ' '])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::Section;
    use serde_json::{Value, json};

    #[test]
    fn texts_are_one_line_of_the_length_that_is_shown() {
        let long = "Every dollar, every mile. ".repeat(12);
        let layout = Layout::new(Section::Home);
        let meta = Meta::new(&layout, &long, &format!("One\n\n{long}"), String::new());
        assert!(meta.title.chars().count() <= MAX_TITLE_CHARS, "{}", meta.title);
        assert!(meta.title.ends_with("dollar…"), "{}", meta.title);
        let description = meta.description;
        assert!(
            description.chars().count() <= MAX_DESCRIPTION_CHARS,
            "{description}"
        );
        assert!(
            description.starts_with("One Every dollar, every mile. Every"),
            "{description}"
        );
        let word = "x".repeat(100);
        assert_eq!(shorten(&word, 70).chars().count(), 70);
        assert_eq!(shorten("Spring run", 70), "Spring run");
    }

    #[test]
    fn no_value_can_end_the_element_that_contains_it() {
        let layout = Layout::new(Section::Home);
        let evil = "</script><script>alert(1)</script>\"'><b>";
        let meta = Meta::new(&layout, evil, evil, "https://example.org/\"><b>".to_owned());
        let html = meta.json_ld(&json!({ "name": evil, "<b>": 1 })).render().unwrap();
        assert_eq!(html.matches("<script").count(), 1);
        assert_eq!(html.matches("</script").count(), 1);
        assert!(!html.contains("<b>"));
        let (_, facts) = html.split_once("ld+json\">").unwrap();
        let facts: Value = serde_json::from_str(facts.split_once("</script>").unwrap().0).unwrap();
        assert_eq!(facts["name"], evil);
    }
}
