//! Renders a page of the documentation from our own Markdown.
//!
//! Headings get anchors, links to other documents become links to their pages, and a paragraph that is only a link to a
//! file in `samples` becomes the sample in all languages. Everywhere else, such as on GitHub, it is still a link.

use super::samples::SampleView;
use crate::web::texts::{DEVELOPERS_EN, Documentation};
use askama::Template;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

const TEXTS: &Documentation = &DEVELOPERS_EN.documentation;

/// A rendered document.
#[derive(Debug, Default)]
pub(super) struct RenderedPage {
    /// The text of its first heading.
    pub title: String,
    /// Its first paragraph, without markup.
    pub lead: String,
    /// The same paragraph as HTML, without its element.
    pub lead_html: String,
    /// Everything after the first paragraph.
    pub html: String,
    /// The headings of the second and third level.
    pub headings: Vec<Heading>,
    /// What can be found: the document itself, then each of its headings with the text up to the next one.
    pub sections: Vec<Section>,
    pub has_samples: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Heading {
    pub id: String,
    pub text: String,
    pub is_minor: bool,
}

/// A part of a document for the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Section {
    /// The anchor; empty for the document itself.
    pub id: String,
    pub title: String,
    pub text: String,
}

/// Renders a document.
pub(super) fn render(text: &str) -> RenderedPage {
    let events: Vec<Event> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    let mut renderer = Renderer::default();
    let mut rest = events.as_slice();
    while !rest.is_empty() {
        let (block, after) = rest.split_at(block_length(rest));
        renderer.add(block);
        rest = after;
    }
    let mut page = renderer.page;
    html::push_html(&mut page.html, renderer.events.into_iter());
    page
}

/// Renders a short text, such as a description in our OpenAPI document.
pub(super) fn render_text(text: &str) -> String {
    let mut output = String::new();
    html::push_html(&mut output, Parser::new(text).filter(|event| !is_raw(event)));
    output
}

fn is_raw(event: &Event) -> bool {
    matches!(event, Event::Html(_) | Event::InlineHtml(_))
}

/// Returns the number of events of the first block.
fn block_length(events: &[Event]) -> usize {
    let mut depth = 0_usize;
    for (index, event) in events.iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    events.len()
}

#[derive(Default)]
struct Renderer<'a> {
    page: RenderedPage,
    events: Vec<Event<'a>>,
    /// How often each anchor was used.
    anchors: HashMap<String, usize>,
    /// The number of samples and code blocks, which get IDs.
    codes: usize,
}

impl<'a> Renderer<'a> {
    fn add(&mut self, block: &[Event<'a>]) {
        let inner = block.get(1..block.len() - 1).unwrap_or_default();
        match &block[0] {
            Event::Start(Tag::Heading {
                level: HeadingLevel::H1,
                ..
            }) => {
                self.page.title = plain(inner);
                self.page.sections.push(Section {
                    title: self.page.title.clone(),
                    ..Section::default()
                });
            }
            Event::Start(Tag::Heading { level, .. }) => self.add_heading(*level, inner),
            Event::Start(Tag::Paragraph) if self.page.lead.is_empty() => {
                self.page.lead = plain(inner);
                html::push_html(&mut self.page.lead_html, linked(inner).into_iter());
                self.add_text(inner);
            }
            Event::Start(Tag::Paragraph) => match sample(inner, self.codes + 1) {
                Some(sample) => {
                    self.codes += 1;
                    self.page.has_samples = true;
                    self.push_html(sample.render().unwrap_or_default());
                }
                None => self.add_block(block),
            },
            Event::Start(Tag::CodeBlock(_)) => self.add_code(&plain(inner)),
            Event::Start(Tag::Table(_)) => {
                let label = self
                    .page
                    .sections
                    .last()
                    .map_or("", |section| section.title.as_str());
                let region = format!(
                    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">",
                    escaped(label)
                );
                self.push_html(region);
                self.add_block(block);
                self.push_html("</div>".to_owned());
            }
            _ => self.add_block(block),
        }
    }

    fn add_heading(&mut self, level: HeadingLevel, inner: &[Event<'a>]) {
        let text = plain(inner);
        let mut id = anchor(&text);
        let used = self.anchors.entry(id.clone()).or_default();
        *used += 1;
        if *used > 1 {
            id = format!("{id}-{}", *used - 1);
        }
        self.push_html(format!(
            "<{level} id=\"{id}\"><a class=\"heading-link\" href=\"#{id}\">"
        ));
        self.events.extend(linked(inner));
        self.push_html(format!("</a></{level}>\n"));
        self.page.headings.push(Heading {
            id: id.clone(),
            text: text.clone(),
            is_minor: level > HeadingLevel::H2,
        });
        self.page.sections.push(Section {
            id,
            title: text,
            text: String::new(),
        });
    }

    fn add_block(&mut self, block: &[Event<'a>]) {
        self.add_text(block);
        self.events.extend(linked(block));
    }

    /// Adds a code block with a button that copies it.
    fn add_code(&mut self, text: &str) {
        self.codes += 1;
        let id = format!("code-{}", self.codes);
        let (copy, copied) = (TEXTS.copy, TEXTS.copied);
        self.push_html(format!(
            "<div class=\"sample\"><div class=\"sample-code\"><pre tabindex=\"0\"><code id=\"{id}\">{}</code></pre>\
             <button class=\"button button-quiet button-small copy\" type=\"button\" hidden data-copy=\"{id}\" \
             data-copied=\"{copied}\">{copy}</button></div></div>\n",
            escaped(text)
        ));
    }

    /// Adds the text of a block to the section that it is in.
    fn add_text(&mut self, block: &[Event]) {
        let text = plain(block);
        if let Some(section) = self.page.sections.last_mut() {
            if !section.text.is_empty() {
                section.text.push(' ');
            }
            section.text.push_str(text.trim());
        }
    }

    fn push_html(&mut self, text: String) {
        self.events.push(Event::Html(text.into()));
    }
}

/// Returns the sample that a paragraph stands for.
fn sample(inner: &[Event], number: usize) -> Option<SampleView> {
    match inner {
        [
            Event::Start(Tag::Link { dest_url, .. }),
            text @ ..,
            Event::End(TagEnd::Link),
        ] => SampleView::find(dest_url, &plain(text), number),
        _ => None,
    }
}

/// Returns the events with links to other documents changed into links to their pages.
fn linked<'a>(events: &[Event<'a>]) -> Vec<Event<'a>> {
    let changed = events.iter().cloned().map(|event| match event {
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url: page_path(dest_url),
            title,
            id,
        }),
        event => event,
    });
    changed.collect()
}

/// Returns the path of the page of `limits.md#sizes`. Other links stay as they are.
fn page_path(link: CowStr<'_>) -> CowStr<'_> {
    let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
    let Some(name) = file.strip_suffix(".md").filter(|name| !name.contains('/')) else {
        return link;
    };
    let path = match name {
        "index" => "/developers".to_owned(),
        name => format!("/developers/{name}"),
    };
    let anchor = if anchor.is_empty() {
        String::new()
    } else {
        format!("#{anchor}")
    };
    (path + &anchor).into()
}

/// Returns the text without markup. Blocks and table cells are separated by spaces.
fn plain(events: &[Event]) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Returns the anchor of a heading, as GitHub forms it.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
        .collect()
}

fn escaped(text: &str) -> String {
    let mut output = String::new();
    // Writing to a string cannot fail.
    _ = pulldown_cmark_escape::escape_html(&mut output, text);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_becomes_a_page_with_anchors_samples_and_sections() {
        let page = render(
            "# Limits\n\nThe *lead*.\n\n## Read `x_y` now\n\nSee [errors](errors.md#rate_limited), [home](index.md) \
             and [keys](/dashboard).\n\n[Search](samples/search.sh)\n\n```json\n{\"a\": \"<b>\"}\n```\n\n### Twice\n\n\
             ### Twice\n\n| A | B |\n|---|---|\n| 1 | 2 |\n",
        );
        assert_eq!((page.title.as_str(), page.lead.as_str()), ("Limits", "The lead."));
        assert_eq!(page.lead_html, "The <em>lead</em>.");
        let ids: Vec<_> = page.headings.iter().map(|heading| heading.id.as_str()).collect();
        assert_eq!(ids, ["read-x_y-now", "twice", "twice-1"]);
        for part in [
            "<h2 id=\"read-x_y-now\"><a class=\"heading-link\" href=\"#read-x_y-now\">Read <code>x_y</code> now</a></h2>",
            "href=\"/developers/errors#rate_limited\"",
            "href=\"/developers\"",
            "href=\"/dashboard\"",
            "name=\"sample-1\"",
            "<code id=\"code-2\">{&quot;a&quot;: &quot;&lt;b&gt;&quot;}",
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Twice\">",
        ] {
            assert!(page.html.contains(part), "{part}\n{}", page.html);
        }
        assert!(page.has_samples && !page.html.contains("The <em>lead</em>"));
        assert_eq!(page.sections.len(), 4);
        assert_eq!(page.sections[0].text, "The lead.");
        assert!(
            page.sections[3].text.contains("A B 1 2"),
            "{:?}",
            page.sections[3]
        );
    }

    #[test]
    fn a_description_cannot_contain_html() {
        assert_eq!(render_text("a `b` <b>c</b>"), "<p>a <code>b</code> c</p>\n");
    }
}
