//! The responses to searches, written from the snapshot and from what was found and written before.

use crate::app::answer_cache::AnswerCache;
use crate::app::item_cache::Items;
use crate::app::nonprofit_json::Wire;
use directory::View;
use directory::search::{At, Spot};
use std::convert::Infallible;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Searches the directory and writes what it found as JSON.
#[derive(Debug)]
pub struct SearchAnswers {
    /// The hits of recent searches.
    hits: AnswerCache<Arc<[Spot]>>,
    /// Nonprofits as they appear in responses.
    items: Items,
}

impl SearchAnswers {
    /// Caches hits of at most `hit_bytes` and items of at most `item_bytes`.
    pub fn new(hit_bytes: usize, item_bytes: usize) -> SearchAnswers {
        SearchAnswers {
            hits: AnswerCache::new(hit_bytes),
            items: Items::new(item_bytes),
        }
    }

    /// Returns the body of the response to a search for `term`.
    pub fn answer(&self, json: &Wire, view: &View, term: &str, take: usize, filter: &Filter) -> Vec<u8> {
        let question = filter.question(view, term, take);
        let find = || Ok::<_, Infallible>(filter.over(|groups| view.spots(term, take, groups)));
        let Ok(spots) = self.hits.get_or_make(&question, view.tag.as_ref(), find);
        let revision = view.snapshot.as_ref().map_or(0, |it| it.edition().revision);
        render(spots.iter().map(|spot| &spot.words), |out, place| {
            let at = spots[place].at;
            let item = |out: &mut Vec<u8>| {
                json.open_item(out, &view.nonprofit(at)?);
                Some(())
            };
            match at {
                At::Snapshot(place) => self.items.write(out, revision, place, item),
                At::Overlay(_) => item(out),
            }
        })
    }
}

/// Writes the body of a response to a search.
///
/// `words` are the words that matched each nonprofit; `open` begins the item of the nonprofit at an index, or returns
/// `None` to leave it out.
pub fn render<'a>(
    words: impl ExactSizeIterator<Item = &'a Arc<[String]>>,
    open: impl Fn(&mut Vec<u8>, usize) -> Option<()>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(1_024 * words.len() + 32);
    out.extend_from_slice(br#"{"nonprofits":["#);
    let mut last: Option<(&Arc<[String]>, Range<usize>)> = None;
    for (place, words) in words.enumerate() {
        if last.is_some() {
            out.push(b',');
        }
        if open(&mut out, place).is_none() {
            out.pop_if(|byte| *byte == b',');
            continue;
        }
        let start = out.len();
        // Consecutive hits mostly share their words.
        match &last {
            Some((same, written)) if Arc::ptr_eq(same, words) => out.extend_from_within(written.clone()),
            _ => Wire::close_item(&mut out, words),
        }
        last = Some((words, start..out.len()));
    }
    out.extend_from_slice(b"]}");
    out
}

/// Restricts a search to nonprofits with certain labels.
#[derive(Debug, Default)]
pub struct Filter {
    /// A nonprofit must have a label of each group.
    groups: Vec<Vec<String>>,
}

impl Filter {
    /// Requires one of `labels`; without any, nothing is required.
    pub fn require_any(&mut self, labels: impl IntoIterator<Item = String>) {
        let group: Vec<String> = labels.into_iter().collect();
        if !group.is_empty() {
            self.groups.push(group);
        }
    }

    /// Returns a cache key made of everything that the hits depend on. A label contains no zero byte.
    fn question(&self, view: &View, term: &str, take: usize) -> String {
        let mut question = String::with_capacity(term.len() + 32);
        let _ = write!(question, "{} {take}", view.number);
        for group in &self.groups {
            question.push('\0');
            for label in group {
                question.push_str(label);
                question.push(',');
            }
        }
        question.push_str("\0\0");
        question.push_str(term);
        question
    }

    fn over<T>(&self, find: impl FnOnce(&[&[&str]]) -> T) -> T {
        let groups: Vec<Vec<&str>> = self
            .groups
            .iter()
            .map(|group| group.iter().map(String::as_str).collect())
            .collect();
        let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
        find(&groups)
    }
}
