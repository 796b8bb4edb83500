//! The anchors of the ledger of this store, in all places: writing, comparing, accepting a loss, and thinning.
//!
//! If a place cannot be reached, nothing else fails: the next attempt is a minute later, and the age shows how long entries
//! have been without an anchor.

use super::comparison::{Loss, LostPlace, PlaceProblem};
use super::place::{self, Place};
use super::signing::AnchorKeys;
use super::store::PlaceEnds;
use super::thinning::list_removable;
use super::{Anchor, AnchorName, hash_prefix, store};
use crate::ledger::checkpoints;
use crate::ledger::entry::Hash;
use crate::ledger::store as ledger;
use access::audit::{Action, Actor, store as audit};
use anyhow::{Context, anyhow, bail};
use platform::blobs::Blobs;
use platform::clock::Clock;
use platform::db::Db;
use platform::secret::StoreSecret;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// The interval between two anchors.
pub const ANCHOR_INTERVAL: Duration = Duration::from_mins(1);
/// How long other servers write no anchor after one has claimed to. Less than the interval, which is not exact.
const CLAIM_MILLIS: i64 = 50_000;
/// Stands for a place that cannot be read.
const UNREADABLE: &str = "unreadable";

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
    keys: AnchorKeys,
    /// The places that cannot be read, or should have anchors and do not, by their names in the database.
    failing: Mutex<BTreeSet<String>>,
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
    /// The number of places that cannot be read, or should have anchors and do not.
    pub failing_places: usize,
}

/// What an operator has accepted.
#[derive(Debug)]
pub struct Accepted {
    /// The entries that are lost.
    pub loss: Option<Loss>,
    /// The places whose anchors are lost.
    pub places: Vec<LostPlace>,
}

impl AnchorLog {
    pub fn new(
        db: Db,
        clock: Clock,
        secret: StoreSecret,
        store: Uuid,
        (places, keys): (Vec<Place>, AnchorKeys),
    ) -> AnchorLog {
        let covered_at = AtomicI64::new(clock.millis());
        AnchorLog(Arc::new(Parts {
            db,
            clock,
            secret,
            store,
            places,
            keys,
            failing: Mutex::default(),
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
            failing_places: self.failing().len(),
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
            signature: None,
        };
        let is_behind = self.0.is_behind.load(Ordering::Relaxed) && self.0.keys.can_write();
        if ends.entries == 0 || (is_anchored && !is_behind) {
            if ends.entries > 0 {
                self.remember(&anchor);
            }
            self.0.covered_at.store(now, Ordering::Relaxed);
            return Ok(());
        }
        if !self.0.keys.can_write() {
            // The machine with the signing key writes it.
            self.0.covered_at.fetch_max(ends.written_at, Ordering::Relaxed);
            return Ok(());
        }
        if !is_last && !store::claim(db, now, now - CLAIM_MILLIS).await? {
            // Another server writes it, or has just written it.
            self.0.covered_at.fetch_max(ends.written_at, Ordering::Relaxed);
            return Ok(());
        }
        // A place that was emptied must be noticed before it is no longer empty. One that cannot be read is an error below.
        let _ = self.watch_places().await;
        anchor.at = now;
        self.0.keys.sign(&mut anchor);
        let mut outcome = Ok(());
        for place in &self.0.places {
            match place.write(&anchor).await {
                Ok(()) => {
                    self.remember(&anchor);
                    store::mark_place(db, &place.key, &anchor).await?;
                }
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
    /// and while entries or anchors are missing, because an operator may have accepted the loss. Otherwise the longest known anchor is
    /// enough.
    async fn compare(&self) -> anyhow::Result<()> {
        let before = self.0.missing.load(Ordering::Relaxed);
        let is_suspect = before > 0 || !self.failing().is_empty();
        let (loss, outcome) = if is_suspect || !self.0.is_compared.load(Ordering::Relaxed) {
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
        let lost = self.watch_places().await;
        let is_unsigned = |lost: &LostPlace| matches!(lost.problem, PlaceProblem::Unsigned(_));
        let is_signed = !lost.iter().flatten().any(is_unsigned);
        anchors.retain(|anchor| !accepted.contains(&(anchor.entries, anchor.hash)));
        let longest = anchors.iter().max_by_key(|anchor| anchor.entries).cloned();
        if outcome.is_ok() || longest.is_some() {
            let is_behind = anchored < written || !is_signed;
            self.0.is_behind.store(is_behind, Ordering::Relaxed);
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
                    if let Some(forged) = found.iter().find(|anchor| self.is_forged(anchor)) {
                        let (entries, label) = (forged.entries, place.label);
                        outcome = outcome.and(Err(anyhow!(
                            "the anchor of entry {entries} in {label} has a signature of another key"
                        )));
                    }
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

    /// Returns whether an anchor has a wrong signature. One from before anchors were signed has none.
    fn is_forged(&self, anchor: &Anchor) -> bool {
        anchor.signature.is_some() && !self.0.keys.is_signed(anchor)
    }

    fn failing(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks for places that fail, remembers them, and logs those that do from now on. A place that was emptied stays an error,
    /// even when it has a new anchor, until an operator accepts that.
    async fn watch_places(&self) -> anyhow::Result<Vec<LostPlace>> {
        let lost = self.find_lost_places().await;
        self.remember_failing(&lost);
        let now = self.0.clock.millis();
        for place in lost.iter().flatten() {
            if let PlaceProblem::Ends { expected, .. } = place.problem {
                store::mark_lost(&self.0.db, &place.key, expected, now).await?;
            }
        }
        lost
    }

    fn remember_failing(&self, lost: &anyhow::Result<Vec<LostPlace>>) {
        let found: BTreeSet<String> = match lost {
            Ok(lost) => lost.iter().map(|lost| lost.key.clone()).collect(),
            // The background job logs which one, and why.
            Err(_) => BTreeSet::from([UNREADABLE.to_owned()]),
        };
        let mut failing = self.failing();
        for lost in lost.iter().flatten() {
            if !failing.contains(&lost.key) {
                tracing::error!("{lost}; run causeway check");
            }
        }
        *failing = found;
    }

    /// Lists the places that should have anchors and do not, or whose last anchor is not signed.
    ///
    /// # Errors
    ///
    /// If a place cannot be read.
    pub async fn find_lost_places(&self) -> anyhow::Result<Vec<LostPlace>> {
        let Parts { db, store, keys, .. } = &*self.0;
        let known = store::list_places(db).await?;
        let written = store::find_ends(db).await?.written_entries;
        let mut found = Vec::new();
        for place in &self.0.places {
            let names = place.list_names(*store).await?.into_iter();
            let longest = names.max_by_key(|name| (name.entries, name.minute.clone()));
            found.push((place, longest));
        }
        let entries = |longest: &Option<AnchorName>| longest.as_ref().map(|name| name.entries);
        // A place of which nothing is known is new, if another one has all anchors.
        let has_all = |longest| entries(longest).unwrap_or_default() >= written;
        let unknown = if found.iter().any(|(_, longest)| has_all(longest)) {
            0
        } else {
            written
        };
        let mut lost = Vec::new();
        for (place, longest) in found {
            let ends = known.get(&place.key).copied().unwrap_or(PlaceEnds {
                entries: unknown,
                lost_at: None,
            });
            let anchor = match &longest {
                Some(name) if keys.are_required() => place.read(*store, name).await?,
                _ => None,
            };
            let is_signed = anchor.is_none_or(|anchor| keys.is_signed(&anchor));
            let named = (place.label, place.key.as_str());
            let known = (ends.entries, ends.lost_at);
            lost.extend(LostPlace::find(named, known, entries(&longest), is_signed));
        }
        Ok(lost)
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

    /// Accepts that the entries and anchors which are missing now are lost for good. The audit log records which ones.
    pub async fn accept_loss(&self, actor: Actor) -> anyhow::Result<Accepted> {
        let Parts {
            db, clock, secret, ..
        } = &*self.0;
        let places = self.find_lost_places().await?;
        let loss = self.find_loss(self.list().await?).await?;
        if loss.is_none() && places.is_empty() {
            bail!("the ledger contains every anchor, and no anchors are missing; there is no loss to accept");
        }
        let now = clock.millis();
        let mut tx = db.write().await?;
        for anchor in loss.iter().flat_map(|loss| &loss.anchors) {
            store::accept(&mut tx, secret, anchor, now).await?;
        }
        for place in &places {
            store::remove_place(&mut tx, &place.key).await?;
        }
        // The checkpoint may cover entries that are lost.
        checkpoints::store::remove(&mut tx).await?;
        let entries = loss.as_ref().map(|loss| {
            let (first, last) = loss.range();
            format!("entries {first} to {last}")
        });
        let details = entries.into_iter().chain(places.iter().map(ToString::to_string));
        for detail in details {
            let action = Action::new(actor, "anchor accept-loss", "ledger", detail);
            audit::record(&mut tx, &action, now).await?;
        }
        tx.commit().await?;
        self.failing().clear();
        if !places.is_empty() {
            self.0.is_behind.store(true, Ordering::Relaxed);
        }
        self.write(true).await?;
        Ok(Accepted { loss, places })
    }

    /// Writes an anchor of the last entry now.
    ///
    /// # Errors
    ///
    /// If anchors have to be signed, and this process does not have the key.
    pub async fn write_now(&self) -> anyhow::Result<()> {
        if !self.0.keys.can_write() {
            bail!("anchors are signed by another machine; set anchors.signing_key_file, or run this there");
        }
        self.compare().await?;
        self.write(true).await
    }

    /// Copies the anchors of the first `entries` entries from the blob store to another one. Returns how many.
    pub async fn copy_to(&self, to: &Blobs, entries: i64) -> anyhow::Result<usize> {
        let Parts { places, store, .. } = &*self.0;
        let mut copied = 0;
        // The first place is the blob store.
        for place in places.iter().take(1) {
            for anchor in place.list(*store).await? {
                if anchor.entries <= entries {
                    place::write(to, &anchor)
                        .await
                        .context("could not copy an anchor")?;
                    copied += 1;
                }
            }
        }
        Ok(copied)
    }

    /// Removes old anchors, and returns how many. Anchors that the ledger does not contain are evidence and stay.
    pub async fn thin(&self) -> anyhow::Result<usize> {
        let Parts { db, clock, store, .. } = &*self.0;
        // What cannot be read is an error below.
        let _ = self.watch_places().await;
        let mut removed = 0;
        for place in &self.0.places {
            let names = place.list_names(*store).await?;
            for name in list_removable(&names, clock.millis()) {
                let hash = store::find_hash(db, name.entries).await?;
                if hash.is_some_and(|hash| hash_prefix(&hash) == name.hash_prefix) {
                    if place.remove(*store, name).await.is_err() {
                        // It can be read, so it does not allow deletion, and keeps all of them.
                        break;
                    }
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }
}
