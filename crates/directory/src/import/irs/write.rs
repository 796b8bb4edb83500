//! Writing what was read: slugs for new bodies, the more prominent first, then every row in one transaction.

use super::read::{Choosing, ReadFiles};
use crate::import::importer::Importer;
use crate::import::progress::{Progress, Unit, wait_with_spinner};
use crate::import::row_file::{Row, RowFile};
use crate::import::slugs::{self, UsedSlugs};
use crate::import::store::{self, CHUNK, Known, NonprofitWrite};
use crate::import::summary::Summary;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::filing::Filing;
use crate::nonprofits::rows::StoredNonprofit;
use crate::nonprofits::slug::Slug;
use anyhow::{Context, bail};
use platform::db::Tx;
use std::collections::HashMap;
use tokio::sync::mpsc;
use uuid::Uuid;

/// Writes the import; its revision goes into `summary`.
pub async fn write(
    importer: &Importer<'_>,
    read: ReadFiles,
    names: &HashMap<Uuid, String>,
    gone: &[u32],
    revision: i64,
    started_at: i64,
    summary: &mut Summary,
) -> anyhow::Result<()> {
    let ReadFiles {
        known,
        used_slugs,
        new,
        changed,
        choosing,
        ..
    } = read;
    let is_large = summary.total_changes() > importer.overlay_limit as u64;
    let is_bulk = summary.new > known.len() as u64;
    let mut new_slugs =
        tokio::task::spawn_blocking(move || choose_slugs(new, choosing, used_slugs)).await??;
    let (mut tx, raised) = store::begin(importer.db).await?;
    if raised != revision + 1 {
        bail!("another import ended while this one was reading; nothing was imported: run it again");
    }
    summary.revision = raised;
    let mut progress = Progress::start("writing", summary.new + summary.changed, Unit::Rows);
    let mut done = 0;
    let mut touched = Vec::new();
    let mut note = |id: Uuid| {
        if !is_large {
            touched.push(id);
        }
    };
    let mut rows = changed.rows()?;
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        for row in rows.by_ref().take(CHUNK) {
            let row = row?;
            let known = &known[&row.ein.value()];
            let id = row.ein.nonprofit_id().0;
            note(id);
            let slug = slug_after(&mut tx, &mut new_slugs.used_slugs, &row, known, names.get(&id)).await?;
            chunk.push(written(row, slug));
        }
        if chunk.is_empty() {
            break;
        }
        done += chunk.len() as u64;
        store::update_rows(&mut tx, chunk).await?;
        progress.set_position(done);
    }
    store::mark_gone(&mut tx, gone, started_at).await?;
    for ein in gone {
        note(
            Ein::new(*ein)
                .context("a stored EIN has nine digits")?
                .nonprofit_id()
                .0,
        );
    }
    if is_bulk {
        store::drop_indexes(&mut tx).await?;
    }
    let mut chunks = new_slugs.chunks();
    while let Some(chunk) = chunks.recv().await {
        let chunk = chunk?;
        done += chunk.len() as u64;
        for row in &chunk {
            note(row.nonprofit.id);
        }
        store::insert_rows(&mut tx, chunk).await?;
        progress.set_position(done);
    }
    if is_bulk {
        wait_with_spinner("making indexes", store::make_indexes(&mut tx)).await?;
    }
    progress.finish();
    match is_large {
        true => store::forget_changes(&mut tx, raised).await?,
        false => store::note_changes(&mut tx, raised, &touched).await?,
    }
    store::insert_import(&mut tx, "irs", summary, started_at, importer.clock.millis()).await?;
    tx.commit()
        .await
        .context("the store did not take the import; make room on the disk and import again")
}

/// New rows in the order in which they were read, each with the slug that it got.
struct NewRows {
    spool: Option<RowFile>,
    slugs: Vec<Box<str>>,
    used_slugs: UsedSlugs,
}

fn choose_slugs(
    mut spool: RowFile,
    mut choosing: Vec<Choosing>,
    mut used_slugs: UsedSlugs,
) -> anyhow::Result<NewRows> {
    choosing.sort_unstable_by_key(|body| (std::cmp::Reverse(body.prominence), body.place));
    let mut slugs = vec![Box::default(); choosing.len()];
    for body in choosing {
        let slug = if used_slugs.claim(&body.first_choice) {
            body.first_choice
        } else {
            let row = spool.row_at(body.begins)?;
            let id = row.ein.nonprofit_id().0;
            let filed = Filing::read(&row.filed);
            let mut others = Slug::candidates(filed.name, filed.city, filed.state, Some(row.ein), id);
            let free = others.find(|slug| used_slugs.claim(slug.as_str()));
            free.context("no slug is free for a new nonprofit")?
                .as_str()
                .into()
        };
        slugs[body.place as usize] = slug;
    }
    Ok(NewRows {
        spool: Some(spool),
        slugs,
        used_slugs,
    })
}

impl NewRows {
    /// The rows in chunks, made ready on a thread of their own while the store writes the chunk before.
    fn chunks(&mut self) -> mpsc::Receiver<anyhow::Result<Vec<NonprofitWrite>>> {
        let (sender, receiver) = mpsc::channel(4);
        let spool = self.spool.take();
        let slugs = std::mem::take(&mut self.slugs);
        tokio::task::spawn_blocking(move || {
            let chunks = spool.map(|spool| send_chunks(spool, slugs, &sender));
            if let Some(Err(fault)) = chunks {
                let _ = sender.blocking_send(Err(fault.into()));
            }
        });
        receiver
    }
}

fn send_chunks(
    spool: RowFile,
    slugs: Vec<Box<str>>,
    sender: &mpsc::Sender<anyhow::Result<Vec<NonprofitWrite>>>,
) -> std::io::Result<()> {
    let mut rows = spool.rows()?.zip(slugs);
    loop {
        let chunk = rows
            .by_ref()
            .take(CHUNK)
            .map(|(row, slug)| Ok(written(row?, slug.into_string())));
        let chunk = chunk.collect::<std::io::Result<Vec<NonprofitWrite>>>()?;
        if chunk.is_empty() || sender.blocking_send(Ok(chunk)).is_err() {
            return Ok(());
        }
    }
}

/// The slug of a body whose row changed: the one it has, or a new one after a rename.
async fn slug_after(
    tx: &mut Tx,
    used_slugs: &mut UsedSlugs,
    row: &Row,
    known: &Known,
    shown: Option<&String>,
) -> anyhow::Result<String> {
    let filed = Filing::read(&row.filed);
    let name = shown.map_or(filed.name, String::as_str);
    if slugs::fits(&known.slug, name) {
        return Ok(known.slug.to_string());
    }
    let id = row.ein.nonprofit_id().0;
    for slug in Slug::candidates(name, filed.city, filed.state, Some(row.ein), id) {
        // A body that takes an old name again gets the slug again that was kept for it.
        if used_slugs.claim(slug.as_str()) || store::is_former_slug_of(tx, slug.as_str(), id).await? {
            store::keep_former_slug(tx, &known.slug, slug.as_str(), id).await?;
            return Ok(slug.as_str().to_owned());
        }
    }
    Ok(known.slug.to_string())
}

fn written(row: Row, slug: String) -> NonprofitWrite {
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
