//! Reads as much of Markdown as the checks need: code blocks, inline code, links and headings.

use crate::repository;

/// The guides that the website shows. Their links that begin with a slash lead to pages of the website, which
/// `tests/site/developers.rs` checks.
pub const SITE_GUIDES: &str = "docs/developers";

/// A document, and where it is.
pub struct Document {
    /// From the root of the repository.
    pub path: String,
    pub text: String,
}

/// A fenced code block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    pub line: usize,
    /// What follows the fence, such as `sh try`.
    pub info: &'a str,
    pub text: String,
}

/// Inline code or the target of a link, on one line.
#[derive(Debug, PartialEq, Eq)]
pub struct Span {
    pub line: usize,
    pub text: String,
}

impl Document {
    /// The documents that are checked.
    pub fn all() -> Vec<Document> {
        let mut paths = ["README.md", "deploy/README.md", "load/README.md"]
            .map(str::to_owned)
            .to_vec();
        let optional = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];
        paths.extend(optional.map(str::to_owned));
        paths.retain(|path| repository::root().join(path).exists());
        for folder in ["docs", SITE_GUIDES] {
            let guides = std::fs::read_dir(repository::root().join(folder)).expect("the folder exists");
            for guide in guides {
                let name = guide.expect("the folder can be read").file_name();
                let name = name.to_str().expect("file names are UTF-8");
                if repository::has_ending(name, "md") {
                    paths.push(format!("{folder}/{name}"));
                }
            }
        }
        paths.sort();
        let read = |path: String| Document {
            text: repository::read(&path),
            path,
        };
        paths.into_iter().map(read).collect()
    }

    /// A problem on a line of this document.
    pub fn problem(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }

    /// All fenced code blocks.
    pub fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        let mut open: Option<Block> = None;
        for (line, text) in (1..).zip(self.text.lines()) {
            match (text.trim_start().strip_prefix("```"), &mut open) {
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(info), None) => {
                    open = Some(Block {
                        line: line + 1,
                        info: info.trim(),
                        text: String::new(),
                    });
                }
                (None, Some(block)) => {
                    block.text.push_str(text);
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        blocks
    }

    /// All shell scripts: code blocks that are scripts, and inline code.
    pub fn scripts(&self) -> Vec<Span> {
        let blocks = self.blocks().into_iter();
        let is_shell = |block: &Block| matches!(block.info.split(' ').next(), Some("sh" | "console"));
        let scripts = blocks.filter(is_shell).map(|block| Span {
            line: block.line,
            text: block.text,
        });
        scripts.chain(self.code_spans()).collect()
    }

    /// All inline code outside of code blocks. A span may continue on the next line.
    pub fn code_spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut open: Option<Span> = None;
        for (line, text) in self.prose() {
            if text.trim().is_empty() {
                open = None;
            }
            for (index, part) in text.split('`').enumerate() {
                if index > 0 {
                    match open.take() {
                        Some(span) => spans.push(span),
                        None => {
                            open = Some(Span {
                                line,
                                text: String::new(),
                            });
                        }
                    }
                }
                if let Some(span) = &mut open {
                    if index == 0 {
                        span.text.push(' ');
                    }
                    span.text.push_str(part);
                }
            }
        }
        spans
    }

    /// The targets of all links.
    pub fn links(&self) -> Vec<Span> {
        let mut links = Vec::new();
        for (line, text) in self.prose() {
            for part in text.split("](").skip(1) {
                if let Some((target, _)) = part.split_once(')') {
                    let text = target.to_owned();
                    links.push(Span { line, text });
                }
            }
        }
        links
    }

    /// The names by which links refer to the headings of this document.
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.prose().filter(|(_, text)| text.starts_with('#'));
        headings.map(|(_, text)| anchor(text)).collect()
    }

    /// The lines outside of code blocks, with their numbers.
    fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut is_code = false;
        (1..).zip(self.text.lines()).filter(move |(_, text)| {
            let is_fence = text.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
    }
}

/// The anchor that GitHub gives to a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
pub fn document(text: &str) -> Document {
    Document {
        path: "docs/test.md".to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn code_links_and_headings_are_found() {
    let document = document(
        "# A title: and more\n\nSee `one` and `two\nthree` in [a page](a.md#b).\n\n```sh try\nls `pwd`\n```\n\n## End\n",
    );
    let spans: Vec<_> = document
        .code_spans()
        .into_iter()
        .map(|span| (span.line, span.text))
        .collect();
    assert_eq!(spans, [(3, "one".to_owned()), (3, "two three".to_owned())]);
    let links: Vec<_> = document
        .links()
        .into_iter()
        .map(|span| (span.line, span.text))
        .collect();
    assert_eq!(links, [(4, "a.md#b".to_owned())]);
    assert_eq!(document.anchors(), ["a-title-and-more", "end"]);
    let blocks = document.blocks();
    assert_eq!(
        (blocks[0].line, blocks[0].info, blocks[0].text.as_str()),
        (7, "sh try", "ls `pwd`\n")
    );
}
