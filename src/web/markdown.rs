//! Markdown as safe HTML: no raw HTML, no pictures, no inline styles, and only links that cannot run code.
//!
//! Headings go down one level, because the title of the page is its only first-level heading.
//!
//! A text of a few kilobytes must not become a page of megabytes that is rendered for every reader. So the HTML is at most
//! [`MAX_GROWTH`] times as long as the text and at most [`MAX_HTML_BYTES`], nesting and links are limited, and the HTML is
//! cached by the digest of the text. A text that would become longer is shown as plain text instead: its readers still get
//! every word, and only texts that are written to be large get there.

use pulldown_cmark::{
    CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream, html,
};
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::hash::RandomState;
use std::sync::{Arc, LazyLock};

/// How many times as long as its text the HTML may be.
const MAX_GROWTH: usize = 16;
/// The maximum length of the HTML in bytes.
const MAX_HTML_BYTES: usize = 256 * 1_024;
/// How many elements may contain each other. The text of deeper ones is kept.
const MAX_DEPTH: usize = 16;
/// The number of links in a text. Further ones are shown as text.
const MAX_LINKS: usize = 200;
/// The maximum length of a URL in bytes. Links to longer ones are shown as text.
const MAX_URL_BYTES: usize = 2_048;
/// The characters that the plain beginning of a text is made from.
const MAX_BEGINNING_CHARS: usize = 1_000;
/// The bytes of HTML that are cached.
const CACHE_BYTES: u64 = 16 * 1_024 * 1_024;
/// Each shard has room for several of the longest texts.
const CACHE_SHARDS: usize = 8;
/// The approximate length of HTML, by which the cache sizes its tables.
const TYPICAL_HTML_BYTES: usize = 4_096;

/// Whose text it is, which decides about its tables, links and line breaks.
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
/// and line breaks are kept. There are no tables: one line of a few bytes can add a row with hundreds of cells.
pub fn render(text: &str) -> Arc<str> {
    render_once(Author::Visitor, text)
}

/// Renders the text of the operator, which may have tables, and whose links may also lead to pages of this site.
pub fn render_trusted(text: &str) -> Arc<str> {
    render_once(Author::Operator, text)
}

/// Returns the beginning of a visitor's text in plain words, for descriptions of its page.
pub fn plain_beginning(text: &str) -> String {
    let beginning = platform::text::cut(text, MAX_BEGINNING_CHARS);
    if beginning.lines().any(|line| container_depth(line) > MAX_DEPTH) {
        return beginning.to_owned();
    }
    let mut plain = String::with_capacity(beginning.len());
    for event in Parser::new_ext(beginning, Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(part) | Event::Code(part) => plain.push_str(&part),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item) => {
                plain.push(' ');
            }
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

type HtmlCache = Cache<[u8; 32], Arc<str>, HtmlWeighter, RandomState>;

#[derive(Clone)]
struct HtmlWeighter;

impl Weighter<[u8; 32], Arc<str>> for HtmlWeighter {
    fn weight(&self, key: &[u8; 32], html: &Arc<str>) -> u64 {
        (key.len() + html.len()) as u64
    }
}

static RENDERED: LazyLock<HtmlCache> = LazyLock::new(|| {
    let options = OptionsBuilder::new()
        .shards(CACHE_SHARDS)
        .estimated_items_capacity(CACHE_BYTES as usize / TYPICAL_HTML_BYTES)
        .weight_capacity(CACHE_BYTES)
        .build()
        .expect("the capacities are set");
    Cache::with_options(
        options,
        HtmlWeighter,
        RandomState::new(),
        DefaultLifecycle::default(),
    )
});

/// Returns the HTML from the cache, or renders the text. Others who want the same text at that time wait for it.
fn render_once(author: Author, text: &str) -> Arc<str> {
    let digest: [u8; 32] = Sha256::new()
        .chain_update([author as u8])
        .chain_update(text)
        .finalize()
        .into();
    let Ok(html) =
        RENDERED.get_or_insert_with(&digest, || Ok::<_, Infallible>(render_for(author, text).into()));
    html
}

fn render_for(author: Author, text: &str) -> String {
    let max_bytes = (text.len() * MAX_GROWTH).min(MAX_HTML_BYTES);
    let mut options = Options::ENABLE_STRIKETHROUGH;
    options.set(Options::ENABLE_TABLES, author == Author::Operator);
    if text.lines().any(|line| container_depth(line) > MAX_DEPTH) {
        return plain_html(text, max_bytes);
    }
    let escaped = escape_open_links(text);
    let parser = Parser::new_ext(&escaped, options);
    let mut bounded = BoundedHtml {
        html: String::with_capacity((text.len() * 3 / 2).min(max_bytes)),
        max_bytes,
    };
    match html::write_html_fmt(&mut bounded, Sanitizer::new(author, TextMergeStream::new(parser))) {
        Ok(()) => bounded.html,
        Err(fmt::Error) => plain_html(text, max_bytes),
    }
}

/// Returns how many quotes and lists may contain each other on a line, at most. The parser compares every line with all
/// containers that are open, so that deep ones take seconds.
fn container_depth(line: &str) -> usize {
    let mut rest = line;
    let (mut columns, mut markers) = (0, 0);
    loop {
        let text = rest.trim_start_matches([' ', '\t']);
        let blanks = &rest[..rest.len() - text.len()];
        // An item of a list is indented by two columns at least, and a tab has four at most.
        columns += blanks.len() + 3 * blanks.matches('\t').count();
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let bullet = if number.len() < text.len() {
            number.strip_prefix(['.', ')'])
        } else {
            text.strip_prefix(['-', '+', '*'])
        };
        let is_item = |rest: &&str| rest.is_empty() || rest.starts_with([' ', '\t']);
        rest = match text.strip_prefix('>').or(bullet.filter(is_item)) {
            Some(rest) => rest,
            None if markers == 0 => return 0,
            // The blank after a marker indents nothing.
            None => return markers + columns.saturating_sub(markers) / 2,
        };
        markers += 1;
    }
}

/// Escapes the parenthesis of `[text](url "title")` unless URL and title end on the same line. The parser searches for
/// their end in all lines that follow, in quadratic time. Those that cannot be links, because there are too many, are
/// escaped as well.
fn escape_open_links(text: &str) -> Cow<'_, str> {
    const OPEN: &str = "](";
    let mut escaped = String::new();
    let mut copied = 0;
    for (index, (start, _)) in text.match_indices(OPEN).enumerate() {
        let rest = &text[start + OPEN.len()..];
        if index < MAX_LINKS && ends_on_line(rest.lines().next().unwrap_or_default()) {
            continue;
        }
        escaped.push_str(&text[copied..=start]);
        escaped.push('\\');
        copied = start + 1;
    }
    if copied == 0 {
        return text.into();
    }
    escaped.push_str(&text[copied..]);
    escaped.into()
}

/// Returns whether the URL and the title of a link end on a line, which begins after their parenthesis.
fn ends_on_line(line: &str) -> bool {
    let line = line.trim_start();
    let after_url = if let Some(rest) = line.strip_prefix('<') {
        rest.split_once('>').map(|(_, rest)| rest)
    } else {
        let mut depth = 0;
        let mut is_escaped = false;
        let longest = line.char_indices().nth(MAX_URL_BYTES);
        let url = longest.map_or(line, |(end, _)| &line[..end]);
        let end = url.find(|c: char| {
            let is_end = !is_escaped && (c.is_whitespace() || (c == ')' && depth == 0));
            depth += i32::from(c == '(' && !is_escaped) - i32::from(c == ')' && !is_escaped);
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        end.map(|end| &line[end..])
    };
    let Some(after_url) = after_url.map(str::trim_start) else {
        return false;
    };
    let mut rest = after_url.chars();
    match rest.next() {
        Some(quote @ ('"' | '\'')) => !after_url.contains('\\') && rest.as_str().contains(quote),
        Some('(') => !after_url.contains('\\') && rest.as_str().contains(')'),
        other => other.is_some(),
    }
}

/// HTML that does not grow beyond a length: writing fails instead.
struct BoundedHtml {
    html: String,
    max_bytes: usize,
}

impl fmt::Write for BoundedHtml {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.html.len() + part.len() > self.max_bytes {
            return Err(fmt::Error);
        }
        self.html.push_str(part);
        Ok(())
    }
}

/// Returns a text as it was written, in one paragraph that keeps its line breaks. It ends with an ellipsis if even this is
/// too long, which no story is: a character becomes at most 7 bytes.
fn plain_html(text: &str, max_bytes: usize) -> String {
    const END: &str = "</p>\n";
    const ELLIPSIS: char = '…';
    let mut html = String::from("<p>");
    let mut buffer = [0; 4];
    for character in text.chars().filter(|character| *character != '\r') {
        let part = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\n' => "<br />\n",
            other => other.encode_utf8(&mut buffer),
        };
        if html.len() + part.len() + ELLIPSIS.len_utf8() + END.len() > max_bytes {
            html.push(ELLIPSIS);
            break;
        }
        html.push_str(part);
    }
    html.push_str(END);
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
    /// The number of links in the output so far.
    link_count: usize,
    /// The number of open elements.
    depth: usize,
    is_in_code: bool,
}

impl<'a, I: Iterator<Item = Event<'a>>> Sanitizer<'a, I> {
    fn new(author: Author, events: I) -> Sanitizer<'a, I> {
        Sanitizer {
            author,
            events,
            queued: Vec::new().into_iter(),
            links: Vec::new(),
            link_count: 0,
            depth: 0,
            is_in_code: false,
        }
    }

    /// Returns what replaces an event: any number of events.
    fn sanitize(&mut self, event: Event<'a>) -> Vec<Event<'a>> {
        self.depth += usize::from(matches!(event, Event::Start(_)));
        let is_too_deep = self.depth > MAX_DEPTH;
        self.depth -= usize::from(matches!(event, Event::End(_)));
        match event {
            // Only the text is left, and a space that keeps its words apart.
            Event::Start(tag) if is_too_deep && !matches!(tag, Tag::Link { .. }) => Vec::new(),
            Event::End(tag) if is_too_deep && tag != TagEnd::Link => vec![Event::SoftBreak],
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
                let is_link = is_safe(self.author, &url) && self.may_link(&url);
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

    /// Returns whether a link is within the limits of length and number.
    fn may_link(&self, url: &str) -> bool {
        url.len() <= MAX_URL_BYTES && self.link_count < MAX_LINKS
    }

    fn open_link(&mut self, url: &str) -> Event<'a> {
        self.link_count += 1;
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
    fn link_urls(&mut self, text: CowStr<'a>) -> Vec<Event<'a>> {
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
            let is_url = |url: &&str| (!url.ends_with('/') || url.len() > 8) && self.may_link(url);
            let (Some(start), Some(url)) = (start, url.filter(is_url)) else {
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
    use proptest::prelude::*;

    fn render(text: &str) -> String {
        super::render(text).to_string()
    }

    fn render_trusted(text: &str) -> String {
        super::render_trusted(text).to_string()
    }

    #[test]
    fn paragraphs_lists_and_emphasis_become_html() {
        assert_eq!(
            render("Our *school* needs **books**.\n\n- one\n- two\n"),
            "<p>Our <em>school</em> needs <strong>books</strong>.</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n"
        );
    }

    #[test]
    fn the_beginning_of_a_text_has_no_marks() {
        assert_eq!(
            plain_beginning(
                "# Help *us*\n\nOur [school](https://x.org) needs\n**books**:\n\n- one\n- `two`\n"
            ),
            "Help us Our school needs books: one two"
        );
        assert_eq!(plain_beginning(""), "");
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
    fn pictures_leave_their_text() {
        assert_eq!(render("![a cat](https://example.org/cat.png)"), "<p>a cat</p>\n");
    }

    #[test]
    fn only_operators_have_tables_and_they_have_no_styles() {
        let text = "| a | b |\n|:--|--:|\n| 1 | 2 |\n";
        let table = render_trusted(text);
        assert!(table.contains("<table>") && !table.contains("style"), "{table}");
        assert_eq!(
            render(text),
            "<p>| a | b |<br />\n|:--|--:|<br />\n| 1 | 2 |</p>\n"
        );
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

    #[test]
    fn a_text_whose_html_would_be_too_long_is_shown_as_it_was_written() {
        let table = format!(
            "|{}\n|{}\n{}",
            "a|".repeat(200),
            "-|".repeat(200),
            "a|\n".repeat(200)
        );
        assert_eq!(render_trusted(&table), plain_html(&table, usize::MAX));
        assert!(render_trusted(&table).starts_with("<p>|a|a|"));
        assert_eq!(render("-"), "<p>-</p>\n");
        assert_eq!(
            plain_html("a\r\n<b> & c", 99),
            "<p>a<br />\n&lt;b&gt; &amp; c</p>\n"
        );
        assert_eq!(plain_html(&"<".repeat(9), 26), "<p>&lt;&lt;&lt;…</p>\n");
    }

    #[test]
    fn deep_elements_leave_their_text() {
        let html = render(&format!("{}one{} two", "**".repeat(40), "**".repeat(40)));
        assert_eq!(html.matches("<strong>").count(), MAX_DEPTH - 1, "{html}");
        assert_eq!(html.matches("</strong>").count(), MAX_DEPTH - 1, "{html}");
        assert!(html.contains("one") && html.ends_with(" two</p>\n"), "{html}");
        for (deep, depth) in [(">", 17), ("- ", 17), ("1. ", 17), (" > +\t", 9)] {
            assert!(
                render(&format!("{}one", deep.repeat(depth))).starts_with("<p>"),
                "{deep}"
            );
        }
        assert!(
            render(&format!("{}{}", ">".repeat(MAX_DEPTH), "one ".repeat(99))).starts_with("<blockquote>")
        );
        assert_eq!(render(&"-".repeat(40)), "<hr />\n");
    }

    #[test]
    fn a_link_ends_on_its_line() {
        for link in [
            "[a](https://a.example/b_(c))",
            "[a](https://a.example \"b\")",
            "[a](https://a.example (b))",
            "[a](<https://a.example> 'b')",
            "[a]( https://a.example )",
        ] {
            assert!(render(link).contains("<a href=\"https://a.example"), "{link}");
        }
        for text in ["[a](/b\n)", "[a](b \"c\n\")", "[a](", "[a](b 'c\\' \nd')"] {
            let html = render(text);
            assert!(!html.contains("<a ") && html.contains("[a]("), "{html}");
        }
    }

    #[test]
    fn further_links_and_long_urls_are_text() {
        let links = |text: &str| render(text).matches("<a ").count();
        assert_eq!(links(&"[a](https://a.example) ".repeat(MAX_LINKS + 5)), MAX_LINKS);
        assert_eq!(links(&"https://a.example ".repeat(MAX_LINKS + 5)), MAX_LINKS);
        let long = format!("https://a.example/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(links(&format!("[a]({long}) {long} <{long}>")), 0);
    }

    #[test]
    fn a_text_is_rendered_once() {
        assert!(Arc::ptr_eq(&super::render("Twice"), &super::render("Twice")));
        assert!(!Arc::ptr_eq(
            &super::render("Twice"),
            &super::render_trusted("Twice")
        ));
    }

    /// Pieces of Markdown that become much longer as HTML, or take long to parse.
    const PIECES: [&str; 36] = [
        ">",
        "> ",
        "- ",
        "+\n",
        "-\n",
        "1. ",
        "2)\n",
        "\n",
        "\n\n",
        ">>>>>>-\n\n",
        "# ",
        "#\n",
        "*",
        "**a",
        "_a",
        "~~",
        "`",
        "```\n",
        "~~~\n",
        "[",
        "]",
        "[a]",
        "[a][a]",
        "[a]: https://a.example/&&\n",
        "(",
        "![",
        "<",
        "<a@b.c>",
        "<!--",
        "&",
        "\"",
        "https://a.example ",
        "|a|",
        "|-|-|\n",
        "    ",
        "ä",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn no_story_of_20_kb_renders_to_more_than_the_bound(
            pieces in proptest::collection::vec((0..PIECES.len(), 1..2_000usize), 1..8),
            size in 1..20_000usize,
        ) {
            let unit: String = pieces.iter().map(|(piece, count)| PIECES[*piece].repeat(*count)).collect();
            let mixed: String = pieces.iter().map(|(piece, _)| PIECES[*piece]).collect();
            for unit in [unit, mixed] {
                let story: String = unit.chars().cycle().take(size).collect();
                let max_bytes = (story.len() * 16).min(256 * 1_024);
                for author in [Author::Visitor, Author::Operator] {
                    let html = render_for(author, &story);
                    prop_assert!(html.len() <= max_bytes, "{} of {max_bytes}", html.len());
                    prop_assert!(!html.ends_with("…</p>\n"));
                }
            }
        }
    }
}
