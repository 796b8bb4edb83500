//! What changed since the snapshot was built: a few records in memory that stand before those of the snapshot.

use super::record;
use super::snapshot::Snapshot;
use crate::ids::NonprofitId;
use crate::nonprofits::Nonprofit;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::store::{Profile, StoredNonprofit};
use std::collections::HashMap;
use uuid::Uuid;

/// Changed and new nonprofits.
#[derive(Debug, Default)]
pub struct Overlay {
    records: Vec<Box<[u8]>>,
    by_id: HashMap<Uuid, usize>,
    by_ein: HashMap<u32, usize>,
    by_slug: HashMap<Box<str>, usize>,
}

impl Overlay {
    /// Takes in rows as they are stored now, and all slugs that renamed bodies gave up.
    pub fn new(
        rows: &[StoredNonprofit],
        profiles: &HashMap<Uuid, Profile>,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
    ) -> Overlay {
        let mut overlay = Overlay::default();
        for (place, stored) in rows.iter().enumerate() {
            let bytes = assemble(stored, profiles.get(&stored.id), causes, |nonprofit| {
                let mut bytes = Vec::new();
                record::write(nonprofit, &mut bytes);
                bytes
            });
            overlay.records.push(bytes.into_boxed_slice());
            overlay.by_id.insert(stored.id, place);
            overlay.by_slug.insert(stored.slug.as_str().into(), place);
            if let Some(ein) = stored.ein() {
                overlay.by_ein.insert(ein.value(), place);
            }
        }
        for (slug, id) in former_slugs {
            if let Some(place) = overlay.by_id.get(id) {
                overlay.by_slug.entry(slug.as_str().into()).or_insert(*place);
            }
        }
        overlay
    }

    /// The nonprofit that an identifier names, where it is one that changed.
    pub fn find(&self, identifier: &Identifier) -> Option<Nonprofit<'_>> {
        let place = match identifier {
            Identifier::Id(id) => self.by_id.get(&id.0),
            Identifier::Ein(ein) => self.by_ein.get(&ein.value()),
            Identifier::Slug(slug) => self.by_slug.get(slug.as_str()),
        }?;
        record::read(&self.records[*place])
    }

    /// How many of its nonprofits the snapshot does not have.
    pub fn new_bodies(&self, snapshot: &Snapshot) -> usize {
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
