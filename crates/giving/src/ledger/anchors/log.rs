//! The anchors of the ledger of this store, in all places: writing, comparing, accepting a loss, and thinning.
//!
//! If a place cannot be reached, nothing else fails: the next attempt is a minute later, and the age shows how long entries
//! have been without an anchor.

use super::comparison::Loss;
use super::place::Place;
use super::thinning::list_removable;
use super::{Anchor, hash_prefix, store};
use crate::ledger::checkpoints;
use crate::ledger::entry::Hash;
use crate::ledger::store as ledger;
use access::audit::{Action, Actor, store as audit};
use anyhow::{anyhow, bail};
use platform::clock::Clock;
use platform::db::Db;
use platform::secret::StoreSecret;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// The interval between two anchors.
pub const ANCHOR_INTERVAL: Duration = Duration::from_mins(1);
/// How long other servers write no anchor after one has claimed to. Less than the interval, which is not exact.
const CLAIM_MILLIS: i64 = 50_000;

/// The anchors of a ledger. Cheap to clone.
#[derive(Clone, Debug)]
pub struct AnchorLog(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    db: Db,
    clock: Clock,
    secret: StoreSecret,
    store: Uuid,
    places: Vec<Place>,
    /// The anchor with the most entries that this server knows.
    longest: Mutex<Option<Anchor>>,
    /// Whether the anchors in all places were compared with the ledger.
    is_compared: AtomicBool,
    /// Whether a place lacks the last anchor, because the settings have changed since it was written.
    is_behind: AtomicBool,
    /// When every entry of the ledger was last known to have an anchor.
    covered_at: AtomicI64,
    missing: AtomicI64,
}

/// The state of the anchors, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorStatus {
    /// How long ago every entry of the ledger had an anchor. At most about a minute while all places can be written.
    pub age: Duration,
    /// The number of entries that the longest known anchor names and the ledger does not contain; 0 if all is well.
    pub missing: i64,
}

impl AnchorLog {
    pub fn new(db: Db, clock: Clock, secret: StoreSecret, store: Uuid, places: Vec<Place>) -> AnchorLog {
        let covered_at = AtomicI64::new(clock.millis());
        AnchorLog(Arc::new(Parts {
            db,
            clock,
            secret,
            store,
            places,
            longest: Mutex::default(),
            is_compared: AtomicBool::new(false),
            is_behind: AtomicBool::new(false),
            covered_at,
            missing: AtomicI64::new(0),
        }))
    }

    /// Returns the age of the last anchor and the number of missing entries, as of the last update.
    pub fn status(&self) -> AnchorStatus {
        let age = self.0.clock.millis() - self.0.covered_at.load(Ordering::Relaxed);
        AnchorStatus {
            age: Duration::from_millis(age.max(0).unsigned_abs()),
            missing: self.0.missing.load(Ordering::Relaxed),
        }
    }

    /// Compares the ledger with the longest known anchor, and writes a new one if the ledger grew. A server calls this
    /// once per [`ANCHOR_INTERVAL`]; if several do, one of them writes.
    pub async fn update(&self) -> anyhow::Result<()> {
        let compared = self.compare().await;
        let written = self.write(false).await;
        compared.and(written)
    }

    /// Writes an anchor if the ledger has grown since the last one, even if another server wrote one within the minute. A
    /// server calls this when it stops.
    pub async fn write_last(&self) -> anyhow::Result<()> {
        self.write(true).await
    }

    async fn write(&self, is_last: bool) -> anyhow::Result<()> {
        let Parts { db, clock, .. } = &*self.0;
        let (ends, now) = (store::find_ends(db).await?, clock.millis());
        let is_anchored = (ends.entries, &ends.hash) == (ends.written_entries, &ends.written_hash);
        let hash: Hash = ends
            .hash
            .try_into()
            .map_err(|_| anyhow!("the head of the ledger is damaged; run causeway check"))?;
        let mut anchor = Anchor {
            store: self.0.store,
            entries: ends.entries,
            hash,
            at: ends.written_at,
        };
        let is_behind = self.0.is_behind.load(Ordering::Relaxed);
        if ends.entries == 0 || (is_anchored && !is_behind) {
            if ends.entries > 0 {
                self.remember(&anchor);
            }
            self.0.covered_at.store(now, Ordering::Relaxed);
            return Ok(());
        }
        if !is_last && !store::claim(db, now, now - CLAIM_MILLIS).await? {
            // Another server writes it, or has just written it.
            self.0.covered_at.fetch_max(ends.written_at, Ordering::Relaxed);
            return Ok(());
        }
        anchor.at = now;
        let mut outcome = Ok(());
        for place in &self.0.places {
            match place.write(&anchor).await {
                Ok(()) => self.remember(&anchor),
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome?;
        store::mark_written(db, &anchor).await?;
        self.0.is_behind.store(false, Ordering::Relaxed);
        self.0.covered_at.store(now, Ordering::Relaxed);
        Ok(())
    }

    fn longest(&self) -> Option<Anchor> {
        let longest = self.0.longest.lock().unwrap_or_else(PoisonError::into_inner);
        longest.clone()
    }

    /// Remembers an anchor if it is the longest.
    fn remember(&self, anchor: &Anchor) {
        let mut longest = self.0.longest.lock().unwrap_or_else(PoisonError::into_inner);
        if longest
            .as_ref()
            .is_none_or(|longest| longest.entries < anchor.entries)
        {
            *longest = Some(anchor.clone());
        }
    }

    /// Compares the ledger with its anchors, and logs an error when entries are missing. Reads all anchors the first time,
    /// and while entries are missing, because an operator may have accepted the loss. Otherwise the longest known anchor is
    /// enough.
    async fn compare(&self) -> anyhow::Result<()> {
        let before = self.0.missing.load(Ordering::Relaxed);
        let (loss, outcome) = if before > 0 || !self.0.is_compared.load(Ordering::Relaxed) {
            self.compare_all().await?
        } else {
            let longest = self.longest().into_iter().collect();
            match self.find_loss(longest).await? {
                None => (None, Ok(())),
                // All anchors together tell which entries are missing.
                Some(_) => self.compare_all().await?,
            }
        };
        let missing = loss.as_ref().map_or(0, Loss::count);
        self.0.missing.store(missing, Ordering::Relaxed);
        match loss {
            Some(loss) if before == 0 => tracing::error!(
                missing,
                "{loss}; run causeway check, and restore the database from a newer copy"
            ),
            None if before > 0 => tracing::info!("the ledger contains the entries of its anchors"),
            _ => {}
        }
        outcome
    }

    /// Compares the ledger with the anchors in all places that can be read, and returns the error of the others.
    async fn compare_all(&self) -> sqlx::Result<(Option<Loss>, anyhow::Result<()>)> {
        let Parts {
            db, secret, store, ..
        } = &*self.0;
        // Read this first: an anchor is written before it is marked as written.
        let written = store::find_ends(db).await?.written_entries;
        let accepted = store::list_accepted(db, secret, *store).await?;
        let (mut anchors, anchored, outcome) = self.read_places().await;
        anchors.retain(|anchor| !accepted.contains(&(anchor.entries, anchor.hash)));
        let longest = anchors.iter().max_by_key(|anchor| anchor.entries).cloned();
        if outcome.is_ok() || longest.is_some() {
            self.0.is_behind.store(anchored < written, Ordering::Relaxed);
            self.0.is_compared.store(true, Ordering::Relaxed);
            *self.0.longest.lock().unwrap_or_else(PoisonError::into_inner) = longest;
        }
        Ok((self.find_loss(anchors).await?, outcome))
    }

    /// Reads the anchors in all places. Returns those that could be read, up to which entry each of these places has
    /// anchors, and the first error.
    async fn read_places(&self) -> (Vec<Anchor>, i64, anyhow::Result<()>) {
        let (mut anchors, mut anchored, mut outcome) = (Vec::new(), i64::MAX, Ok(()));
        for place in &self.0.places {
            match place.list(self.0.store).await {
                Ok(found) => {
                    let last = found.iter().map(|anchor| anchor.entries).max();
                    anchored = anchored.min(last.unwrap_or_default());
                    anchors.extend(found);
                }
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        anchors.sort_unstable_by_key(|anchor| (anchor.entries, anchor.hash, anchor.at));
        anchors.dedup_by_key(|anchor| (anchor.entries, anchor.hash));
        (anchors, anchored, outcome)
    }

    /// Lists all anchors in all places. Call this before the ledger is read, so that none is newer than the ledger.
    pub async fn list(&self) -> anyhow::Result<Vec<Anchor>> {
        let (anchors, _, outcome) = self.read_places().await;
        outcome.map(|()| anchors)
    }

    /// Compares anchors with the ledger. Those that an operator has accepted as lost are left out.
    pub async fn find_loss(&self, anchors: Vec<Anchor>) -> sqlx::Result<Option<Loss>> {
        let Parts {
            db, secret, store, ..
        } = &*self.0;
        let accepted = store::list_accepted(db, secret, *store).await?;
        let mut compared = Vec::with_capacity(anchors.len());
        for anchor in anchors {
            if !accepted.contains(&(anchor.entries, anchor.hash)) {
                let hash = store::find_hash(db, anchor.entries).await?;
                compared.push((anchor, hash));
            }
        }
        let last = ledger::find_last(db).await?;
        let entries = last.map_or(0, |(sequence, _)| sequence);
        Ok(Loss::find(compared, entries, last.map(|(_, at)| at)))
    }

    /// Accepts that the entries which are missing now are lost for good. The audit log records which ones.
    pub async fn accept_loss(&self, actor: Actor) -> anyhow::Result<Loss> {
        let Parts {
            db, clock, secret, ..
        } = &*self.0;
        let Some(loss) = self.find_loss(self.list().await?).await? else {
            bail!("the ledger contains every anchor; there is no loss to accept");
        };
        let now = clock.millis();
        let mut tx = db.write().await?;
        for anchor in &loss.anchors {
            store::accept(&mut tx, secret, anchor, now).await?;
        }
        // The checkpoint may cover entries that are lost.
        checkpoints::store::remove(&mut tx).await?;
        let (first, last) = loss.range();
        let action = Action::new(
            actor,
            "anchor accept-loss",
            "ledger",
            format!("entries {first} to {last}"),
        );
        audit::record(&mut tx, &action, now).await?;
        tx.commit().await?;
        self.write(true).await?;
        Ok(loss)
    }

    /// Removes old anchors, and returns how many. Anchors that the ledger does not contain are evidence and stay.
    pub async fn thin(&self) -> anyhow::Result<usize> {
        let Parts { db, clock, store, .. } = &*self.0;
        let mut removed = 0;
        for place in &self.0.places {
            let names = place.list_names(*store).await?;
            for name in list_removable(&names, clock.millis()) {
                let hash = store::find_hash(db, name.entries).await?;
                if hash.is_some_and(|hash| hash_prefix(&hash) == name.hash_prefix) {
                    place.remove(*store, name).await?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}
