//! The guides of the documentation, written in `docs/developers`.

use super::markdown::{self, RenderedPage};
use super::samples::{SERVER, SampleView};
use crate::app::compressible_text::CompressibleText;

/// A guide as it is written.
struct Source {
    /// The last segment of its path; empty for the first page.
    slug: &'static str,
    group: Group,
    text: &'static str,
}

/// The groups of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Start,
    Guides,
    Operation,
}

macro_rules! source {
    ($slug:literal, $group:ident) => {
        source!($slug, $group, $slug)
    };
    ($slug:literal, $group:ident, $file:literal) => {
        Source {
            slug: $slug,
            group: Group::$group,
            text: include_str!(concat!("../../../docs/developers/", $file, ".md")),
        }
    };
}

/// All guides, in the order of the menu.
const SOURCES: [Source; 20] = [
    source!("", Start, "index"),
    source!("quick-start", Start),
    source!("client-libraries", Start),
    source!("authentication", Guides),
    source!("search-as-you-type", Guides),
    source!("nonprofits", Guides),
    source!("browse", Guides),
    source!("fundraisers", Guides),
    source!("donate-links-and-embeds", Guides),
    source!("webhooks", Guides),
    source!("match", Guides),
    source!("reconcile", Guides),
    source!("export", Guides),
    source!("changes", Guides),
    source!("mcp", Guides),
    source!("errors", Operation),
    source!("limits", Operation),
    source!("versioning", Operation),
    source!("existing-clients", Operation),
    source!("going-live", Operation),
];

impl Source {
    fn path(&self) -> String {
        match self.slug {
            "" => "/developers".to_owned(),
            slug => format!("/developers/{slug}"),
        }
    }
}

/// Returns the paths of all guides.
pub fn paths() -> impl Iterator<Item = String> {
    SOURCES.iter().map(Source::path)
}

/// A guide as the site shows it.
#[derive(Debug)]
pub(super) struct Guide {
    pub slug: &'static str,
    pub path: String,
    pub group: Group,
    pub page: RenderedPage,
    /// The guide as Markdown, with its samples.
    pub markdown: CompressibleText,
}

impl Guide {
    /// Returns the name of its Markdown version, next to its page.
    pub(super) fn markdown_name(&self) -> String {
        match self.slug {
            "" => "index.md".to_owned(),
            slug => format!("{slug}.md"),
        }
    }
}

/// Renders all guides for a server at `public_url`.
pub(super) fn guides(public_url: &str) -> Vec<Guide> {
    let guide = |source: &Source| {
        let mut page = markdown::render(source.text);
        page.html = page.html.replace(SERVER, public_url);
        Guide {
            slug: source.slug,
            path: source.path(),
            group: source.group,
            page,
            markdown: CompressibleText::permanent(with_samples(source.text).replace(SERVER, public_url)),
        }
    };
    SOURCES.iter().map(guide).collect()
}

/// Returns Markdown in which the links to samples are replaced with the samples.
fn with_samples(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for line in text.lines() {
        let link = line.strip_prefix('[').and_then(|line| line.strip_suffix(')'));
        let sample = link
            .and_then(|link| link.split_once("]("))
            .and_then(|(title, file)| SampleView::find(file, title.trim_start_matches("Sample: "), 0));
        if let Some(sample) = sample {
            out.push_str(&sample.to_markdown());
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_document_is_a_guide_with_a_title_and_a_lead() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/developers");
        let names = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let documents: BTreeSet<String> = names
            .filter_map(|name| name.strip_suffix(".md").map(str::to_owned))
            .collect();
        let slugs = SOURCES.iter().map(|source| match source.slug {
            "" => "index".to_owned(),
            slug => slug.to_owned(),
        });
        assert_eq!(documents, slugs.collect());
        for guide in guides("https://give.example.org") {
            assert!(
                !guide.page.title.is_empty() && !guide.page.lead.is_empty(),
                "{guide:?}"
            );
            assert!(!guide.page.html.contains(SERVER), "{}", guide.slug);
        }
    }

    #[test]
    fn every_error_code_is_explained_with_its_status() {
        let errors = include_str!("../../../docs/developers/errors.md");
        let problems = include_str!("../../http/error.rs");
        let (_, codes) = problems.split_once("fn status_and_code").unwrap();
        let (codes, _) = codes.split_once("\n    }\n").unwrap();
        let mut codes: BTreeSet<&str> = codes.split('"').skip(1).step_by(2).collect();
        // Requests that the listener refuses (`http/refusal.rs`).
        codes.extend(["invalid_request", "uri_too_long", "headers_too_large"]);
        assert!(codes.len() > 20 && codes.contains("rate_limited"), "{codes:?}");
        let explained: BTreeSet<&str> = errors
            .lines()
            .filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'))
            .collect();
        assert_eq!(
            codes, explained,
            "the codes of http/error.rs and docs/developers/errors.md"
        );
        for entry in errors.split("\n### ").skip(1) {
            assert!(
                entry.contains("**Status ") && entry.contains("**What to do:**"),
                "{entry}"
            );
        }
    }
}
