//! Links to the pages of causes.

use crate::web::numbers::thousands;
use directory::View;
use directory::nonprofits::causes::{Cause, Causes};

/// A link to a cause, with the number of its nonprofits.
#[derive(Debug)]
pub struct CauseLink {
    pub name: &'static str,
    pub title: &'static str,
    pub nonprofits: u64,
    pub count: String,
}

/// Returns the causes with the most nonprofits, largest first.
pub fn popular(view: &View, causes: &'static Causes, take: usize) -> Vec<CauseLink> {
    let mut links: Vec<CauseLink> = causes.list().iter().map(|cause| link(view, cause)).collect();
    links.sort_by(|a, b| b.nonprofits.cmp(&a.nonprofits).then(a.title.cmp(b.title)));
    links.truncate(take);
    links
}

/// Returns the link to a cause.
pub fn link(view: &View, cause: &'static Cause) -> CauseLink {
    let nonprofits = view.count_by_cause(&cause.name);
    CauseLink {
        name: &cause.name,
        title: &cause.title,
        nonprofits,
        count: thousands(nonprofits),
    }
}
