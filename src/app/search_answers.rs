//! The response bodies of searches, with a cache of recent hits.

use crate::app::answer_cache::AnswerCache;
use crate::app::nonprofit_json::NonprofitJson;
use directory::View;
use directory::query::diagnosis::Condition;
use directory::query::near::Near;
use directory::query::search::{AllHits, HitRef};
use platform::text::fold;
use std::cmp::Reverse;
use std::convert::Infallible;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// The maximum number of results that are listed and counted.
pub const MAX_LISTED: usize = 1_000;

/// The order of a list of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Best,
    /// The largest revenue first.
    Largest,
    Name,
    /// The shortest distance first.
    Nearest,
}

impl Order {
    /// Finds an order by its name.
    pub fn find(name: &str) -> Option<Order> {
        let all = [Order::Best, Order::Largest, Order::Name, Order::Nearest];
        all.into_iter().find(|order| order.name() == name)
    }

    /// Returns the name in URLs.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Best => "best",
            Order::Largest => "largest",
            Order::Name => "name",
            Order::Nearest => "nearest",
        }
    }
}

/// Searches the directory and writes the results as JSON.
#[derive(Debug)]
pub struct SearchAnswers {
    /// The hits of recent searches.
    hits: AnswerCache<Arc<[HitRef]>>,
    /// All hits of recent searches on the results page.
    lists: AnswerCache<AllHits>,
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
    pub fn cached_list(&self, view: &View, term: &str, filter: &Filter, order: Order) -> Option<AllHits> {
        self.lists
            .get(&filter.list_key(view, term, order), view.tag.as_ref())
    }

    /// Returns all results for `term`: at most [`MAX_LISTED`], and one more if there are more. This can take
    /// milliseconds.
    pub fn list(&self, view: &View, term: &str, filter: &Filter, order: Order) -> AllHits {
        let key = filter.list_key(view, term, order);
        let find = || Ok::<_, Infallible>(filter.find_all(view, term, order));
        let Ok(list) = self.lists.get_or_insert_with(&key, view.tag.as_ref(), find);
        list
    }

    /// Returns the body of the response to a search for `term`.
    pub fn answer(
        &self,
        json: &NonprofitJson,
        view: &View,
        term: &str,
        take: usize,
        filter: &Filter,
    ) -> Vec<u8> {
        let key = filter.cache_key(view, term, take);
        let find = || Ok::<_, Infallible>(filter.find_hits(view, term, take));
        let Ok(hits) = self.hits.get_or_insert_with(&key, view.tag.as_ref(), find);
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

/// Restricts a search to nonprofits with certain labels, and to those near a place.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// A nonprofit must have a label of each group.
    groups: Vec<Vec<String>>,
    /// The circle in which a nonprofit must be.
    near: Option<Near>,
    /// The name and the value of the parameter of each group, and last that of the circle.
    names: Vec<(&'static str, String)>,
}

impl Filter {
    /// Requires one of `labels`; without any, nothing is required. `name` and `value` are those of the parameter.
    pub fn require_any(
        &mut self,
        name: &'static str,
        value: impl Into<String>,
        labels: impl IntoIterator<Item = String>,
    ) {
        let group: Vec<String> = labels.into_iter().collect();
        if !group.is_empty() {
            self.names.insert(self.groups.len(), (name, value.into()));
            self.groups.push(group);
        }
    }

    /// Requires that nonprofits are in a circle; without one, nothing is required. `value` is that of the parameter.
    pub fn require_near(&mut self, value: impl Into<String>, near: Option<Near>) {
        if near.is_some() {
            self.near = near;
            self.names.push(("near", value.into()));
        }
    }

    /// Returns the circle in which nonprofits must be.
    pub fn near(&self) -> Option<Near> {
        self.near
    }

    /// Iterates over the names and values of the parameters.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.names.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// Returns the conditions in the order of [`names`](Self::names).
    pub fn conditions(&self) -> Vec<Condition> {
        let groups = self.groups.iter().cloned().map(Condition::AnyLabel);
        groups.chain(self.near.map(Condition::Near)).collect()
    }

    /// Returns a cache key made of everything that the hits depend on. A label contains no zero byte.
    fn cache_key(&self, view: &View, term: &str, take: usize) -> String {
        let mut key = String::with_capacity(term.len() + 32);
        let _ = write!(key, "{} {take}", view.number);
        for group in &self.groups {
            key.push('\0');
            for label in group {
                key.push_str(label);
                key.push(',');
            }
        }
        if let Some(near) = &self.near {
            // Labels do not begin with a space.
            let _ = write!(key, "\0 {} {}", near.center, near.radius_miles);
        }
        key.push_str("\0\0");
        key.push_str(term);
        key
    }

    fn list_key(&self, view: &View, term: &str, order: Order) -> String {
        format!("{} {}", order.name(), self.cache_key(view, term, MAX_LISTED))
    }

    /// Searches a view with this filter.
    pub fn find_hits(&self, view: &View, term: &str, take: usize) -> Arc<[HitRef]> {
        let groups = self.groups();
        let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
        view.find_hits(term, take, &groups, self.near.as_ref())
    }

    fn groups(&self) -> Vec<Vec<&str>> {
        let groups = self.groups.iter();
        groups
            .map(|group| group.iter().map(String::as_str).collect())
            .collect()
    }

    /// Finds everything in a view with this filter, as in [`SearchAnswers::list`].
    fn find_all(&self, view: &View, term: &str, order: Order) -> AllHits {
        let groups = self.groups();
        let groups: Vec<&[&str]> = groups.iter().map(Vec::as_slice).collect();
        let mut all = view.find_all(term, MAX_LISTED + 1, &groups, self.near.as_ref());
        if order != Order::Best {
            all.hits = self.sort(view, &all.hits, order);
        }
        all
    }

    /// Sorts the best matches; equals stay in their order.
    fn sort(&self, view: &View, hits: &[HitRef], order: Order) -> Arc<[HitRef]> {
        let hits = &hits[..hits.len().min(MAX_LISTED)];
        let mut sorted = hits.to_vec();
        match order {
            Order::Best => {}
            Order::Largest => sorted.sort_by_cached_key(|hit| {
                let nonprofit = view.nonprofit(hit.location);
                Reverse(nonprofit.and_then(|nonprofit| nonprofit.revenue()))
            }),
            Order::Name => sorted.sort_by_cached_key(|hit| {
                let nonprofit = view.nonprofit(hit.location);
                nonprofit.map(|nonprofit| fold(nonprofit.name, ' '))
            }),
            Order::Nearest => sorted.sort_by_cached_key(|hit| {
                let miles = self.near.and_then(|near| view.miles_from(&near, hit.location));
                // Miles are positive, and the bits of positive numbers have the order of the numbers.
                miles.map_or(u64::MAX, f64::to_bits)
            }),
        }
        sorted.into()
    }
}
