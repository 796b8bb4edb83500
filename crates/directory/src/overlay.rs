//! What changed since the snapshot was built: a few records in memory that stand before those of the snapshot.

use super::record;
use super::snapshot::Snapshot;
use crate::documents::{self, cause_label};
use crate::edits::Edits;
use crate::nonprofits::Nonprofit;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::rows::{Profile, StoredNonprofit};
use ::search::{BuildError, Index, IndexBuilder};
use platform::ids::NonprofitId;
use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Changed and new nonprofits.
#[derive(Debug, Default)]
pub struct Overlay {
    /// Most prominent first, bodies that left the files last.
    records: Vec<Box<[u8]>>,
    /// Over those that are still in the files; its document numbers are places in `records`.
    index: Option<Index<Vec<u8>>>,
    /// The places in the snapshot whose nonprofits stand here now.
    replaced: HashSet<u32>,
    edits: HashMap<String, Edits>,
    by_id: HashMap<Uuid, u32>,
    by_ein: HashMap<u32, u32>,
    by_slug: HashMap<Box<str>, u32>,
}

impl Overlay {
    /// Takes in rows as they are stored now, and all slugs that renamed bodies gave up.
    pub fn new(
        rows: &[StoredNonprofit],
        profiles: &HashMap<Uuid, Profile>,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
        snapshot: &Snapshot,
    ) -> Result<Overlay, BuildError> {
        let mut overlay = Overlay::default();
        let mut records: Vec<Vec<u8>> = rows
            .iter()
            .map(|stored| assemble(stored, profiles.get(&stored.id), causes, record::to_vec))
            .collect();
        records.sort_by(|a, b| match (record::read(a), record::read(b)) {
            (Some(a), Some(b)) => order(&a, &b),
            _ => Ordering::Equal,
        });
        overlay.records = records.into_iter().map(Vec::into_boxed_slice).collect();
        let mut builder = IndexBuilder::new();
        for (place, bytes) in (0..).zip(&overlay.records) {
            let Some(nonprofit) = record::read(bytes) else {
                continue;
            };
            overlay.by_id.insert(nonprofit.id.0, place);
            overlay.by_slug.insert(nonprofit.slug.into(), place);
            if let Some(ein) = nonprofit.ein {
                overlay.by_ein.insert(ein.value(), place);
            }
            if nonprofit.gone_at.is_none() {
                documents::add(&mut builder, &nonprofit, causes)?;
            }
            overlay
                .replaced
                .extend(snapshot.place(&Identifier::Id(nonprofit.id)));
        }
        for (slug, id) in former_slugs {
            if let Some(place) = overlay.by_id.get(id) {
                overlay.by_slug.entry(slug.as_str().into()).or_insert(*place);
            }
        }
        if !overlay.is_empty() {
            overlay.index = Index::open_trusted(builder.finish()?).ok();
            overlay.edits = overlay.edits_of(snapshot, causes);
        }
        Ok(overlay)
    }

    /// How each list of causes changes.
    fn edits_of(&self, snapshot: &Snapshot, causes: &Causes) -> HashMap<String, Edits> {
        let mut edits: HashMap<String, Edits> = HashMap::new();
        let mut replaced: Vec<u32> = self.replaced.iter().copied().collect();
        replaced.sort_unstable();
        for place in replaced {
            let Some(former) = snapshot
                .nonprofit(place)
                .filter(|former| former.gone_at.is_none())
            else {
                continue;
            };
            for cause in causes.of_set(former.causes) {
                let at = position(snapshot, &cause.name, |other| other.cmp(&place));
                edits.entry(cause.name.clone()).or_default().removed.push(at);
            }
        }
        for (place, bytes) in (0..).zip(&self.records) {
            let Some(nonprofit) = record::read(bytes).filter(|nonprofit| nonprofit.gone_at.is_none()) else {
                continue;
            };
            for cause in causes.of_set(nonprofit.causes) {
                let at = position(snapshot, &cause.name, |other| {
                    snapshot
                        .nonprofit(other)
                        .map_or(Ordering::Less, |other| order(&other, &nonprofit))
                });
                edits
                    .entry(cause.name.clone())
                    .or_default()
                    .added
                    .push((at, place));
            }
        }
        edits
    }

    /// How the list of a cause changes.
    pub fn edits(&self, cause: &str) -> &Edits {
        static NONE: Edits = Edits {
            removed: Vec::new(),
            added: Vec::new(),
        };
        self.edits.get(cause).unwrap_or(&NONE)
    }

    /// Does the nonprofit at this place of the snapshot stand here now?
    pub fn replaces(&self, place: u32) -> bool {
        self.replaced.contains(&place)
    }

    /// The index over what it holds.
    pub fn index(&self) -> Option<&Index<Vec<u8>>> {
        self.index.as_ref()
    }

    /// The nonprofit at a place of its own.
    pub fn nonprofit(&self, place: u32) -> Option<Nonprofit<'_>> {
        record::read(self.records.get(place as usize)?)
    }

    /// The nonprofit that an identifier names, where it is one that changed.
    pub fn find(&self, identifier: &Identifier) -> Option<Nonprofit<'_>> {
        let place = match identifier {
            Identifier::Id(id) => self.by_id.get(&id.0),
            Identifier::Ein(ein) => self.by_ein.get(&ein.value()),
            Identifier::Slug(slug) => self.by_slug.get(slug.as_str()),
        }?;
        self.nonprofit(*place)
    }

    /// How many of its nonprofits the snapshot does not have.
    pub fn count_new(&self, snapshot: &Snapshot) -> usize {
        let is_new = |id: &&Uuid| snapshot.place(&Identifier::Id(NonprofitId(**id))).is_none();
        self.by_id.keys().filter(is_new).count()
    }

    /// How many it holds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Has nothing changed?
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// The order of lists: what is still in the files first, then prominence, name and id.
fn order(a: &Nonprofit<'_>, b: &Nonprofit<'_>) -> Ordering {
    let key = |n: &Nonprofit<'_>| (n.gone_at.is_some(), Reverse(n.prominence));
    key(a)
        .cmp(&key(b))
        .then_with(|| a.name.cmp(b.name))
        .then_with(|| a.id.cmp(&b.id))
}

/// How many nonprofits of a cause come before one, given how each of them compares with it.
fn position(snapshot: &Snapshot, cause: &str, compare: impl Fn(u32) -> Ordering) -> usize {
    let Some(list) = snapshot.index().documents_with_label(&cause_label(cause)) else {
        return 0;
    };
    let (mut low, mut high) = (0, list.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match list.page(middle, 1).next().map(&compare) {
            Some(Ordering::Less) => low = middle + 1,
            _ => high = middle,
        }
    }
    low
}
