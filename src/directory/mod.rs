//! The directory that requests read: a snapshot, with a small overlay for what changed since.
//!
//! The store is the truth. A [`View`] is swapped as one, so a reader sees one state or the next and never a mix.
//! Without a usable snapshot the answers come from the store until a new one is built.

pub mod browse;
pub mod build;
pub mod check;
pub mod explain;
pub mod file;
pub mod generate;
pub mod import;
pub mod keeper;
pub mod nonprofits;
pub mod overlay;
pub mod record;
pub mod search;
pub mod snapshot;
pub mod table;

use crate::config::Config;
use crate::directory::nonprofits::Nonprofit;
use crate::directory::nonprofits::causes::Causes;
use crate::directory::nonprofits::identifier::Identifier;
use crate::directory::nonprofits::store;
use crate::platform::db::{Db, Topic};
use arc_swap::ArcSwap;
use axum::http::HeaderValue;
use overlay::Overlay;
use snapshot::Snapshot;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use uuid::Uuid;

/// One state of the directory.
#[derive(Debug, Default)]
pub struct View {
    /// Another one for each view of this process: a place means something only within its view, and a snapshot that is built
    /// anew for the same state has other places.
    pub number: u64,
    /// The state of the store that it shows.
    pub revision: i64,
    /// The entity tag of every answer made from it; none while answers come from the store.
    pub tag: Option<HeaderValue>,
    pub snapshot: Option<Arc<Snapshot>>,
    pub overlay: Overlay,
}

/// The directory of a running server.
#[derive(Debug)]
pub struct Directory {
    db: Db,
    store: Uuid,
    folder: PathBuf,
    causes: &'static Causes,
    /// What answers depend on beyond the store: the rules, and the address of this server.
    surroundings: u32,
    view: ArcSwap<View>,
}

/// A nonprofit that was found, wherever it is kept.
#[derive(Debug)]
pub enum Found {
    Overlay(Arc<View>, Identifier),
    Snapshot(Arc<View>, u32),
    Store(Vec<u8>),
}

impl Directory {
    /// The directory over a store, with nothing opened yet; see [`keeper`].
    pub fn new(db: Db, store: Uuid, config: &Config, causes: &'static Causes) -> Directory {
        let mut surroundings = crc32fast::Hasher::new_with_initial(rules());
        surroundings.update(store.as_bytes());
        surroundings.update(config.public_url.as_bytes());
        Directory {
            db,
            store,
            folder: config.data.join("directory"),
            causes,
            surroundings: surroundings.finalize(),
            view: ArcSwap::default(),
        }
    }

    /// Can it answer: from a snapshot, or else from the store?
    pub async fn is_ready(&self) -> bool {
        self.view.load().snapshot.is_some() || self.db.revision(Topic::Directory).await.is_ok()
    }

    /// The current state.
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// The causes of this server.
    pub fn causes(&self) -> &'static Causes {
        self.causes
    }

    /// Finds a nonprofit; only without a snapshot does this ask the store.
    pub async fn find(&self, identifier: &Identifier) -> sqlx::Result<Option<Found>> {
        let view = self.view.load_full();
        if view.overlay.find(identifier).is_some() {
            return Ok(Some(Found::Overlay(view, identifier.clone())));
        }
        if let Some(snapshot) = &view.snapshot {
            let place = snapshot.place(identifier);
            return Ok(place.map(|place| Found::Snapshot(view, place)));
        }
        let found = store::find(&self.db, identifier, self.causes, record::to_vec).await?;
        Ok(found.map(Found::Store))
    }
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

impl Found {
    /// The nonprofit itself.
    pub fn nonprofit(&self) -> Option<Nonprofit<'_>> {
        match self {
            Found::Overlay(view, identifier) => view.overlay.find(identifier),
            Found::Snapshot(view, place) => view.snapshot.as_ref()?.nonprofit(*place),
            Found::Store(bytes) => record::read(bytes),
        }
    }

    /// The entity tag of the state in which it was found.
    pub fn tag(&self) -> Option<&HeaderValue> {
        match self {
            Found::Overlay(view, _) | Found::Snapshot(view, _) => view.tag.as_ref(),
            Found::Store(_) => None,
        }
    }
}

/// The name of a snapshot; names sort by revision.
pub fn file_name(revision: i64) -> String {
    format!("{revision:012}.snapshot")
}

/// Raised with every change to the code that turns rows into records, labels or shown text.
const WAYS: u32 = 2;

/// A number for everything that turns rows into records: another binary with other rules builds anew.
pub fn rules() -> u32 {
    static RULES: LazyLock<u32> = LazyLock::new(|| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(env!("CARGO_PKG_VERSION").as_bytes());
        hasher.update(&WAYS.to_le_bytes());
        for file in [
            include_str!("../../data/causes.csv"),
            include_str!("../../data/ntee-causes.csv"),
            include_str!("../../data/name-causes.csv"),
            include_str!("../../data/name-words.csv"),
            include_str!("../../data/city-words.csv"),
            include_str!("../../data/demo.jsonl"),
        ] {
            hasher.update(file.as_bytes());
        }
        hasher.finalize()
    });
    *RULES
}
