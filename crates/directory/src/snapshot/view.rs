//! One state of the directory: a snapshot, with an overlay of what changed since it was built.

use crate::eligibility::checks::Holds;
use crate::eligibility::{Standings, Verdict};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::zip_codes::ZipNumber;
use crate::snapshot::Snapshot;
use crate::snapshot::counts::Counts;
use crate::snapshot::item::Item;
use crate::snapshot::overlay::Overlay;
use crate::snapshot::record;
use platform::db::Revision;
use std::sync::{Arc, OnceLock};

/// One state of the directory.
#[derive(Debug, Default)]
pub struct View {
    /// A number that is unique within this process. Positions are valid only within one view: a snapshot that is rebuilt
    /// for the same revision may have other positions.
    pub number: u64,
    /// The revision of the store that the view shows.
    pub revision: Revision,
    /// The entity tag of every response made from this view; `None` while lookups query the store.
    pub tag: Option<Arc<str>>,
    pub snapshot: Option<Arc<Snapshot>>,
    pub overlay: Overlay,
    /// Whether searches find kinds of nonprofits by meaning.
    pub(crate) by_meaning: bool,
    /// Computed when they are first needed.
    pub(crate) counts: OnceLock<Counts>,
    /// What the lists say about nonprofits.
    pub standings: Arc<Standings>,
    pub(crate) holds: Holds,
    /// When the view was made, in milliseconds since 1970.
    pub(crate) made_at: i64,
}

/// A reference to a nonprofit that keeps its record alive.
#[derive(Debug)]
pub enum NonprofitRef {
    Overlay(Arc<View>, Identifier),
    /// A position in the snapshot of a view.
    Snapshot(Arc<View>, u32),
    /// A record built from the store, and the standings of that moment.
    Store(Arc<View>, Vec<u8>),
}

/// The index of a nonprofit in the snapshot or in the overlay of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HitLocation {
    Snapshot(u32),
    Overlay(u32),
}

impl View {
    /// Returns whether the view is answered from a snapshot and shows this revision.
    pub fn shows(&self, revision: Revision) -> bool {
        self.snapshot.is_some() && self.revision == revision
    }

    /// Returns how many nonprofits there are in this state: the counts of the snapshot, corrected by the overlay. `None`
    /// without a snapshot.
    pub fn counts(&self) -> Option<Counts> {
        let snapshot = self.snapshot.as_ref()?;
        Some(*self.counts.get_or_init(|| {
            let replaced = self.overlay.replaced();
            let replaced = replaced.filter_map(|position| snapshot.nonprofit(position));
            let kept = replaced.fold(snapshot.counts(), |counts, nonprofit| {
                counts.minus(Counts::of(&nonprofit))
            });
            let shown = (0..).map_while(|position| self.overlay.nonprofit(position));
            shown.fold(kept, |counts, nonprofit| counts.plus(Counts::of(&nonprofit)))
        }))
    }

    /// Finds a nonprofit in this state.
    pub fn find(&self, identifier: &Identifier) -> Option<Nonprofit<'_>> {
        let found = self.overlay.find(identifier).or_else(|| {
            let snapshot = self.snapshot.as_ref()?;
            snapshot.nonprofit(snapshot.position(identifier)?)
        });
        found.map(|nonprofit| self.with_hold(nonprofit))
    }

    /// Marks a nonprofit that a list or an operator stops.
    #[inline]
    pub(crate) fn with_hold<'a>(&self, mut nonprofit: Nonprofit<'a>) -> Nonprofit<'a> {
        nonprofit.is_held = self.holds.holds(nonprofit.ein.map(Ein::value))
            || (!self.holds.is_by_ein() && self.standings.is_held(&self.holds, &nonprofit, self.made_at));
        nonprofit
    }

    /// Returns the verdict about a nonprofit of this view.
    pub fn verdict(&self, nonprofit: &Nonprofit<'_>, now: i64) -> Verdict {
        self.standings.verdict(nonprofit, now)
    }

    /// Returns the ZIP code of the nonprofit at a location, if it is known where that is.
    pub(crate) fn zip(&self, location: HitLocation) -> Option<ZipNumber> {
        match location {
            HitLocation::Snapshot(index) => self.snapshot.as_ref()?.zip(index),
            HitLocation::Overlay(index) => self.overlay.zip(index),
        }
    }

    /// Reads the nonprofit at a location.
    #[inline]
    pub fn nonprofit(&self, location: HitLocation) -> Option<Nonprofit<'_>> {
        let nonprofit = match location {
            HitLocation::Snapshot(index) => self.snapshot.as_ref()?.nonprofit(index),
            HitLocation::Overlay(index) => self.overlay.nonprofit(index),
        };
        nonprofit.map(|nonprofit| self.with_hold(nonprofit))
    }

    /// Reads the item of the nonprofit at a location.
    #[inline]
    pub fn item(&self, location: HitLocation) -> Option<Item<'_>> {
        let mut item = match location {
            HitLocation::Snapshot(index) => self.snapshot.as_ref()?.item(index)?,
            HitLocation::Overlay(index) => self.overlay.item(index)?,
        };
        if item.is_disbursable && self.holds.is_any() {
            let is_held = if self.holds.is_by_ein() {
                self.holds.holds(item.ein())
            } else {
                self.nonprofit(location)
                    .is_some_and(|nonprofit| nonprofit.is_held)
            };
            item.is_disbursable = !is_held;
        }
        Some(item)
    }

    /// Returns where the nonprofit that an identifier names is.
    pub fn locate(&self, identifier: &Identifier) -> Option<HitLocation> {
        if let Some(position) = self.overlay.position(identifier) {
            return Some(HitLocation::Overlay(position));
        }
        let position = self.snapshot.as_ref()?.position(identifier)?;
        (!self.overlay.replaces(position)).then_some(HitLocation::Snapshot(position))
    }
}

impl NonprofitRef {
    /// Reads the nonprofit.
    pub fn nonprofit(&self) -> Option<Nonprofit<'_>> {
        match self {
            NonprofitRef::Overlay(view, identifier) => view
                .overlay
                .find(identifier)
                .map(|nonprofit| view.with_hold(nonprofit)),
            NonprofitRef::Snapshot(view, position) => view.nonprofit(HitLocation::Snapshot(*position)),
            NonprofitRef::Store(view, bytes) => {
                record::read(bytes).map(|nonprofit| view.with_hold(nonprofit))
            }
        }
    }

    /// Returns the view in which the nonprofit was found.
    pub fn view(&self) -> &View {
        match self {
            NonprofitRef::Overlay(view, _)
            | NonprofitRef::Snapshot(view, _)
            | NonprofitRef::Store(view, _) => view,
        }
    }

    /// Returns the entity tag of the view in which the nonprofit was found.
    pub fn tag(&self) -> Option<&Arc<str>> {
        match self {
            NonprofitRef::Overlay(view, _) | NonprofitRef::Snapshot(view, _) => view.tag.as_ref(),
            NonprofitRef::Store(..) => None,
        }
    }
}
