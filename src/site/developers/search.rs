//! Searches the documentation, with the index that also searches nonprofits.

use search::{Document, Index, IndexBuilder, Query};
use serde::Serialize;

/// The words of a section that one name of the index holds, and the names that one document holds.
const CHUNK_WORDS: usize = 60;
const MAX_CHUNKS: usize = 6;
const MAX_RESULTS: usize = 20;
const MAX_EXCERPT: usize = 220;

/// A part of the documentation that can be found.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub url: String,
    /// The title of its page.
    pub page: String,
    pub title: String,
    pub text: String,
    /// Pages come before their sections, and those before minor ones.
    pub rank: u8,
}

/// A section that matches.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct SearchResult<'a> {
    pub url: &'a str,
    pub page: &'a str,
    pub title: &'a str,
    pub excerpt: String,
}

/// The index of the documentation.
#[derive(Debug)]
pub(super) struct SearchIndex {
    entries: Vec<Entry>,
    /// The entry of each document: a long section is several documents.
    documents: Vec<usize>,
    index: Index<Vec<u8>>,
}

impl SearchIndex {
    /// Builds the index.
    ///
    /// # Panics
    ///
    /// Panics if the documentation cannot be indexed, which a test would find.
    pub(super) fn new(mut entries: Vec<Entry>) -> SearchIndex {
        entries.sort_by_key(|entry| entry.rank);
        let mut builder = IndexBuilder::new();
        let mut documents = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let words: Vec<&str> = entry.text.split_whitespace().collect();
            let chunks: Vec<String> = words.chunks(CHUNK_WORDS).map(|chunk| chunk.join(" ")).collect();
            let mut groups: Vec<Vec<&str>> = chunks
                .chunks(MAX_CHUNKS)
                .map(|group| group.iter().map(String::as_str).collect())
                .collect();
            if groups.is_empty() {
                groups.push(Vec::new());
            }
            for group in groups {
                let document = Document {
                    name: &entry.title,
                    secondary_names: &group,
                    location: &[entry.page.as_str()],
                    prominence: f32::from(3 - entry.rank.min(3)),
                    ..Document::default()
                };
                builder.add(&document).expect("entries are in order");
                documents.push(number);
            }
        }
        let bytes = builder.finish().expect("the documentation is small");
        SearchIndex {
            entries,
            documents,
            index: Index::open(bytes).expect("the index was just built"),
        }
    }

    /// Returns the sections that match, best match first.
    pub(super) fn search(&self, text: &str) -> Vec<SearchResult<'_>> {
        let query = Query {
            limit: 2 * MAX_RESULTS,
            ..Query::new(text)
        };
        let results = self.index.search(&query);
        let mut numbers: Vec<usize> = Vec::new();
        let mut found = Vec::new();
        // Corrected words are shown only if nothing has the words as typed: most words here are names and codes.
        let has_typed = results.hits.iter().any(|hit| !hit.rewrite.is_correction());
        let hits = results.hits.iter();
        for hit in hits.filter(|hit| !has_typed || !hit.rewrite.is_correction()) {
            let number = self.documents[hit.document as usize];
            if numbers.contains(&number) || numbers.len() == MAX_RESULTS {
                continue;
            }
            numbers.push(number);
            let entry = &self.entries[number];
            let words: Vec<String> = results.matched_words(hit).collect();
            found.push(SearchResult {
                url: &entry.url,
                page: &entry.page,
                title: &entry.title,
                excerpt: excerpt(&entry.text, &words),
            });
        }
        found
    }
}

/// Returns the part of a text that starts shortly before the first of the words.
fn excerpt(text: &str, words: &[String]) -> String {
    let all: Vec<&str> = text.split_whitespace().collect();
    let is_match = |word: &&str| {
        let word = word.to_lowercase();
        words
            .iter()
            .any(|typed| typed.len() > 2 && word.contains(typed.as_str()))
    };
    let start = all.iter().position(is_match).unwrap_or(0).saturating_sub(8);
    let mut excerpt = String::from(if start > 0 { "… " } else { "" });
    for word in &all[start..] {
        if excerpt.len() + word.len() > MAX_EXCERPT {
            excerpt.push('…');
            return excerpt;
        }
        excerpt.push_str(word);
        excerpt.push(' ');
    }
    excerpt.truncate(excerpt.trim_end().len());
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, text: &str, rank: u8) -> Entry {
        Entry {
            url: format!("/developers/{title}"),
            page: "Page".to_owned(),
            title: title.to_owned(),
            text: text.to_owned(),
            rank,
        }
    }

    #[test]
    fn titles_come_first_and_every_word_of_a_long_section_is_found() {
        let long = format!("{} hippopotamus", "filler ".repeat(900));
        let index = SearchIndex::new(vec![
            entry("rate_limited", "Wait for the seconds in Retry-After.", 2),
            entry("Limits", "Requests per minute. Wait when rate limited.", 0),
            entry("Long", &long, 1),
            entry("cursor_expired", "Start again.", 2),
            entry("Origins", "Pages of any origin may call the API (CORS).", 2),
        ]);
        let titles = |text: &str| -> Vec<String> {
            let found = index.search(text);
            found.iter().map(|found| found.title.to_owned()).collect()
        };
        assert_eq!(titles("rate_limited")[0], "rate_limited");
        assert_eq!(titles("retry-af"), ["rate_limited"]);
        assert_eq!(titles("hippopotamus"), ["Long"]);
        assert_eq!(titles("hipopotamus"), ["Long"], "a typo is corrected");
        assert_eq!(titles("cors"), ["Origins"], "and what is right is not");
        assert_eq!(titles("zzqqxx"), [""; 0]);
        let found = index.search("hippopotamus");
        assert!(found[0].excerpt.ends_with("hippopotamus"), "{found:?}");
    }
}
