//! Markdown as safe HTML: no raw HTML, no pictures, no inline styles, and only links that cannot run code.
//!
//! Headings go down one level, because the title of the page is its only first-level heading.

use pulldown_cmark::{
    CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};

/// Whose text it is, which decides about its links and line breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Author {
    /// Anybody who can write a story.
    Visitor,
    /// The operator of the server, or its documentation.
    Operator,
}

/// Renders the text of a visitor, such as the story of a fundraiser.
///
/// Links go to http, https and mailto only, and tell search engines not to follow them. URLs in the text become links,
/// and line breaks are kept.
pub fn render(text: &str) -> String {
    render_for(Author::Visitor, text)
}

/// Renders the text of the operator or of the documentation, whose links may also lead to pages of this site.
pub fn render_trusted(text: &str) -> String {
    render_for(Author::Operator, text)
}

fn render_for(author: Author, text: &str) -> String {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let mut html = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut html, Sanitizer::new(author, TextMergeStream::new(parser)));
    html
}

/// Passes on the events of a parser without those that are not safe.
struct Sanitizer<'a, I> {
    author: Author,
    events: I,
    /// Events that replace the last one.
    queued: std::vec::IntoIter<Event<'a>>,
    /// For each open link: whether it is one in the output. Text inside links and code blocks never gets links of its own.
    links: Vec<bool>,
    is_in_code: bool,
}

impl<'a, I: Iterator<Item = Event<'a>>> Sanitizer<'a, I> {
    fn new(author: Author, events: I) -> Sanitizer<'a, I> {
        Sanitizer {
            author,
            events,
            queued: Vec::new().into_iter(),
            links: Vec::new(),
            is_in_code: false,
        }
    }

    /// Returns what replaces an event: any number of events.
    fn sanitize(&mut self, event: Event<'a>) -> Vec<Event<'a>> {
        match event {
            Event::Html(text) | Event::InlineHtml(text) => vec![Event::Text(text)],
            Event::Start(Tag::HtmlBlock) => vec![Event::Start(Tag::Paragraph)],
            Event::End(TagEnd::HtmlBlock) => vec![Event::End(TagEnd::Paragraph)],
            // Only its text alternative is left.
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => Vec::new(),
            Event::Start(Tag::Heading { level, .. }) => vec![Event::Start(Tag::Heading {
                level: demote(level),
                id: None,
                classes: Vec::new(),
                attrs: Vec::new(),
            })],
            Event::End(TagEnd::Heading(level)) => vec![Event::End(TagEnd::Heading(demote(level)))],
            // An alignment would become an inline style.
            Event::Start(Tag::Table(columns)) => vec![
                raw("<div class=\"scroll\" tabindex=\"0\">"),
                Event::Start(Tag::Table(vec![pulldown_cmark::Alignment::None; columns.len()])),
            ],
            Event::End(TagEnd::Table) => vec![Event::End(TagEnd::Table), raw("</div>")],
            Event::Start(Tag::Link {
                link_type, dest_url, ..
            }) => {
                let url = if link_type == LinkType::Email {
                    format!("mailto:{dest_url}").into()
                } else {
                    dest_url
                };
                let is_link = is_safe(self.author, &url);
                self.links.push(is_link);
                if is_link {
                    vec![self.open_link(&url)]
                } else {
                    Vec::new()
                }
            }
            Event::End(TagEnd::Link) => {
                if self.links.pop() == Some(true) {
                    vec![raw("</a>")]
                } else {
                    Vec::new()
                }
            }
            Event::Start(tag @ Tag::CodeBlock(_)) => {
                self.is_in_code = true;
                vec![Event::Start(tag)]
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_in_code = false;
                vec![Event::End(TagEnd::CodeBlock)]
            }
            Event::SoftBreak if self.author == Author::Visitor => vec![Event::HardBreak],
            Event::Text(text) if self.links.is_empty() && !self.is_in_code => self.link_urls(text),
            event => vec![event],
        }
    }

    fn open_link(&self, url: &str) -> Event<'a> {
        let rel = match self.author {
            Author::Visitor => "nofollow ugc noopener",
            Author::Operator => "noopener",
        };
        let mut link = String::from("<a href=\"");
        pulldown_cmark_escape::escape_href(&mut link, url).expect("a string can be written to");
        link.push_str("\" rel=\"");
        link.push_str(rel);
        link.push_str("\">");
        Event::InlineHtml(link.into())
    }

    /// Makes links of the URLs in a text.
    fn link_urls(&self, text: CowStr<'a>) -> Vec<Event<'a>> {
        if !text.contains("://") {
            return vec![Event::Text(text)];
        }
        let mut events = Vec::new();
        let mut plain = String::new();
        for word in text.split_inclusive(char::is_whitespace) {
            let start = word.find("https://").or_else(|| word.find("http://"));
            let url = start.map(|start| {
                word[start..].trim_end_matches(|c: char| c.is_whitespace() || ".,;:!?)'\"".contains(c))
            });
            let (Some(start), Some(url)) = (start, url.filter(|url| !url.ends_with('/') || url.len() > 8))
            else {
                plain.push_str(word);
                continue;
            };
            plain.push_str(&word[..start]);
            events.push(Event::Text(std::mem::take(&mut plain).into()));
            events.push(self.open_link(url));
            events.push(Event::Text(url.to_owned().into()));
            events.push(raw("</a>"));
            plain.push_str(&word[start + url.len()..]);
        }
        events.push(Event::Text(plain.into()));
        events
    }
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for Sanitizer<'a, I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        loop {
            if let Some(event) = self.queued.next() {
                return Some(event);
            }
            let event = self.events.next()?;
            self.queued = self.sanitize(event).into_iter();
        }
    }
}

/// Returns HTML of ours.
fn raw<'a>(html: &'static str) -> Event<'a> {
    Event::InlineHtml(html.into())
}

fn demote(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        HeadingLevel::H3 => HeadingLevel::H4,
        HeadingLevel::H4 => HeadingLevel::H5,
        HeadingLevel::H5 | HeadingLevel::H6 => HeadingLevel::H6,
    }
}

/// Tells whether a link may lead there.
fn is_safe(author: Author, url: &str) -> bool {
    if author == Author::Operator
        && (url.starts_with('#') || (url.starts_with('/') && !url.starts_with("//")))
    {
        return true;
    }
    url.split_once(':')
        .is_some_and(|(scheme, rest)| match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" => rest.starts_with("//"),
            "mailto" => true,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_lists_and_emphasis_become_html() {
        assert_eq!(
            render("Our *school* needs **books**.\n\n- one\n- two\n"),
            "<p>Our <em>school</em> needs <strong>books</strong>.</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
        );
    }

    #[test]
    fn raw_html_is_shown_as_text() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div onclick=\"x()\">\n\ntext\n\n</div>",
            "<!-- <b> -->",
            "<svg/onload=alert(1)>",
        ] {
            let html = render(text);
            for tag in ["<script", "<img", "<div", "<b>", "<!--", "<svg"] {
                assert!(!html.contains(tag), "{text}: {html}");
            }
            assert!(html.contains("&lt;"), "{text}: {html}");
        }
    }

    #[test]
    fn only_links_that_cannot_run_code_are_links() {
        assert_eq!(
            render("[us](https://example.org/?a=1&b=2)"),
            "<p><a href=\"https://example.org/?a=1&amp;b=2\" rel=\"nofollow ugc noopener\">us</a></p>\n"
        );
        assert!(render("[mail](mailto:a@example.org)").contains("href=\"mailto:a@example.org\""));
        assert!(render("<a@example.org>").contains("href=\"mailto:a@example.org\""));
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java&#x73;cript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "/dashboard",
            "//example.org",
            "https:example.org",
            "\u{1}javascript:alert(1)",
        ] {
            let html = render(&format!("[click](<{url}>)"));
            assert!(!html.contains("<a "), "{url}: {html}");
            assert!(html.contains("click"), "{url}: {html}");
        }
        assert!(!render("[x](https://a.example/\"onmouseover=\"alert(1))").contains("\"onmouseover"));
    }

    #[test]
    fn urls_in_the_text_become_links() {
        assert_eq!(
            render("See https://example.org/a?b=1, please (http://b.example)."),
            "<p>See <a href=\"https://example.org/a?b=1\" rel=\"nofollow ugc noopener\">https://example.org/a?b=1</a>, \
             please (<a href=\"http://b.example\" rel=\"nofollow ugc noopener\">http://b.example</a>).</p>\n"
        );
        for text in [
            "`https://example.org`",
            "    https://example.org\n",
            "https://",
            "ftp://example.org",
        ] {
            assert!(!render(text).contains("<a "), "{text}");
        }
        assert_eq!(
            render("[https://a.example](https://b.example)")
                .matches("<a ")
                .count(),
            1
        );
        assert_eq!(
            render("[https://a.example](javascript:x)").matches("<a ").count(),
            0
        );
    }

    #[test]
    fn headings_go_down_one_level() {
        assert_eq!(render("# One"), "<h2>One</h2>\n");
        assert_eq!(render("###### Six"), "<h6>Six</h6>\n");
        assert!(!render("Title\n=====").contains("<h1"));
    }

    #[test]
    fn pictures_leave_their_text_and_tables_have_no_styles() {
        assert_eq!(render("![a cat](https://example.org/cat.png)"), "<p>a cat</p>\n");
        let table = render("| a | b |\n|:--|--:|\n| 1 | 2 |\n");
        assert!(table.contains("<table>") && !table.contains("style"), "{table}");
    }

    #[test]
    fn line_breaks_of_visitors_are_kept() {
        assert_eq!(render("one\ntwo"), "<p>one<br />\ntwo</p>\n");
        assert_eq!(render_trusted("one\ntwo"), "<p>one\ntwo</p>\n");
    }

    #[test]
    fn texts_of_the_operator_may_link_to_pages_of_the_site() {
        assert_eq!(
            render_trusted("[ask](/contact)"),
            "<p><a href=\"/contact\" rel=\"noopener\">ask</a></p>\n"
        );
        assert!(!render_trusted("[x](//evil.example)").contains("<a "));
        assert!(!render_trusted("[x](javascript:x)").contains("<a "));
        assert!(!render_trusted("<script>x</script>").contains("<script"));
    }
}
