//! One state of the directory: a snapshot with the overlay of what changed since it was built.

use crate::nonprofits::Nonprofit;
use crate::nonprofits::identifier::Identifier;
use crate::overlay::Overlay;
use crate::record;
use crate::snapshot::Snapshot;
use std::sync::Arc;

/// One state of the directory.
#[derive(Debug, Default)]
pub struct View {
    /// Different for each view of this process: a place is valid only within its view, and a snapshot that is rebuilt for
    /// the same state has other places.
    pub number: u64,
    /// The revision of the store that it shows.
    pub revision: i64,
    /// The entity tag of every response made from it; none while responses come from the store.
    pub tag: Option<Arc<str>>,
    pub snapshot: Option<Arc<Snapshot>>,
    pub overlay: Overlay,
}

/// A nonprofit that was found, wherever its record is.
#[derive(Debug)]
pub enum NonprofitRef {
    Overlay(Arc<View>, Identifier),
    Snapshot(Arc<View>, u32),
    Store(Vec<u8>),
}

impl View {
    /// Finds a nonprofit in this state.
    pub fn find(&self, identifier: &Identifier) -> Option<Nonprofit<'_>> {
        self.overlay.find(identifier).or_else(|| {
            let snapshot = self.snapshot.as_ref()?;
            snapshot.nonprofit(snapshot.place(identifier)?)
        })
    }
}

impl NonprofitRef {
    /// The nonprofit itself.
    pub fn nonprofit(&self) -> Option<Nonprofit<'_>> {
        match self {
            NonprofitRef::Overlay(view, identifier) => view.overlay.find(identifier),
            NonprofitRef::Snapshot(view, place) => view.snapshot.as_ref()?.nonprofit(*place),
            NonprofitRef::Store(bytes) => record::read(bytes),
        }
    }

    /// The entity tag of the state in which it was found.
    pub fn tag(&self) -> Option<&str> {
        match self {
            NonprofitRef::Overlay(view, _) | NonprofitRef::Snapshot(view, _) => view.tag.as_deref(),
            NonprofitRef::Store(_) => None,
        }
    }
}
