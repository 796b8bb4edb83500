//! Nonprofits that changed since the snapshot was built, held in memory. They replace those of the snapshot.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::rows::{NonprofitRow, Profile};
use crate::nonprofits::zip_codes::{ZipNumber, zip_of};
use crate::snapshot::Snapshot;
use crate::snapshot::documents::{self, cause_label};
use crate::snapshot::edits::Edits;
use crate::snapshot::item::{self, Item};
use crate::snapshot::record;
use ::search::{BuildError, Index};
use platform::ids::NonprofitId;
use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Changed and new nonprofits.
#[derive(Debug, Default)]
pub struct Overlay {
    /// Most prominent first; nonprofits that are no longer in the IRS files last.
    records: Vec<Box<[u8]>>,
    /// The item of each record.
    items: Vec<Box<[u8]>>,
    /// Covers the nonprofits that are still in the IRS files. Document numbers are positions in `records`.
    index: Option<Index<Vec<u8>>>,
    /// The ZIP code of each record.
    zips: Vec<Option<ZipNumber>>,
    /// The positions in the snapshot that the overlay replaces.
    replaced: HashSet<u32>,
    /// By the name of the cause.
    edits: HashMap<String, Edits>,
    by_id: HashMap<Uuid, u32>,
    by_ein: HashMap<u32, u32>,
    by_slug: HashMap<Box<str>, u32>,
}

impl Overlay {
    /// Creates an overlay of changed rows, with their former slugs.
    pub fn new(
        rows: &[NonprofitRow],
        profiles: &HashMap<Uuid, Profile>,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
        snapshot: &Snapshot,
    ) -> Result<Overlay, BuildError> {
        let mut overlay = Overlay::default();
        let mut records: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| assemble(row, profiles.get(&row.stored.id), causes, record::to_vec))
            .collect();
        records.sort_by(|a, b| match (record::read(a), record::read(b)) {
            (Some(a), Some(b)) => compare(&a, &b),
            _ => Ordering::Equal,
        });
        overlay.records = records.into_iter().map(Vec::into_boxed_slice).collect();
        for bytes in &overlay.records {
            let item = record::read(bytes).map(|nonprofit| item::to_vec(&nonprofit, causes));
            overlay.items.push(item.unwrap_or_default().into_boxed_slice());
        }
        let mut builder = documents::index_builder();
        for (position, bytes) in (0..).zip(&overlay.records) {
            let Some(nonprofit) = record::read(bytes) else {
                overlay.zips.push(None);
                continue;
            };
            overlay.zips.push(zip_of(&nonprofit));
            overlay.by_id.insert(nonprofit.id.0, position);
            overlay.by_slug.insert(nonprofit.slug.into(), position);
            if let Some(ein) = nonprofit.ein {
                overlay.by_ein.insert(ein.value(), position);
            }
            if nonprofit.gone_at.is_none() {
                documents::add(&mut builder, &nonprofit, causes)?;
            }
            overlay
                .replaced
                .extend(snapshot.position(&Identifier::Id(nonprofit.id)));
        }
        for (slug, id) in former_slugs {
            if let Some(position) = overlay.by_id.get(id) {
                overlay.by_slug.entry(slug.as_str().into()).or_insert(*position);
            }
        }
        if !overlay.is_empty() {
            overlay.index = Index::open_trusted(builder.finish()?).ok();
            overlay.edits = overlay.find_edits(snapshot, causes);
        }
        Ok(overlay)
    }

    /// Returns how the list of each cause changes.
    fn find_edits(&self, snapshot: &Snapshot, causes: &Causes) -> HashMap<String, Edits> {
        let mut edits: HashMap<String, Edits> = HashMap::new();
        let mut replaced: Vec<u32> = self.replaced.iter().copied().collect();
        replaced.sort_unstable();
        for position in replaced {
            let Some(replaced) = snapshot
                .nonprofit(position)
                .filter(|replaced| replaced.gone_at.is_none())
            else {
                continue;
            };
            for cause in causes.of_set(replaced.causes) {
                let index = rank_in_cause(snapshot, &cause.name, |other| other.cmp(&position));
                edits.entry(cause.name.clone()).or_default().removed.push(index);
            }
        }
        for (position, bytes) in (0..).zip(&self.records) {
            let Some(nonprofit) = record::read(bytes).filter(|nonprofit| nonprofit.gone_at.is_none()) else {
                continue;
            };
            for cause in causes.of_set(nonprofit.causes) {
                let index = rank_in_cause(snapshot, &cause.name, |other| {
                    snapshot
                        .nonprofit(other)
                        .map_or(Ordering::Less, |other| compare(&other, &nonprofit))
                });
                edits
                    .entry(cause.name.clone())
                    .or_default()
                    .added
                    .push((index, position));
            }
        }
        edits
    }

    /// Returns how the list of a cause changes.
    pub(crate) fn edits(&self, cause: &str) -> &Edits {
        static NONE: Edits = Edits {
            removed: Vec::new(),
            added: Vec::new(),
        };
        self.edits.get(cause).unwrap_or(&NONE)
    }

    /// Returns whether the overlay replaces the nonprofit at this position of the snapshot.
    pub fn replaces(&self, position: u32) -> bool {
        self.replaced.contains(&position)
    }

    /// Iterates over the positions of the snapshot that the overlay replaces.
    pub fn replaced(&self) -> impl Iterator<Item = u32> {
        self.replaced.iter().copied()
    }

    /// Returns the search index of the overlay.
    pub fn index(&self) -> Option<&Index<Vec<u8>>> {
        self.index.as_ref()
    }

    /// Reads the nonprofit at a position of the overlay.
    pub fn nonprofit(&self, position: u32) -> Option<Nonprofit<'_>> {
        record::read(self.records.get(position as usize)?)
    }

    /// Returns the ZIP code of the nonprofit at a position of the overlay, if it is known where that is.
    pub fn zip(&self, position: u32) -> Option<ZipNumber> {
        self.zips.get(position as usize).copied().flatten()
    }

    /// Reads the item of the nonprofit at a position of the overlay.
    pub fn item(&self, position: u32) -> Option<Item<'_>> {
        Item::read(self.items.get(position as usize)?)
    }

    /// Finds a nonprofit, if it is in the overlay.
    pub fn find(&self, identifier: &Identifier) -> Option<Nonprofit<'_>> {
        self.nonprofit(self.position(identifier)?)
    }

    /// Returns the position of the nonprofit that an identifier names.
    pub fn position(&self, identifier: &Identifier) -> Option<u32> {
        let position = match identifier {
            Identifier::Id(id) => self.by_id.get(&id.0),
            Identifier::Ein(ein) => self.by_ein.get(&ein.value()),
            Identifier::Slug(slug) => self.by_slug.get(slug.as_str()),
        };
        position.copied()
    }

    /// Returns the number of nonprofits that are not in the snapshot.
    pub(crate) fn count_new(&self, snapshot: &Snapshot) -> usize {
        let is_new = |id: &&Uuid| snapshot.position(&Identifier::Id(NonprofitId(**id))).is_none();
        self.by_id.keys().filter(is_new).count()
    }

    /// Returns the number of nonprofits in the overlay.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether nothing changed since the snapshot was built.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// Compares by list order: nonprofits that are still in the IRS files first, then by prominence, name and ID.
pub(crate) fn compare(a: &Nonprofit<'_>, b: &Nonprofit<'_>) -> Ordering {
    let key = |n: &Nonprofit<'_>| (n.gone_at.is_some(), Reverse(n.prominence));
    key(a)
        .cmp(&key(b))
        .then_with(|| a.name.cmp(b.name))
        .then_with(|| a.id.cmp(&b.id))
}

/// Returns how many nonprofits of a cause come before one, given how each of them compares with it.
fn rank_in_cause(snapshot: &Snapshot, cause: &str, compare: impl Fn(u32) -> Ordering) -> usize {
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
