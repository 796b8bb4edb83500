//! The entry point to the directory: looks up nonprofits in the current view.

use crate::eligibility::{self, EligibilitySettings, Standings};
use crate::nonprofits::Nonprofit;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::identifier::{Identifier, IdentifierError};
use crate::nonprofits::store;
use crate::snapshot::publish::Sharing;
use crate::snapshot::record;
use crate::snapshot::rules::rules;
use crate::snapshot::sitemaps::Sitemaps;
use crate::snapshot::view::{NonprofitRef, View};
use arc_swap::{ArcSwap, ArcSwapOption};
use platform::clock::Clock;
use platform::db::{Db, Tx};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::Mutex;
use uuid::Uuid;

/// The directory of a running server.
///
/// Requests read its current [`View`]; see [`refresh`](crate::snapshot::refresh) for how it stays up to date.
#[derive(Debug)]
pub struct Directory {
    pub(super) db: Db,
    /// The ID of the store, which is written into every snapshot.
    pub(super) store: Uuid,
    /// Where snapshots are stored.
    pub(super) folder: PathBuf,
    pub(super) causes: &'static Causes,
    /// Whether searches find kinds of nonprofits by meaning.
    pub(super) by_meaning: bool,
    /// What a nonprofit needs to receive donations.
    pub(super) eligibility: EligibilitySettings,
    pub(super) clock: Clock,
    /// Whether only nonprofits that consent receive donations.
    requires_consent: bool,
    /// How servers that share the store share snapshots. `None` for a store on one machine.
    pub(super) sharing: Option<Sharing>,
    /// A checksum of everything besides the revision of the store that responses depend on.
    pub(super) tag_seed: u32,
    pub(super) view: ArcSwap<View>,
    pub(super) sitemaps: ArcSwapOption<Sitemaps>,
    /// Snapshots that this process found to be damaged, and renamed.
    pub(super) damaged: std::sync::Mutex<Vec<PathBuf>>,
    /// Held while sitemaps are written.
    pub(super) sitemaps_lock: Mutex<()>,
}

/// The reason why a text does not name a nonprofit.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// The text is an EIN with a dash or a prefix. [`Directory::resolve_lenient`] accepts it.
    #[error("an EIN is nine digits: {0}")]
    FormattedEin(Ein),
    /// The text is not an identifier, or no nonprofit has it.
    #[error("there is no such nonprofit")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] sqlx::Error),
}

impl Directory {
    /// Creates the directory over a store, with no snapshot opened yet.
    ///
    /// `data` is the data folder. `tag_input` is anything else that responses depend on, such as the public URL; it
    /// becomes part of their entity tags.
    pub fn new(db: Db, store: Uuid, data: &Path, tag_input: &[u8], causes: &'static Causes) -> Directory {
        let mut tag_seed = crc32fast::Hasher::new_with_initial(rules());
        tag_seed.update(store.as_bytes());
        tag_seed.update(tag_input);
        Directory {
            db,
            store,
            folder: data.join("directory"),
            causes,
            by_meaning: true,
            eligibility: EligibilitySettings::default(),
            clock: Clock::default(),
            requires_consent: false,
            sharing: None,
            tag_seed: tag_seed.finalize(),
            view: ArcSwap::default(),
            sitemaps: ArcSwapOption::default(),
            damaged: std::sync::Mutex::default(),
            sitemaps_lock: Mutex::default(),
        }
    }

    /// Shares the work of building snapshots with other servers of the store.
    #[must_use]
    pub fn with_sharing(self, sharing: Sharing) -> Directory {
        Directory {
            sharing: Some(sharing),
            ..self
        }
    }

    /// Sets whether searches find kinds of nonprofits by meaning. They do by default.
    #[must_use]
    pub fn with_meaning(self, by_meaning: bool) -> Directory {
        Directory {
            by_meaning,
            // Other responses have other entity tags.
            tag_seed: self.tag_seed ^ u32::from(!by_meaning),
            ..self
        }
    }

    /// Sets what a nonprofit needs to receive donations, and the clock by which lists grow old.
    #[must_use]
    pub fn with_eligibility(self, eligibility: EligibilitySettings, clock: Clock) -> Directory {
        Directory {
            eligibility,
            clock,
            ..self
        }
    }

    /// Sets whether only nonprofits that consent receive donations. By default, all do.
    #[must_use]
    pub fn with_consent_required(self, requires_consent: bool) -> Directory {
        Directory {
            requires_consent,
            tag_seed: self.tag_seed ^ u32::from(requires_consent) << 1,
            ..self
        }
    }

    /// Returns what a nonprofit needs to receive donations.
    pub fn eligibility(&self) -> &EligibilitySettings {
        &self.eligibility
    }

    /// Loads what the lists say about nonprofits, unless the current view has it.
    pub(super) async fn load_standings(&self, tx: &mut Tx) -> sqlx::Result<Arc<Standings>> {
        let current = Arc::clone(&self.view.load().standings);
        eligibility::store::load(tx, self.eligibility, &current)
            .await
            .map(Arc::new)
    }

    /// Returns whether a nonprofit can receive donations through this site.
    pub fn may_receive(&self, nonprofit: &Nonprofit<'_>) -> bool {
        nonprofit.is_disbursable() && (nonprofit.has_consented || !self.requires_consent)
    }

    /// Returns whether a snapshot is open. Without one, searches find less, and lookups query the store.
    pub fn has_snapshot(&self) -> bool {
        self.view.load().snapshot.is_some()
    }

    /// Returns the current view.
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Returns the causes of this server.
    pub fn causes(&self) -> &'static Causes {
        self.causes
    }

    /// Finds a nonprofit. Queries the store only when there is no snapshot.
    pub async fn find(&self, identifier: &Identifier) -> sqlx::Result<Option<NonprofitRef>> {
        let view = self.view.load_full();
        if view.overlay.find(identifier).is_some() {
            return Ok(Some(NonprofitRef::Overlay(view, identifier.clone())));
        }
        if let Some(snapshot) = &view.snapshot {
            let position = snapshot.position(identifier);
            return Ok(position.map(|position| NonprofitRef::Snapshot(view, position)));
        }
        let Some(found) = store::find(&self.db, identifier, self.causes, record::to_vec).await? else {
            return Ok(None);
        };
        let standings = self.load_standings(&mut self.db.view().await?).await?;
        let made_at = self.clock.millis();
        let view = View {
            holds: standings.holds(made_at),
            standings,
            made_at,
            ..View::default()
        };
        Ok(Some(NonprofitRef::Store(Arc::new(view), found)))
    }

    /// Finds the nonprofit that a text names: by its ID, its EIN as nine digits, or its current or a former slug, with
    /// any letter case and surrounding whitespace.
    ///
    /// Callers that redirect to the canonical URL compare the text with the slug of the nonprofit.
    pub async fn resolve(&self, text: &str) -> Result<NonprofitRef, ResolveError> {
        let identifier = Identifier::parse(text).map_err(|error| match error {
            IdentifierError::FormattedEin(ein) => ResolveError::FormattedEin(ein),
            IdentifierError::Invalid => ResolveError::NotFound,
        })?;
        self.find(&identifier).await?.ok_or(ResolveError::NotFound)
    }

    /// Does the same as [`resolve`](Directory::resolve), and accepts an EIN with a dash or a prefix, as people write it.
    pub async fn resolve_lenient(&self, text: &str) -> Result<NonprofitRef, ResolveError> {
        match self.resolve(text).await {
            Err(ResolveError::FormattedEin(ein)) => {
                let found = self.find(&Identifier::Ein(ein)).await?;
                found.ok_or(ResolveError::NotFound)
            }
            resolved => resolved,
        }
    }
}
