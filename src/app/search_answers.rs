//! The response bodies of searches, with a cache of recent hits.

use crate::app::answer_cache::{AnswerCache, CacheKey};
use crate::app::nonprofit_json::NonprofitJson;
use directory::View;
use directory::query::filter::{Order, SearchFilter};
use directory::query::search::{AllHits, HitRef, MAX_LISTED};
use quick_cache::Equivalent;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// Searches the directory and writes the results as JSON.
#[derive(Debug)]
pub struct SearchAnswers {
    /// The hits of recent searches.
    hits: AnswerCache<Arc<[HitRef]>, SearchKey>,
    /// All hits of recent searches on the results page.
    lists: AnswerCache<AllHits, SearchKey>,
}

impl SearchAnswers {
    /// Caches hits of at most `bytes`, and lists of at most `list_bytes`.
    pub fn new(bytes: usize, list_bytes: usize) -> SearchAnswers {
        SearchAnswers {
            hits: AnswerCache::new(bytes),
            lists: AnswerCache::new(list_bytes),
        }
    }

    /// Returns the list of all results for `term` if it is cached.
    pub fn cached_list(
        &self,
        view: &View,
        term: &str,
        filter: &SearchFilter,
        order: Order,
    ) -> Option<AllHits> {
        let search = Search::list(view, term, filter, order);
        self.lists.get(&search, view.tag.as_ref())
    }

    /// Returns all results for `term`, as [`View::list`] does. This can take milliseconds.
    pub fn list(&self, view: &View, term: &str, filter: &SearchFilter, order: Order) -> AllHits {
        let search = Search::list(view, term, filter, order);
        let find = || Ok::<_, Infallible>(view.list(term, filter, order));
        let Ok(list) = self.lists.get_or_insert_with(&search, view.tag.as_ref(), find);
        list
    }

    /// Returns the body of the response to a search for `term`.
    pub fn answer(
        &self,
        json: &NonprofitJson,
        view: &View,
        term: &str,
        take: usize,
        filter: &SearchFilter,
    ) -> Vec<u8> {
        let search = Search {
            view: view.number,
            term,
            filter,
            order: Order::Best,
            take,
        };
        let find = || Ok::<_, Infallible>(view.find_hits(term, take, filter));
        let Ok(hits) = self.hits.get_or_insert_with(&search, view.tag.as_ref(), find);
        render(hits.iter().map(|hit| &hit.words), |out, index| {
            let location = hits[index].location;
            json.open_item(out, &view.item(location)?);
            let miles = filter.near.and_then(|near| view.miles_from(&near, location));
            miles.inspect(|miles| NonprofitJson::distance(out, *miles));
            Some(())
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
    for (index, words) in words.enumerate() {
        if last.is_some() {
            out.push(b',');
        }
        if open(&mut out, index).is_none() {
            out.pop_if(|byte| *byte == b',');
            continue;
        }
        let start = out.len();
        // Consecutive hits mostly share their words.
        match &last {
            Some((last_words, range)) if Arc::ptr_eq(last_words, words) => {
                out.extend_from_within(range.clone());
            }
            _ => NonprofitJson::close_item(&mut out, words),
        }
        last = Some((words, start..out.len()));
    }
    out.extend_from_slice(b"]}");
    out
}

/// The inputs of a search, borrowed to look it up in the cache.
#[derive(Hash)]
struct Search<'a> {
    /// The number of the view.
    view: u64,
    term: &'a str,
    filter: &'a SearchFilter,
    order: Order,
    take: usize,
}

/// A [`Search`] in the cache. Both have the same fields in the same order, so that they have the same hash.
#[derive(Debug, PartialEq, Eq, Hash)]
struct SearchKey {
    view: u64,
    term: Box<str>,
    filter: SearchFilter,
    order: Order,
    take: usize,
}

impl<'a> Search<'a> {
    /// A search for a list of all results.
    fn list(view: &View, term: &'a str, filter: &'a SearchFilter, order: Order) -> Search<'a> {
        Search {
            view: view.number,
            term,
            filter,
            order,
            take: MAX_LISTED,
        }
    }
}

impl Equivalent<SearchKey> for Search<'_> {
    fn equivalent(&self, key: &SearchKey) -> bool {
        self.view == key.view
            && *self.term == *key.term
            && *self.filter == key.filter
            && self.order == key.order
            && self.take == key.take
    }
}

impl From<&Search<'_>> for SearchKey {
    fn from(search: &Search<'_>) -> SearchKey {
        SearchKey {
            view: search.view,
            term: search.term.into(),
            filter: search.filter.clone(),
            order: search.order,
            take: search.take,
        }
    }
}

impl CacheKey for SearchKey {
    fn bytes(&self) -> usize {
        let SearchFilter {
            causes, state, city, ..
        } = &self.filter;
        let texts = causes.iter().chain(state).chain(city);
        size_of::<SearchKey>()
            + self.term.len()
            + texts.map(|text| text.len() + size_of::<String>()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use directory::query::near::Near;
    use std::hash::{BuildHasher, RandomState};

    #[test]
    fn a_search_has_the_hash_of_its_key_and_differs_from_others() {
        let near = |center| SearchFilter {
            near: Near::parse(Some(center), None).unwrap(),
            ..SearchFilter::default()
        };
        let filters = [
            SearchFilter::default(),
            near("97201"),
            near("97202"),
            SearchFilter {
                causes: vec!["animals".to_owned()],
                ..SearchFilter::default()
            },
        ];
        let hasher = RandomState::new();
        let mut keys: Vec<SearchKey> = Vec::new();
        for (view, term) in [(1, "red"), (2, "red"), (2, "red cross")] {
            for filter in &filters {
                for (order, take) in [(Order::Best, 10), (Order::Name, 10), (Order::Name, 11)] {
                    let search = Search {
                        view,
                        term,
                        filter,
                        order,
                        take,
                    };
                    let key = SearchKey::from(&search);
                    assert_eq!(hasher.hash_one(&search), hasher.hash_one(&key));
                    assert!(search.equivalent(&key));
                    assert!(!keys.iter().any(|other| search.equivalent(other)));
                    keys.push(key);
                }
            }
        }
    }
}
