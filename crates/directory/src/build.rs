//! Building a snapshot from the store: one pass over the rows, a sort by prominence, one pass that writes.

use super::file::{SnapshotMeta, SnapshotWriter};
use super::record;
use super::snapshot::{SECTIONS, Section};
use super::table::{self, spread, text_key};
use crate::documents;
use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::rows::{Profile, StoredNonprofit};
use crate::nonprofits::store;
use crate::rules::{file_name, rules};
use ::search::{BuildError, IndexBuilder};
use anyhow::Context;
use platform::clock::Stopwatch;
use platform::db::{Db, Topic, run};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Rows that travel together from the store to the builder.
const BATCH: usize = 1_000;
const BATCHES_UNDER_WAY: usize = 16;

/// What was built.
#[derive(Debug)]
pub struct BuildReport {
    pub path: PathBuf,
    pub meta: SnapshotMeta,
    pub duration: Duration,
    /// The part of it that the search index took.
    pub index_duration: Duration,
}

/// Builds the snapshot of the store as it is now into `folder`.
pub async fn build(
    db: &Db,
    store: Uuid,
    causes: &'static Causes,
    folder: &Path,
) -> anyhow::Result<BuildReport> {
    let begun = Stopwatch::start();
    let mut tx = db.view().await?;
    let revision = tx.revision(Topic::Directory).await?;
    let profiles = store::list_profiles(&mut tx).await?;
    let former_slugs = store::list_former_slugs(&mut tx).await?;
    let (sender, receiver) = mpsc::channel(BATCHES_UNDER_WAY);
    let gathering = tokio::task::spawn_blocking(move || gather(receiver, &profiles, causes));
    send_rows(&mut tx, sender).await?;
    drop(tx);
    let gathered = gathering.await?;
    let meta = SnapshotMeta {
        store,
        revision,
        rules: rules(),
        count: gathered.starts.len() as u64,
    };
    let path = folder.join(file_name(revision));
    let target = path.clone();
    let index_took =
        tokio::task::spawn_blocking(move || gathered.write(&target, meta, &former_slugs, causes))
            .await?
            .with_context(|| format!("the directory snapshot {} cannot be written", path.display()))?;
    Ok(BuildReport {
        path,
        meta,
        duration: begun.elapsed(),
        index_duration: index_took,
    })
}

async fn send_rows(
    tx: &mut platform::db::Tx,
    sender: mpsc::Sender<Vec<StoredNonprofit>>,
) -> sqlx::Result<()> {
    use futures_util::TryStreamExt;
    run!(tx, c => {
        let mut rows = sqlx::query_as::<_, StoredNonprofit>(store::ALL).fetch(c);
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(row) = rows.try_next().await? {
            batch.push(row);
            if batch.len() == BATCH {
                // A builder that is gone has panicked, which shows where it is awaited.
                let _ = sender.send(std::mem::replace(&mut batch, Vec::with_capacity(BATCH))).await;
            }
        }
        let _ = sender.send(batch).await;
    });
    Ok(())
}

/// All records one after another, in the order in which they came.
struct Gathered {
    bytes: Vec<u8>,
    starts: Vec<u64>,
    order: Vec<Rank>,
}

/// What decides the place of a record: bodies that left the files come last, since they are not searched; then
/// prominence, largest first, then the first letters of the name. The rest of
/// the name and the id are looked up in the record, which few comparisons need.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_gone: bool,
    prominence: std::cmp::Reverse<u32>,
    letters: u64,
    record: u32,
}

fn gather(
    mut receiver: mpsc::Receiver<Vec<StoredNonprofit>>,
    profiles: &HashMap<Uuid, Profile>,
    causes: &Causes,
) -> Gathered {
    let mut gathered = Gathered {
        bytes: Vec::new(),
        starts: Vec::new(),
        order: Vec::new(),
    };
    while let Some(batch) = receiver.blocking_recv() {
        for stored in batch {
            assemble(&stored, profiles.get(&stored.id), causes, |nonprofit| {
                let record = gathered.starts.len() as u32;
                gathered.starts.push(gathered.bytes.len() as u64);
                gathered.order.push(Rank {
                    is_gone: nonprofit.gone_at.is_some(),
                    prominence: std::cmp::Reverse(nonprofit.prominence),
                    letters: first_letters(nonprofit.name),
                    record,
                });
                record::write(nonprofit, &mut gathered.bytes);
            });
        }
    }
    gathered.sort();
    gathered
}

fn first_letters(name: &str) -> u64 {
    let mut letters = [0; 8];
    for (letter, byte) in letters.iter_mut().zip(name.bytes()) {
        *letter = byte;
    }
    u64::from_be_bytes(letters)
}

impl Gathered {
    fn record(&self, number: u32) -> &[u8] {
        let start = self.starts[number as usize] as usize;
        let end = self
            .starts
            .get(number as usize + 1)
            .map_or(self.bytes.len(), |end| *end as usize);
        &self.bytes[start..end]
    }

    fn sort(&mut self) {
        let mut order = std::mem::take(&mut self.order);
        order.sort_unstable();
        let key = |rank: &Rank| (rank.is_gone, rank.prominence, rank.letters);
        let alike = |a: &Rank, b: &Rank| key(a) == key(b);
        for tied in order.chunk_by_mut(alike) {
            tied.sort_unstable_by_key(|rank| record::name_and_id(self.record(rank.record)));
        }
        self.order = order;
    }

    /// Writes the file; the index is told of the records while they are written. Returns how long the index took.
    fn write(
        self,
        path: &Path,
        meta: SnapshotMeta,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
    ) -> io::Result<Duration> {
        let mut out = SnapshotWriter::create(path, meta, SECTIONS)?;
        let (builder, told) = std::thread::scope(|scope| {
            let telling = scope.spawn(|| {
                let begun = Stopwatch::start();
                self.tell_index(causes).map(|builder| (builder, begun.elapsed()))
            });
            self.write_records(former_slugs, &mut out)?;
            let told = telling.join();
            told.map_err(|_| io::Error::other("building the search index failed"))?
                .map_err(io::Error::other)
        })?;
        // The records are in the file, and the index has its own: the next step needs the room.
        drop(self);
        let begun = Stopwatch::start();
        begin(&mut out, Section::Search)?;
        builder.write(&mut out).map_err(io::Error::other)?;
        let took = told + begun.elapsed();
        out.finish()?;
        Ok(took)
    }

    fn write_records(&self, former_slugs: &[(String, Uuid)], out: &mut SnapshotWriter) -> io::Result<()> {
        let (mut ids, mut eins, mut slugs) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0u64;
        begin(out, Section::Offsets)?;
        for rank in &self.order {
            out.write_all(&at.to_le_bytes())?;
            at += self.record(rank.record).len() as u64;
        }
        out.write_all(&at.to_le_bytes())?;
        begin(out, Section::Records)?;
        for (place, rank) in (0..).zip(&self.order) {
            let bytes = self.record(rank.record);
            out.write_all(bytes)?;
            let nonprofit =
                record::read(bytes).ok_or_else(|| io::Error::other("a record cannot be read back"))?;
            ids.push((nonprofit.id.0.as_u64_pair().0, place));
            slugs.push((text_key(nonprofit.slug), place));
            if let Some(ein) = nonprofit.ein {
                eins.push((spread(u64::from(ein.value())), place));
            }
        }
        let places = places_of(former_slugs, &ids);
        for (section, entries) in [
            (Section::Ids, ids),
            (Section::Eins, eins),
            (Section::Slugs, slugs),
        ] {
            begin(out, section)?;
            table::write(entries, out)?;
        }
        begin(out, Section::FormerSlugs)?;
        for ((slug, _), place) in former_slugs.iter().zip(places) {
            if let Some(place) = place {
                writeln!(out, "{slug}\t{place}")?;
            }
        }
        Ok(())
    }

    fn tell_index(&self, causes: &Causes) -> Result<IndexBuilder, BuildError> {
        let mut builder = IndexBuilder::new();
        for rank in self.order.iter().take_while(|rank| !rank.is_gone) {
            if let Some(nonprofit) = record::read(self.record(rank.record)) {
                documents::add(&mut builder, &nonprofit, causes)?;
            }
        }
        Ok(builder)
    }
}

fn begin(out: &mut SnapshotWriter, section: Section) -> io::Result<()> {
    out.begin(section as usize)
}

/// Where the owners of former slugs stand.
fn places_of(former_slugs: &[(String, Uuid)], ids: &[(u64, u32)]) -> Vec<Option<u32>> {
    if former_slugs.is_empty() {
        return Vec::new();
    }
    let places: HashMap<u64, u32> = ids.iter().copied().collect();
    former_slugs
        .iter()
        .map(|(_, id)| places.get(&id.as_u64_pair().0).copied())
        .collect()
}
