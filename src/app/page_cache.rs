//! Rendered pages that show the directory, fundraisers and what is true now.
//!
//! A page is rendered again when the directory or a fundraiser changed, and after some time, because fundraisers begin and
//! end. So many readers of a list cost as much as one.

use crate::app::compressible_text::CompressibleText;
use directory::Directory;
use giving::fundraisers::cache::FundraiserCache;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How old a page may be.
const MAX_AGE: Duration = Duration::from_secs(5);

/// What a page was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageState {
    /// The tag of the directory.
    pub directory: Arc<str>,
    /// The version of all fundraisers.
    pub fundraisers: u64,
}

impl PageState {
    /// Reads the state before a page is rendered: if something changes meanwhile, the page belongs to the old state and is
    /// not shown again. Returns `None` while lookups query the store.
    pub async fn read(directory: &Directory, fundraisers: &FundraiserCache) -> Option<PageState> {
        Some(PageState {
            directory: directory.view().tag.clone()?,
            fundraisers: fundraisers.version().await,
        })
    }
}

/// The pages by a key of which there are few.
#[derive(Debug)]
pub struct PageCache<K>(Mutex<HashMap<K, CachedPage>>);

#[derive(Debug)]
struct CachedPage {
    rendered_at: Instant,
    state: PageState,
    html: CompressibleText,
}

impl<K> Default for PageCache<K> {
    fn default() -> PageCache<K> {
        PageCache(Mutex::new(HashMap::new()))
    }
}

impl<K: Hash + Eq> PageCache<K> {
    /// Returns the page, unless it is too old or something changed. If it is too old, the caller that gets `None` renders
    /// it, and others get the old page meanwhile.
    pub fn get(&self, key: &K, state: &PageState, now: Instant) -> Option<CompressibleText> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let page = pages.get_mut(key).filter(|page| page.state == *state)?;
        if now.saturating_duration_since(page.rendered_at) > MAX_AGE {
            page.rendered_at = now;
            return None;
        }
        Some(page.html.clone())
    }

    /// Stores a page that was rendered now, from a state that was read before.
    pub fn set(&self, key: K, state: PageState, now: Instant, html: CompressibleText) {
        let page = CachedPage {
            rendered_at: now,
            state,
            html,
        };
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.insert(key, page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use platform::clock::Clock;

    fn state(fundraisers: u64) -> PageState {
        PageState {
            directory: "tag".into(),
            fundraisers,
        }
    }

    #[test]
    fn an_old_page_is_rendered_again_by_one_caller_only() {
        let (cache, start) = (PageCache::default(), Clock::default().instant());
        let get = |key, now| {
            let page = cache.get(&key, &state(0), now);
            page.map(|html| String::from_utf8_lossy(html.plain()).into_owned())
        };
        assert_eq!(get(1, start), None);
        cache.set(1, state(0), start, CompressibleText::new("first"));
        assert_eq!(get(2, start), None);
        assert_eq!(get(1, start + MAX_AGE).as_deref(), Some("first"));
        let later = start + MAX_AGE + Duration::from_secs(1);
        assert_eq!(get(1, later), None);
        assert_eq!(get(1, later).as_deref(), Some("first"));
        cache.set(1, state(0), later, CompressibleText::new("second"));
        assert_eq!(get(1, later).as_deref(), Some("second"));
    }

    #[test]
    fn a_page_from_before_a_change_is_never_shown() {
        let (cache, now) = (PageCache::default(), Clock::default().instant());
        cache.set((), state(0), now, CompressibleText::new("before"));
        assert!(cache.get(&(), &state(1), now).is_none());
    }
}
