//! The samples of the documentation: files in `docs/developers/samples`, one for each language, which a test runs.
//!
//! In a sample, `https://causeway.example` stands for the server, `PUBLIC_KEY` and `PRIVATE_KEY` for keys.

use crate::web::texts::{DEVELOPERS_EN, Documentation};
use askama::Template;
use std::borrow::Cow;

/// What samples call the server.
pub(super) const SERVER: &str = "https://causeway.example";
/// What samples call the public key of the reader.
pub(super) const PUBLIC_KEY: &str = "PUBLIC_KEY";

/// The ID of each language, its name, and how its files end.
pub(super) const LANGUAGES: [(&str, &str, &str); 6] = [
    ("curl", "curl", "sh"),
    ("javascript", "JavaScript", "js"),
    ("python", "Python", "py"),
    ("go", "Go", "go"),
    ("php", "PHP", "php"),
    ("ruby", "Ruby", "rb"),
];

/// Includes a file of `docs/developers/samples`.
macro_rules! file {
    ($name:literal, $ending:literal) => {
        include_str!(concat!("../../../docs/developers/samples/", $name, $ending))
    };
}

macro_rules! samples {
    ($($name:literal,)*) => {
        &[$((
            $name,
            [
                file!($name, ".sh"),
                file!($name, ".js"),
                file!($name, ".py"),
                file!($name, ".go"),
                file!($name, ".php"),
                file!($name, ".rb"),
            ],
        ),)*]
    };
}

/// The samples by name, in the order of `LANGUAGES`.
const SAMPLES: &[(&str, [&str; 6])] = samples![
    "browse",
    "changes",
    "check-limit",
    "create-fundraiser",
    "donate-link",
    "etag",
    "export",
    "handle-error",
    "list-fundraisers",
    "look-up",
    "match",
    "reconcile",
    "retry",
    "search",
    "search-filters",
];

/// Programs that receive webhooks. They verify a signature, so they come in languages and not for curl.
const RECEIVERS: [(&str, &str, &str, &str); 6] = [
    ("javascript", "JavaScript", "js", file!("receive-webhook", ".js")),
    ("python", "Python", "py", file!("receive-webhook", ".py")),
    ("go", "Go", "go", file!("receive-webhook", ".go")),
    ("php", "PHP", "php", file!("receive-webhook", ".php")),
    ("ruby", "Ruby", "rb", file!("receive-webhook", ".rb")),
    ("rust", "Rust", "rs", file!("receive-webhook", ".rs")),
];

/// Samples in one language: pages to save and open, and the clients.
const SINGLE: &[(&str, &str)] = &[
    ("client.js", file!("client", ".js")),
    ("client.py", file!("client", ".py")),
    ("mcp.sh", file!("mcp", ".sh")),
    ("search-as-you-type.html", file!("search-as-you-type", ".html")),
    ("search-box.html", file!("search-box", ".html")),
    ("search-box-event.html", file!("search-box-event", ".html")),
    (
        "donate-button-script.html",
        file!("donate-button-script", ".html"),
    ),
];

/// A sample as a page shows it, in one language or several.
#[derive(Debug, Template)]
#[template(path = "site/developers/sample.html")]
pub(super) struct SampleView {
    /// Distinguishes the samples of a page.
    number: usize,
    title: String,
    codes: Vec<Code>,
    texts: &'static Documentation,
}

#[derive(Debug)]
struct Code {
    language: &'static str,
    title: &'static str,
    text: Cow<'static, str>,
}

/// The languages that a Markdown version of a guide shows of a sample.
const MARKDOWN_LANGUAGES: usize = 3;

impl SampleView {
    /// Returns the sample that `link` leads to, a file in the folder of samples.
    pub(super) fn find(link: &str, title: &str, number: usize) -> Option<SampleView> {
        let file = link.strip_prefix("samples/")?;
        let (name, ending) = file.rsplit_once('.')?;
        let codes = if let Some((_, text)) = SINGLE.iter().find(|(known, _)| *known == file) {
            let language = LANGUAGES.into_iter().find(|(_, _, known)| *known == ending);
            let (language, title, _) = language.unwrap_or(("html", "HTML", "html"));
            vec![Code::new((language, title, *text))]
        } else if name == "receive-webhook" {
            let code = |(language, title, _, text)| Code::new((language, title, text));
            RECEIVERS.into_iter().map(code).collect()
        } else {
            let (_, texts) = SAMPLES.iter().find(|(known, _)| *known == name)?;
            let languages = LANGUAGES.into_iter().zip(*texts);
            languages
                .map(|((language, title, _), text)| Code::new((language, title, text)))
                .collect()
        };
        Some(SampleView::new(title, number, codes))
    }

    /// Returns a sample that is not a file, in languages with their IDs and names.
    pub(super) fn of_texts<const N: usize>(
        title: &str,
        texts: [(&'static str, &'static str, String); N],
    ) -> SampleView {
        SampleView::new(title, 1, texts.map(Code::new).into())
    }

    fn new(title: &str, number: usize, codes: Vec<Code>) -> SampleView {
        SampleView {
            number,
            title: title.to_owned(),
            codes,
            texts: &DEVELOPERS_EN.documentation,
        }
    }

    /// Returns the sample as Markdown, in the languages that most readers know.
    pub(super) fn to_markdown(&self) -> String {
        let codes = self.codes.iter().take(MARKDOWN_LANGUAGES);
        let blocks = codes.map(|code| {
            let language = if code.language == "curl" {
                "sh"
            } else {
                code.language
            };
            format!(
                "{}, {}:\n\n```{language}\n{}\n```\n",
                self.title,
                code.title,
                code.text.trim_end()
            )
        });
        blocks.collect::<Vec<_>>().join("\n")
    }
}

impl Code {
    fn new((language, title, text): (&'static str, &'static str, impl Into<Cow<'static, str>>)) -> Code {
        Code {
            language,
            title,
            text: text.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_folder_is_a_sample_in_all_languages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/developers/samples");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let languages = |(name, _): &(&str, _)| LANGUAGES.map(|(_, _, ending)| format!("{name}.{ending}"));
        let known = SAMPLES.iter().flat_map(languages);
        let single = SINGLE.iter().map(|(file, _)| (*file).to_owned());
        let receivers = RECEIVERS.map(|(_, _, ending, _)| format!("receive-webhook.{ending}"));
        assert_eq!(files, known.chain(single).chain(receivers).collect());
    }

    #[test]
    fn every_sample_names_the_server() {
        let codes = SAMPLES.iter().flat_map(|(_, texts)| texts);
        for text in codes.chain(SINGLE.iter().map(|(_, text)| text)) {
            assert!(text.contains(SERVER), "{text}");
        }
    }

    #[test]
    fn a_sample_has_a_tab_for_each_language() {
        let html = SampleView::find("samples/search.sh", "Search", 3)
            .unwrap()
            .render()
            .unwrap();
        assert_eq!(html.matches("type=\"radio\" name=\"sample-3\"").count(), 6);
        assert_eq!(html.matches("<pre").count(), 6);
        assert!(SampleView::find("samples/none.sh", "", 0).is_none());
        assert!(SampleView::find("quick-start.md", "", 0).is_none());
    }
}
