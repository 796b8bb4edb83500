//! Links to the pages of causes.

use crate::web::icons;
use crate::web::numbers::thousands;
use directory::View;
use directory::nonprofits::causes::{Cause, Causes};
use platform::text::fold;

/// A link to a cause, with the number of its nonprofits.
#[derive(Debug)]
pub struct CauseLink {
    pub name: &'static str,
    pub title: &'static str,
    /// The markup of its icon.
    pub icon: &'static str,
    pub nonprofits: u64,
    pub count: String,
}

/// Returns the causes that have nonprofits, sorted by title. The site offers no others.
pub fn offered(view: &View, causes: &'static Causes) -> Vec<&'static Cause> {
    let has_nonprofits = |cause: &&Cause| view.count_by_cause(&cause.name) > 0;
    let mut offered: Vec<_> = causes.list().iter().filter(has_nonprofits).collect();
    offered.sort_by_cached_key(|cause| fold(&cause.title, ' '));
    offered
}

/// Returns the causes with the most nonprofits, largest first.
pub fn popular(view: &View, causes: &'static Causes, take: usize) -> Vec<CauseLink> {
    let mut links: Vec<CauseLink> = offered(view, causes)
        .into_iter()
        .map(|cause| link(view, cause))
        .collect();
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
        icon: icons::svg(icons::of_cause(cause)),
        nonprofits,
        count: thousands(nonprofits),
    }
}
