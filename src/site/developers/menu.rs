//! The menu of the documentation, and the pages before and after each page.

use super::guides::{Group, Guide};
use super::reference::Operation;
use crate::web::texts::{DEVELOPERS_EN, Documentation};

const TEXTS: &Documentation = &DEVELOPERS_EN.documentation;

/// A page of the documentation in the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub path: String,
    pub title: String,
}

/// The menu: groups of pages.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    pub groups: Vec<(&'static str, Vec<Link>)>,
    /// All pages in reading order.
    pages: Vec<Link>,
}

impl Menu {
    pub(super) fn new(guides: &[Guide], operations: &[Operation]) -> Menu {
        let mut groups = Vec::new();
        for (group, title) in [
            (Group::Start, TEXTS.start),
            (Group::Guides, TEXTS.guides),
            (Group::Operation, TEXTS.operation),
        ] {
            let guides = guides.iter().filter(|guide| guide.group == group);
            let links = guides.map(|guide| Link {
                path: guide.path.clone(),
                title: match guide.slug {
                    "" => TEXTS.overview.to_owned(),
                    _ => guide.page.title.clone(),
                },
            });
            groups.push((title, links.collect::<Vec<_>>()));
        }
        let mut reference = vec![Link {
            path: "/developers/reference".to_owned(),
            title: TEXTS.all_operations.to_owned(),
        }];
        reference.extend(operations.iter().map(|operation| Link {
            path: operation.page(),
            title: operation.title.clone(),
        }));
        let pages = groups
            .iter()
            .flat_map(|(_, links)| links)
            .chain(&reference)
            .cloned()
            .collect();
        reference.push(Link {
            path: "/developers/embed".to_owned(),
            title: TEXTS.embed.to_owned(),
        });
        groups.push((TEXTS.reference, reference));
        Menu { groups, pages }
    }

    /// Returns the pages before and after the page at `path`.
    pub(super) fn around(&self, path: &str) -> (Option<&Link>, Option<&Link>) {
        let Some(at) = self.pages.iter().position(|link| link.path == path) else {
            return (None, None);
        };
        let before = at.checked_sub(1).and_then(|before| self.pages.get(before));
        (before, self.pages.get(at + 1))
    }
}
