//! Assigns slugs to new nonprofits, the most prominent first, and writes all rows in one transaction.

use super::read::{ReadResult, SlugRequest};
use crate::importer::Importer;
use crate::irs::row_file::{Row, RowFile};
use crate::slugs::{self, UsedSlugs};
use crate::summary::Summary;
use anyhow::{Context, bail};
use directory::history::imports::store as imports;
use directory::history::{self, Change};
use directory::nonprofits::bulk::store::{self, CHUNK_SIZE, ExistingNonprofit, NonprofitWrite};
use directory::nonprofits::ein::Ein;
use directory::nonprofits::filing::Filing;
use directory::nonprofits::rows::StoredNonprofit;
use directory::nonprofits::slug::Slug;
use platform::db::Tx;
use platform::progress::{Progress, Unit, wait_with_spinner};
use std::collections::HashMap;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Writes the import and sets the revision of `summary`.
pub(super) async fn write(
    importer: &Importer<'_>,
    read: ReadResult,
    names: &HashMap<Uuid, String>,
    gone: &[u32],
    revision: i64,
    started_at: i64,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let ReadResult {
        existing,
        used_slugs,
        new,
        changed,
        slug_requests,
        ..
    } = read;
    let is_large = summary.total_changes() > importer.overlay_limit as u64;
    let is_bulk = summary.new > existing.len() as u64;
    // The history begins after the first import of IRS files, which adds everything.
    let is_first = !existing.values().any(|nonprofit| nonprofit.listed);
    let mut new_rows =
        tokio::task::spawn_blocking(move || assign_slugs(new, slug_requests, used_slugs)).await??;
    let (mut tx, new_revision) = imports::begin(importer.db).await?;
    if new_revision != revision + 1 {
        bail!("another import finished while this one was reading; nothing was imported, run it again");
    }
    summary.revision = new_revision;
    let mut progress = Progress::start("writing", summary.new + summary.changed, Unit::Rows);
    let mut done = 0;
    let mut changes = Vec::new();
    let mut add_change = |id: Uuid| {
        if !is_large {
            changes.push(id);
        }
    };
    let mut rows = changed.rows()?;
    loop {
        let chunk: Vec<Row> = rows.by_ref().take(CHUNK_SIZE).collect::<std::io::Result<_>>()?;
        if chunk.is_empty() {
            break;
        }
        for row in &chunk {
            add_change(row.ein.nonprofit_id().0);
        }
        done += chunk.len() as u64;
        let before = Before {
            existing: &existing,
            names,
        };
        update_chunk(&mut tx, new_revision, chunk, before, &mut new_rows.used_slugs).await?;
        progress.set_position(done);
    }
    store::mark_gone(&mut tx, gone, started_at).await?;
    record_events(&mut tx, new_revision, gone.iter().copied(), history::GONE).await?;
    for ein in gone {
        add_change(
            Ein::new(*ein)
                .context("a stored EIN is invalid")?
                .nonprofit_id()
                .0,
        );
    }
    if is_bulk {
        store::drop_indexes(&mut tx).await?;
    }
    let mut chunks = new_rows.chunks();
    while let Some(chunk) = chunks.recv().await {
        let chunk = chunk?;
        done += chunk.len() as u64;
        for row in &chunk {
            add_change(row.nonprofit.id);
        }
        if !is_first {
            let eins = chunk.iter().filter_map(|row| row.nonprofit.ein());
            record_events(&mut tx, new_revision, eins.map(Ein::value), history::ADDED).await?;
        }
        store::insert_rows(&mut tx, chunk).await?;
        progress.set_position(done);
    }
    if is_bulk {
        wait_with_spinner("creating indexes", store::create_indexes(&mut tx)).await?;
    }
    progress.finish();
    if is_large {
        imports::remove_changes_before(&mut tx, new_revision).await?;
    } else {
        imports::insert_changes(&mut tx, new_revision, &changes).await?;
    }
    summary
        .record(&mut tx, "irs", started_at, importer.clock.millis())
        .await?;
    tx.commit()
        .await
        .context("cannot commit the import; free disk space and import again")
}

/// What is known about the changed nonprofits before the import.
#[derive(Clone, Copy)]
struct Before<'a> {
    existing: &'a HashMap<u32, ExistingNonprofit>,
    /// The names in profiles.
    names: &'a HashMap<Uuid, String>,
}

/// Writes changed rows, and their history.
async fn update_chunk(
    tx: &mut Tx,
    revision: i64,
    rows: Vec<Row>,
    before: Before<'_>,
    used_slugs: &mut UsedSlugs,
) -> anyhow::Result<()> {
    let eins: Vec<u32> = rows.iter().map(|row| row.ein.value()).collect();
    let filings = store::list_filings(tx, &eins).await?;
    let mut changes = Vec::new();
    let mut writes = Vec::with_capacity(rows.len());
    for row in rows {
        let ein = row.ein.value();
        let existing = &before.existing[&ein];
        let profile_name = before.names.get(&row.ein.nonprofit_id().0);
        let filing = Filing::parse(&row.filed);
        let slug = updated_slug(tx, used_slugs, row.ein, &filing, existing, profile_name).await?;
        if existing.gone {
            changes.push(Change::event(ein, history::RETURNED));
        }
        if let Some(filed) = filings.get(&ein) {
            history::compare_filings(ein, "name", &Filing::parse(filed), &filing, &mut changes);
        }
        if slug != *existing.slug {
            changes.push(Change {
                ein,
                field: history::SLUG,
                old: Some(existing.slug.to_string()),
                new: Some(slug.clone()),
            });
        }
        writes.push(nonprofit_write(row, slug));
    }
    store::update_rows(tx, writes).await?;
    history::store::insert(tx, revision, &changes).await?;
    Ok(())
}

async fn record_events(
    tx: &mut Tx,
    revision: i64,
    eins: impl Iterator<Item = u32>,
    field: &'static str,
) -> sqlx::Result<()> {
    let changes: Vec<Change> = eins.map(|ein| Change::event(ein, field)).collect();
    history::store::insert(tx, revision, &changes).await
}

/// The rows of new nonprofits in the order of the files, and their slugs.
struct NewRows {
    rows: Option<RowFile>,
    slugs: Vec<Box<str>>,
    used_slugs: UsedSlugs,
}

fn assign_slugs(
    mut rows: RowFile,
    mut requests: Vec<SlugRequest>,
    mut used_slugs: UsedSlugs,
) -> anyhow::Result<NewRows> {
    requests.sort_unstable_by_key(|request| (std::cmp::Reverse(request.prominence), request.index));
    let mut slugs = vec![Box::default(); requests.len()];
    for request in requests {
        let slug = if used_slugs.claim(&request.first_choice) {
            request.first_choice
        } else {
            let row = rows.row_at(request.offset)?;
            let id = row.ein.nonprofit_id().0;
            let filing = Filing::parse(&row.filed);
            let mut candidates = Slug::candidates(filing.name, filing.city, filing.state, Some(row.ein), id);
            let free = candidates.find(|slug| used_slugs.claim(slug.as_str()));
            free.context("there is no free slug for a new nonprofit")?
                .as_str()
                .into()
        };
        slugs[request.index as usize] = slug;
    }
    Ok(NewRows {
        rows: Some(rows),
        slugs,
        used_slugs,
    })
}

impl NewRows {
    /// Returns the rows in chunks. The next chunk is prepared on another thread while the store writes the previous one.
    fn chunks(&mut self) -> mpsc::Receiver<anyhow::Result<Vec<NonprofitWrite>>> {
        let (sender, receiver) = mpsc::channel(4);
        let rows = self.rows.take();
        let slugs = std::mem::take(&mut self.slugs);
        tokio::task::spawn_blocking(move || {
            let result = rows.map(|rows| send_chunks(rows, slugs, &sender));
            if let Some(Err(error)) = result {
                let _ = sender.blocking_send(Err(error.into()));
            }
        });
        receiver
    }
}

fn send_chunks(
    rows: RowFile,
    slugs: Vec<Box<str>>,
    sender: &mpsc::Sender<anyhow::Result<Vec<NonprofitWrite>>>,
) -> std::io::Result<()> {
    let mut rows = rows.rows()?.zip(slugs);
    loop {
        let chunk = rows
            .by_ref()
            .take(CHUNK_SIZE)
            .map(|(row, slug)| Ok(nonprofit_write(row?, slug.into_string())));
        let chunk = chunk.collect::<std::io::Result<Vec<NonprofitWrite>>>()?;
        if chunk.is_empty() || sender.blocking_send(Ok(chunk)).is_err() {
            return Ok(());
        }
    }
}

/// Returns the slug of a nonprofit whose row changed: the current one, or a new one if the name changed.
async fn updated_slug(
    tx: &mut Tx,
    used_slugs: &mut UsedSlugs,
    ein: Ein,
    filing: &Filing<'_>,
    existing: &ExistingNonprofit,
    profile_name: Option<&String>,
) -> anyhow::Result<String> {
    let name = profile_name.map_or(filing.name, String::as_str);
    if slugs::matches_name(&existing.slug, name) {
        return Ok(existing.slug.to_string());
    }
    let id = ein.nonprofit_id().0;
    for slug in Slug::candidates(name, filing.city, filing.state, Some(ein), id) {
        // A nonprofit that returns to an old name gets its former slug again.
        if used_slugs.claim(slug.as_str()) || store::is_former_slug_of(tx, slug.as_str(), id).await? {
            store::insert_former_slug(tx, &existing.slug, slug.as_str(), id).await?;
            return Ok(slug.as_str().to_owned());
        }
    }
    Ok(existing.slug.to_string())
}

fn nonprofit_write(row: Row, slug: String) -> NonprofitWrite {
    NonprofitWrite {
        nonprofit: StoredNonprofit {
            id: row.ein.nonprofit_id().0,
            ein: Some(i64::from(row.ein.value())),
            slug,
            filed: row.filed,
            listed: true,
            gone_at: None,
        },
        digest: row.digest,
    }
}
