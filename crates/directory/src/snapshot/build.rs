//! Builds a snapshot from the store: reads all rows, sorts them by prominence, and writes the file.
//!
//! Nonprofits that left the IRS files can be looked up, but not searched or browsed. They come last, after the
//! documents of the index.

use crate::nonprofits::assemble::assemble;
use crate::nonprofits::causes::Causes;
use crate::nonprofits::rows::{NonprofitRow, Profile};
use crate::nonprofits::store;
use crate::nonprofits::zip_codes::{ZipNumber, zip_of};
use crate::snapshot::counts::Counts;
use crate::snapshot::documents;
use crate::snapshot::file::{SnapshotMeta, SnapshotWriter};
use crate::snapshot::item;
use crate::snapshot::record;
use crate::snapshot::rules::{file_name, rules};
use crate::snapshot::table::{self, number_key, text_key};
use crate::snapshot::{SECTIONS, Section};
use ::search::{BuildError, IndexBuilder};
use anyhow::Context;
use platform::clock::Stopwatch;
use platform::db::{Db, Topic};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;
use uuid::Uuid;

const MAX_QUEUED_BATCHES: usize = 16;

/// What was built, and how long it took.
#[derive(Debug)]
pub struct BuildReport {
    pub path: PathBuf,
    pub meta: SnapshotMeta,
    pub duration: Duration,
    /// The part of `duration` that building the search index took.
    pub index_duration: Duration,
}

/// Builds a snapshot of the current store in `folder`.
pub(crate) async fn build(
    db: &Db,
    store: Uuid,
    causes: &'static Causes,
    folder: &Path,
) -> anyhow::Result<BuildReport> {
    let stopwatch = Stopwatch::start();
    let mut tx = db.long_view().await?;
    let revision = tx.current_revision(Topic::Directory).await?;
    let profiles = store::list_profiles(&mut tx).await?;
    let former_slugs = store::list_former_slugs(&mut tx).await?;
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_BATCHES);
    let collecting = tokio::task::spawn_blocking(move || collect(receiver, &profiles, causes));
    store::send_all(&mut tx, &sender).await?;
    drop(sender);
    drop(tx);
    let records = collecting.await?;
    let meta = SnapshotMeta {
        store,
        revision: revision.number,
        token: revision.token,
        rules: rules(),
        count: records.starts.len() as u64,
    };
    let path = folder.join(file_name(revision.number));
    let target = path.clone();
    let index_duration =
        tokio::task::spawn_blocking(move || records.write(&target, meta, &former_slugs, causes))
            .await?
            .with_context(|| format!("cannot write the directory snapshot {}", path.display()))?;
    Ok(BuildReport {
        path,
        meta,
        duration: stopwatch.elapsed(),
        index_duration,
    })
}

/// All records in the order in which the store returned them, and their sorted order.
struct Records {
    bytes: Vec<u8>,
    starts: Vec<u64>,
    order: Vec<Rank>,
    counts: Counts,
}

/// The sort key of a record.
///
/// Nonprofits that are no longer in the IRS files come last, since they are not searched. The others are sorted by
/// prominence, largest first, then by the first bytes of the name. The rest of the name and the ID are read from the
/// record, which few comparisons need.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_gone: bool,
    prominence: std::cmp::Reverse<u32>,
    name_prefix: u64,
    record: u32,
}

fn collect(
    mut receiver: mpsc::Receiver<Vec<NonprofitRow>>,
    profiles: &HashMap<Uuid, Profile>,
    causes: &Causes,
) -> Records {
    let mut records = Records {
        bytes: Vec::new(),
        starts: Vec::new(),
        order: Vec::new(),
        counts: Counts::default(),
    };
    while let Some(batch) = receiver.blocking_recv() {
        for row in batch {
            assemble(&row, profiles.get(&row.stored.id), causes, |nonprofit| {
                let record = records.starts.len() as u32;
                records.starts.push(records.bytes.len() as u64);
                records.order.push(Rank {
                    is_gone: nonprofit.gone_at.is_some(),
                    prominence: std::cmp::Reverse(nonprofit.prominence),
                    name_prefix: name_prefix(nonprofit.name),
                    record,
                });
                record::write(nonprofit, &mut records.bytes);
                records.counts = records.counts.plus(Counts::of(nonprofit));
            });
        }
    }
    records.sort();
    records
}

fn name_prefix(name: &str) -> u64 {
    let mut prefix = [0; 8];
    for (target, byte) in prefix.iter_mut().zip(name.bytes()) {
        *target = byte;
    }
    u64::from_be_bytes(prefix)
}

impl Records {
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
        let key = |rank: &Rank| (rank.is_gone, rank.prominence, rank.name_prefix);
        for tied in order.chunk_by_mut(|a, b| key(a) == key(b)) {
            tied.sort_unstable_by_key(|rank| record::name_and_id(self.record(rank.record)));
        }
        self.order = order;
    }

    /// Writes the file. The search index is filled on another thread while the records are written. Returns how long
    /// building the index took.
    fn write(
        self,
        path: &Path,
        meta: SnapshotMeta,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
    ) -> io::Result<Duration> {
        let mut out = SnapshotWriter::create(path, meta, SECTIONS)?;
        let (builder, fill_duration) = std::thread::scope(|scope| {
            let indexing = scope.spawn(|| {
                let stopwatch = Stopwatch::start();
                self.fill_index(causes)
                    .map(|builder| (builder, stopwatch.elapsed()))
            });
            self.write_records(former_slugs, causes, &mut out)?;
            indexing
                .join()
                .map_err(|_| io::Error::other("building the search index failed"))?
                .map_err(io::Error::other)
        })?;
        // The records are no longer needed, and the next step needs the memory.
        drop(self);
        let stopwatch = Stopwatch::start();
        begin_section(&mut out, Section::Search)?;
        builder.write(&mut out).map_err(io::Error::other)?;
        let duration = fill_duration + stopwatch.elapsed();
        out.finish()?;
        Ok(duration)
    }

    fn write_records(
        &self,
        former_slugs: &[(String, Uuid)],
        causes: &Causes,
        out: &mut SnapshotWriter,
    ) -> io::Result<()> {
        let (mut ids, mut eins, mut slugs) = (Vec::new(), Vec::new(), Vec::new());
        let mut zips = Vec::with_capacity(self.order.len() * 2);
        let mut offset = 0u64;
        begin_section(out, Section::Offsets)?;
        for rank in &self.order {
            out.write_all(&offset.to_le_bytes())?;
            offset += self.record(rank.record).len() as u64;
        }
        out.write_all(&offset.to_le_bytes())?;
        begin_section(out, Section::Records)?;
        for (position, rank) in (0..).zip(&self.order) {
            let bytes = self.record(rank.record);
            out.write_all(bytes)?;
            let nonprofit =
                record::read(bytes).ok_or_else(|| io::Error::other("a record cannot be read back"))?;
            ids.push((nonprofit.id.0.as_u64_pair().0, position));
            slugs.push((text_key(nonprofit.slug), position));
            zips.extend_from_slice(&ZipNumber::to_bytes(zip_of(&nonprofit)));
            if let Some(ein) = nonprofit.ein {
                eins.push((number_key(u64::from(ein.value())), position));
            }
        }
        self.write_items(causes, out)?;
        let positions = positions_of(former_slugs, &ids);
        for (section, entries) in [
            (Section::Ids, ids),
            (Section::Eins, eins),
            (Section::Slugs, slugs),
        ] {
            begin_section(out, section)?;
            table::write(entries, out)?;
        }
        begin_section(out, Section::FormerSlugs)?;
        for ((slug, _), position) in former_slugs.iter().zip(positions) {
            if let Some(position) = position {
                writeln!(out, "{slug}\t{position}")?;
            }
        }
        begin_section(out, Section::ZipNumbers)?;
        out.write_all(&zips)?;
        begin_section(out, Section::Counts)?;
        out.write_all(&self.counts.to_bytes())
    }

    fn write_items(&self, causes: &Causes, out: &mut SnapshotWriter) -> io::Result<()> {
        begin_section(out, Section::Items)?;
        let mut offsets = Vec::with_capacity((self.order.len() + 1) * 8);
        let mut offset = 0u64;
        for rank in &self.order {
            let nonprofit = record::read(self.record(rank.record))
                .ok_or_else(|| io::Error::other("a record cannot be read back"))?;
            let item = item::to_vec(&nonprofit, causes);
            offsets.extend_from_slice(&offset.to_le_bytes());
            offset += item.len() as u64;
            out.write_all(&item)?;
        }
        offsets.extend_from_slice(&offset.to_le_bytes());
        begin_section(out, Section::ItemOffsets)?;
        out.write_all(&offsets)
    }

    fn fill_index(&self, causes: &Causes) -> Result<IndexBuilder, BuildError> {
        let mut builder = documents::index_builder();
        for rank in self.order.iter().take_while(|rank| !rank.is_gone) {
            if let Some(nonprofit) = record::read(self.record(rank.record)) {
                documents::add(&mut builder, &nonprofit, causes)?;
            }
        }
        Ok(builder)
    }
}

fn begin_section(out: &mut SnapshotWriter, section: Section) -> io::Result<()> {
    out.begin_section(section as usize)
}

/// Returns the positions of the nonprofits that had the former slugs.
fn positions_of(former_slugs: &[(String, Uuid)], ids: &[(u64, u32)]) -> Vec<Option<u32>> {
    if former_slugs.is_empty() {
        return Vec::new();
    }
    let positions: HashMap<u64, u32> = ids.iter().copied().collect();
    former_slugs
        .iter()
        .map(|(_, id)| positions.get(&id.as_u64_pair().0).copied())
        .collect()
}
