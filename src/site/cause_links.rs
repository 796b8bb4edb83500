//! Links to the pages of causes.

use crate::web::icons;
use crate::web::numbers::thousands;
use directory::View;
use directory::nonprofits::causes::{Cause, Causes};

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

/// Iterates over the causes that have nonprofits, in the order of the list. The site offers no others.
pub fn offered<'v>(view: &'v View, causes: &'static Causes) -> impl Iterator<Item = &'static Cause> + 'v {
    let has_nonprofits = |cause: &&Cause| view.count_by_cause(&cause.name) > 0;
    causes.list().iter().filter(has_nonprofits)
}

/// Returns the causes with the most nonprofits, largest first.
pub fn popular(view: &View, causes: &'static Causes, take: usize) -> Vec<CauseLink> {
    let mut links: Vec<CauseLink> = offered(view, causes).map(|cause| link(view, cause)).collect();
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
