//! The endpoints that calls are counted by.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// All names, which live as long as the process: a server has a few dozen routes.
static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

thread_local! {
    /// The names that this thread has used, so that no request waits for another one.
    static THREAD_NAMES: RefCell<HashSet<&'static str>> = RefCell::default();
}

/// An endpoint of the API, named by its route, such as `/v0.2/search/{searchTerm}`. Cheap to copy and compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint(&'static str);

impl Endpoint {
    /// Returns the endpoint of a route. Never call this with a path, of which there is no end.
    pub fn of_route(route: &str) -> Endpoint {
        THREAD_NAMES.with_borrow_mut(|known| {
            let name = known.get(route).copied().unwrap_or_else(|| {
                let name = intern(route);
                known.insert(name);
                name
            });
            Endpoint(name)
        })
    }

    pub const fn name(self) -> &'static str {
        self.0
    }
}

fn intern(route: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    names.get(route).copied().unwrap_or_else(|| {
        let name = Box::leak(Box::from(route));
        names.insert(name);
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_stored_once_for_all_threads() {
        let route = String::from("/v0.2/stored-once");
        let here = Endpoint::of_route(&route).name();
        let there = std::thread::spawn(move || Endpoint::of_route(&route).name());
        assert!(std::ptr::eq(here, there.join().unwrap()));
        assert_eq!(here, "/v0.2/stored-once");
    }
}
