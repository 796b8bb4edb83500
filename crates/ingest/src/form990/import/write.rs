//! Merges the returns with the store and writes what changes, in one transaction.

use super::merge::{Merged, NewReturn, OldReturn, merge};
use super::profile::profile;
use super::read::{FoundFacts, ReadReturns};
use crate::importer::Importer;
use crate::summary::Summary;
use anyhow::Context;
use directory::history::imports::store as imports;
use directory::history::{self, Change};
use directory::nonprofits::bulk::store::list_known;
use directory::nonprofits::ein::Ein;
use directory::returns::profile::ReturnProfile;
use directory::returns::store::{self as returns_store, ReturnWrite, StoredReturn};
use platform::db::Tx;
use platform::progress::{Progress, Unit};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use tokio::sync::mpsc;
use uuid::Uuid;

/// The number of returns that are merged at once. All returns of an EIN are in the same chunk.
const CHUNK_SIZE: usize = 1_000;

/// Writes the import and completes `summary`.
pub(super) async fn write(
    importer: &Importer<'_>,
    read: ReadReturns,
    started_at: i64,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let (mut tx, revision) = imports::begin(importer.db).await?;
    tx.prefer_indexes().await?;
    summary.revision = revision;
    let mut progress = Progress::start("writing", read.returns.len() as u64, Unit::Rows);
    let mut chunks = chunks(read.returns, read.facts);
    let mut done = 0;
    let mut changes: Vec<Uuid> = Vec::new();
    while let Some(chunk) = chunks.recv().await {
        let chunk = chunk.context("cannot read a temporary file; check the disk and import again")?;
        done += chunk.len() as u64;
        let changed = write_chunk(&mut tx, revision, chunk, summary).await?;
        if let Some(counts) = &mut summary.returns {
            counts.nonprofits_changed += changed.len() as u64;
        }
        // More than the overlay holds are not recorded at all.
        if changes.len() <= importer.overlay_limit {
            changes.extend(
                changed
                    .into_iter()
                    .filter_map(Ein::new)
                    .map(|ein| ein.nonprofit_id().0),
            );
        }
        progress.set_position(done);
    }
    progress.finish();
    if changes.len() > importer.overlay_limit {
        imports::remove_changes_before(&mut tx, revision).await?;
    } else {
        imports::insert_changes(&mut tx, revision, &changes).await?;
    }
    summary
        .record(&mut tx, "990", started_at, importer.clock.millis())
        .await?;
    tx.commit()
        .await
        .context("cannot commit the import; free disk space and import again")
}

/// Reads the returns with their facts in chunks, on another thread, while the store writes the previous chunk.
fn chunks(returns: Vec<FoundFacts>, facts: File) -> mpsc::Receiver<std::io::Result<Vec<NewReturn>>> {
    let (sender, receiver) = mpsc::channel(2);
    tokio::task::spawn_blocking(move || {
        let mut chunk: Vec<NewReturn> = Vec::with_capacity(CHUNK_SIZE);
        for found in returns {
            let is_next_ein = chunk.last().is_none_or(|last| last.found.ein != found.ein);
            if chunk.len() >= CHUNK_SIZE && is_next_ein {
                let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK_SIZE));
                if sender.blocking_send(Ok(full)).is_err() {
                    return;
                }
            }
            match read_facts(&facts, &found) {
                Ok(facts) => chunk.push(NewReturn { found, facts }),
                Err(error) => {
                    let _ = sender.blocking_send(Err(error));
                    return;
                }
            }
        }
        if !chunk.is_empty() {
            let _ = sender.blocking_send(Ok(chunk));
        }
    });
    receiver
}

fn read_facts(file: &File, found: &FoundFacts) -> std::io::Result<String> {
    let mut bytes = vec![0; found.length as usize];
    file.read_exact_at(&mut bytes, found.offset)?;
    String::from_utf8(bytes).map_err(std::io::Error::other)
}

/// Merges a chunk with the store. Returns the EINs of the nonprofits in the directory that changed.
async fn write_chunk(
    tx: &mut Tx,
    revision: i64,
    chunk: Vec<NewReturn>,
    summary: &mut Summary,
) -> anyhow::Result<Vec<u32>> {
    let chunk = remove_unchanged(tx, chunk, summary).await?;
    let by_ein: Vec<&[NewReturn]> = chunk.chunk_by(|a, b| a.found.ein == b.found.ein).collect();
    let eins: Vec<u32> = by_ein.iter().map(|group| group[0].found.ein).collect();
    let mut stored: HashMap<u32, Vec<OldReturn>> = HashMap::new();
    for (ein, stored_return, digest) in returns_store::list_by_eins(tx, &eins).await? {
        stored.entry(ein).or_default().push(OldReturn {
            stored: stored_return,
            digest,
        });
    }
    let mut touched = Vec::new();
    let mut writes = Vec::new();
    let mut removed = Vec::new();
    for group in by_ein {
        let ein = group[0].found.ein;
        let old = stored.remove(&ein).unwrap_or_default();
        let old_text = describe(old.iter().map(|old| &old.stored));
        let merged = merge(old, group, revision)?;
        add_counts(summary, &merged);
        if merged.is_changed() {
            removed.extend(merged.removed.iter().map(|period| (ein, *period)));
            writes.extend(merged.written.iter().map(|at| to_write(&group[*at], revision)));
            touched.push(Touched {
                ein,
                old_text,
                new_text: describe(merged.kept.iter()),
                profile: profile(ein, &merged.kept),
            });
        }
    }
    returns_store::remove(tx, &removed).await?;
    returns_store::insert(tx, &writes).await?;
    write_profiles(tx, revision, touched).await
}

/// An EIN whose returns changed.
struct Touched {
    ein: u32,
    old_text: Option<String>,
    new_text: Option<String>,
    profile: ReturnProfile,
}

/// Writes the profiles of the EINs that changed, and their history. Returns those that are in the directory.
async fn write_profiles(tx: &mut Tx, revision: i64, touched: Vec<Touched>) -> anyhow::Result<Vec<u32>> {
    let eins: Vec<u32> = touched.iter().map(|touched| touched.ein).collect();
    let known = list_known(tx, &eins).await?;
    let before = returns_store::list_profiles(tx, &eins).await?;
    let mut replaced = Vec::new();
    let mut profiles = Vec::new();
    let mut changes = Vec::new();
    for touched in touched {
        let ein = touched.ein;
        let old = before.get(&ein);
        if known.contains(&ein) {
            if touched.old_text != touched.new_text {
                changes.push(Change {
                    ein,
                    field: "returns",
                    old: touched.old_text,
                    new: touched.new_text,
                });
            }
            history::compare_return_profiles(ein, old, &touched.profile, &mut changes);
        }
        if old != Some(&touched.profile) {
            if old.is_some() {
                replaced.push(ein);
            }
            profiles.push(touched.profile);
        }
    }
    returns_store::remove_profiles(tx, &replaced).await?;
    returns_store::insert_profiles(tx, &profiles).await?;
    history::store::insert(tx, revision, &changes).await?;
    Ok(eins.into_iter().filter(|ein| known.contains(ein)).collect())
}

/// Removes the EINs for which every return in the files is stored already. Their facts need not be loaded.
async fn remove_unchanged(
    tx: &mut Tx,
    chunk: Vec<NewReturn>,
    summary: &mut Summary,
) -> anyhow::Result<Vec<NewReturn>> {
    let eins: Vec<u32> = chunk
        .chunk_by(|a, b| a.found.ein == b.found.ein)
        .map(|group| group[0].found.ein)
        .collect();
    let versions = returns_store::list_versions(tx, &eins).await?;
    let is_stored = |new: &NewReturn| {
        versions
            .get(&(new.found.ein, new.found.period))
            .is_some_and(|(object_id, digest)| {
                *digest == new.found.digest && **object_id == *new.found.object_id
            })
    };
    let changed: HashSet<u32> = chunk
        .iter()
        .filter(|new| !is_stored(new))
        .map(|new| new.found.ein)
        .collect();
    let (rest, unchanged): (Vec<NewReturn>, Vec<NewReturn>) = chunk
        .into_iter()
        .partition(|new| changed.contains(&new.found.ein));
    summary.unchanged += unchanged.len() as u64;
    Ok(rest)
}

fn add_counts(summary: &mut Summary, merged: &Merged) {
    summary.new += merged.new;
    summary.changed += merged.changed;
    summary.unchanged += merged.unchanged;
    if let Some(counts) = &mut summary.returns {
        counts.outdated += merged.outdated;
    }
}

fn to_write(new: &NewReturn, revision: i64) -> ReturnWrite<'_> {
    let found = &new.found;
    ReturnWrite {
        ein: found.ein,
        period: found.period,
        form: found.form.name(),
        object_id: &found.object_id,
        source: directory::nonprofits::sources::SourceId {
            revision,
            position: found.file + 1,
        },
        facts: &new.facts,
        digest: found.digest,
    }
}

/// Lists returns for the history: the end of the period, the form, and the ID of the filing.
fn describe<'a>(returns: impl Iterator<Item = &'a StoredReturn>) -> Option<String> {
    let texts: Vec<String> = returns
        .map(|stored| {
            let (year, month) = (stored.period / 100, stored.period % 100);
            let amended = if stored.facts.is_amended { " amended" } else { "" };
            let id = match stored.object_id.as_str() {
                "" => String::new(),
                id => format!(" ({id})"),
            };
            format!("{year}-{month:02} {}{amended}{id}", stored.form)
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
