//! `causeway import nonprofits`: JSON Lines that say more of a nonprofit than the IRS does, or add new bodies.
//!
//! Names, descriptions, websites, causes and pictures go into the profile, which an import of the IRS files never
//! touches. Place, NTEE code and amounts are taken only for bodies that no file of the IRS names.

use super::enrichment::{Change, Enrichment, EnrichmentReader, is_inline};
use super::importer::Importer;
use super::lines::RejectedLine;
use super::progress::{Progress, Unit};
use super::report::RejectedLines;
use super::slugs;
use super::source::{Format, Source};
use super::store::{self, NonprofitWrite};
use super::summary::{ImportedFile, Summary};
use crate::nonprofits::causes::Causes;
use crate::nonprofits::filing::Filing;
use crate::nonprofits::identifier::Identifier;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::rows::{Profile, StoredNonprofit};
use crate::nonprofits::slug::Slug;
use crate::nonprofits::store::{find_profile, find_stored, upsert_profile};
use anyhow::{Context, bail};
use platform::db::{Tx, run};
use platform::hosted::Pictures;
use platform::ids::NonprofitId;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use uuid::Uuid;

impl Importer<'_> {
    /// Imports JSON Lines files.
    pub async fn import_nonprofits(&self, files: &[PathBuf]) -> anyhow::Result<Summary> {
        let mut lines = Vec::new();
        let mut summary = Summary::default();
        let mut rejected_lines = RejectedLines::default();
        for path in files {
            read_file(self, path, &mut lines, &mut summary, &mut rejected_lines).await?;
        }
        write(self, lines, summary, rejected_lines).await
    }

    /// Loads the demo directory that comes with the program.
    pub async fn import_demo(&self) -> anyhow::Result<Summary> {
        const DEMO: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/demo.jsonl"));
        let mut lines = Vec::new();
        let mut summary = Summary::default();
        let mut rejected_lines = RejectedLines::default();
        let reader = EnrichmentReader::new(Cursor::new(DEMO), "the demo directory");
        read_lines(
            self,
            "the demo directory",
            reader,
            &mut lines,
            &mut summary,
            &mut rejected_lines,
        )
        .await?;
        summary.files.push(ImportedFile {
            name: "the demo directory".to_owned(),
            sha256: String::new(),
            lines: summary.lines,
        });
        write(self, lines, summary, rejected_lines).await
    }
}

/// A line that could be read, and where it stood.
struct Line {
    file: String,
    number: u64,
    entry: Enrichment,
}

async fn read_file(
    importer: &Importer<'_>,
    path: &Path,
    lines: &mut Vec<Line>,
    summary: &mut Summary,
    rejected_lines: &mut RejectedLines,
) -> anyhow::Result<()> {
    let mut source = Source::open(path, Format::JsonLines)?;
    let before = summary.lines;
    while let Some(part) = source.next_part()? {
        let name = part.name.clone();
        let reader = EnrichmentReader::new(part, name.clone());
        read_lines(importer, &name, reader, lines, summary, rejected_lines).await?;
    }
    let (name, sha256) = (path.display().to_string(), source.finish()?);
    summary.files.push(ImportedFile {
        name,
        sha256,
        lines: summary.lines - before,
    });
    Ok(())
}

async fn read_lines(
    importer: &Importer<'_>,
    name: &str,
    mut reader: EnrichmentReader<impl std::io::BufRead>,
    lines: &mut Vec<Line>,
    summary: &mut Summary,
    rejected_lines: &mut RejectedLines,
) -> anyhow::Result<()> {
    while let Some(entry) = reader.next_entry()? {
        summary.lines += 1;
        let line = reader.line();
        let hosted = match entry {
            Ok(entry) => host_pictures(importer.pictures, entry)
                .await?
                .map_err(|reason| RejectedLine { line, reason }),
            Err(refused) => Err(refused),
        };
        match hosted {
            Ok(entry) => lines.push(Line {
                file: name.to_owned(),
                number: line,
                entry,
            }),
            Err(refused) => rejected_lines.add(name, refused),
        }
    }
    Ok(())
}

/// Takes in the pictures that stand in a line themselves and puts their hosted ids in their place, or tells why a
/// picture is none. They have rows of their own and are stored once, so it does no harm if the line comes to nothing.
async fn host_pictures(
    pictures: &Pictures,
    mut entry: Enrichment,
) -> anyhow::Result<Result<Enrichment, String>> {
    let mut faults = Vec::new();
    for (field, picture) in [("logo", &mut entry.logo), ("cover", &mut entry.cover)] {
        let Change::Set(text) = picture else { continue };
        if !is_inline(text) {
            continue;
        }
        match pictures.add_base64(text).await {
            Ok(hosted) => *text = hosted.id,
            Err(fault) if fault.is_unavailable() => {
                bail!("a picture could not be stored; make room on the disk and import again")
            }
            Err(fault) => faults.push(format!("{field}: {fault}")),
        }
    }
    Ok(match faults.is_empty() {
        true => Ok(entry),
        false => Err(faults.join("; ")),
    })
}

/// What became of one line.
enum Outcome {
    New(Uuid),
    Changed(Uuid),
    Unchanged,
    Refused(String),
}

async fn write(
    importer: &Importer<'_>,
    lines: Vec<Line>,
    mut summary: Summary,
    mut rejected_lines: RejectedLines,
) -> anyhow::Result<Summary> {
    let started_at = importer.clock.millis();
    let (mut tx, revision) = store::begin(importer.db).await?;
    summary.revision = revision;
    let mut progress = Progress::start("writing", lines.len() as u64, Unit::Rows);
    let mut touched = Vec::new();
    for (done, line) in (1..).zip(lines) {
        match apply(&mut tx, line.entry, importer.causes).await? {
            Outcome::New(id) => {
                summary.new += 1;
                touched.push(id);
            }
            Outcome::Changed(id) => {
                summary.changed += 1;
                touched.push(id);
            }
            Outcome::Unchanged => summary.unchanged += 1,
            Outcome::Refused(reason) => rejected_lines.add(
                &line.file,
                RejectedLine {
                    line: line.number,
                    reason,
                },
            ),
        }
        progress.set_position(done);
    }
    progress.finish();
    summary.refused = rejected_lines.count();
    summary.report = rejected_lines
        .write(importer.data, "nonprofits", started_at)
        .context("the report file cannot be written; make room on the disk and import again")?;
    summary.admit(&rejected_lines)?;
    match touched.len() > importer.overlay_limit {
        true => store::forget_changes(&mut tx, revision).await?,
        false => store::note_changes(&mut tx, revision, &touched).await?,
    }
    store::insert_import(
        &mut tx,
        "nonprofits",
        &summary,
        started_at,
        importer.clock.millis(),
    )
    .await?;
    tx.commit()
        .await
        .context("the store did not take the import; make room on the disk and import again")?;
    Ok(summary)
}

async fn apply(tx: &mut Tx, entry: Enrichment, causes: &Causes) -> anyhow::Result<Outcome> {
    if let Some(reason) = fault(&entry, causes) {
        return Ok(Outcome::Refused(reason));
    }
    let id = match (entry.id, entry.ein) {
        (Some(id), None) => id,
        (None, Some(ein)) => ein.nonprofit_id().0,
        (Some(id), Some(ein)) if id == ein.nonprofit_id().0 => id,
        (Some(_), Some(_)) => {
            return Ok(Outcome::Refused(
                "ein and id name two different nonprofits; send one".to_owned(),
            ));
        }
        (None, None) => {
            return Ok(Outcome::Refused(
                "neither ein nor id is there; send one".to_owned(),
            ));
        }
    };
    let stored = find_stored(tx, &Identifier::Id(NonprofitId(id))).await?;
    let before = find_profile(tx, id).await?;
    let Some(stored) = stored else {
        return add(tx, id, entry, before).await;
    };
    let profile = profile_after(id, before.clone(), &entry);
    let mut row = match stored.listed {
        true => stored.clone(),
        false => row_after(stored.clone(), &entry),
    };
    let shown = profile.name.as_deref().unwrap_or(row.filing().name).to_owned();
    if !slugs::fits(&row.slug, &shown)
        && let Some(slug) = free_slug(tx, &shown, &row).await?
    {
        store::keep_former_slug(tx, &row.slug, &slug, id).await?;
        row.slug = slug;
    }
    let is_new_profile = before.as_ref().is_none_or(|before| *before != profile);
    if !is_new_profile && row == stored {
        return Ok(Outcome::Unchanged);
    }
    if row != stored {
        // A digest of zero makes the next import of the IRS files write the row anew, should they name it.
        let digest = if stored.listed {
            digest_of(tx, id).await?
        } else {
            0
        };
        store::update_rows(
            tx,
            vec![NonprofitWrite {
                nonprofit: row,
                digest,
            }],
        )
        .await?;
    }
    upsert_profile(tx, &profile).await?;
    Ok(Outcome::Changed(id))
}

async fn digest_of(tx: &mut Tx, id: Uuid) -> sqlx::Result<i64> {
    run!(tx, c => sqlx::query_scalar("select digest from nonprofits where id = $1").bind(id).fetch_one(c).await)
}

/// Adds a body that the store does not have.
async fn add(tx: &mut Tx, id: Uuid, entry: Enrichment, before: Option<Profile>) -> anyhow::Result<Outcome> {
    let Some(name) = entry.name.clone() else {
        let reason = "no such nonprofit is known; send its name to add it".to_owned();
        return Ok(Outcome::Refused(reason));
    };
    let mut filed = String::new();
    Filing {
        name: &name,
        ..Filing::default()
    }
    .write(&mut filed);
    let ein = entry.ein.map(|ein| i64::from(ein.value()));
    let row = StoredNonprofit {
        id,
        ein,
        slug: String::new(),
        filed,
        listed: false,
        gone_at: None,
    };
    let mut row = row_after(row, &entry);
    row.slug = free_slug(tx, &name, &row)
        .await?
        .context("no slug is free for a new nonprofit")?;
    upsert_profile(tx, &profile_after(id, before, &entry)).await?;
    store::insert_rows(
        tx,
        vec![NonprofitWrite {
            nonprofit: row,
            digest: 0,
        }],
    )
    .await?;
    Ok(Outcome::New(id))
}

async fn free_slug(tx: &mut Tx, name: &str, row: &StoredNonprofit) -> sqlx::Result<Option<String>> {
    let filed = row.filing();
    for slug in Slug::candidates(name, filed.city, filed.state, row.ein(), row.id) {
        let is_free = !store::is_slug_taken(tx, slug.as_str()).await?;
        if is_free || store::is_former_slug_of(tx, slug.as_str(), row.id).await? {
            return Ok(Some(slug.as_str().to_owned()));
        }
    }
    Ok(None)
}

/// What is wrong with a line beyond its form.
fn fault(entry: &Enrichment, causes: &Causes) -> Option<String> {
    let unknown = match &entry.causes {
        Change::Set(names) => names.iter().find(|name| causes.find(name).is_none()),
        Change::Keep | Change::Clear => None,
    };
    unknown.map(|name| format!("there is no cause {name:?}; data/causes.csv lists them"))
}

fn profile_after(id: Uuid, before: Option<Profile>, entry: &Enrichment) -> Profile {
    let before = before.unwrap_or_default();
    Profile {
        nonprofit_id: id,
        name: entry.name.clone().or(before.name),
        aliases: after(before.aliases, &entry.aliases, |names| names.join("\n")),
        description: after(before.description, &entry.description, String::clone),
        description_long: after(before.description_long, &entry.description_long, String::clone),
        website_url: after(before.website_url, &entry.website_url, String::clone),
        donate_url: after(before.donate_url, &entry.donate_url, String::clone),
        causes: after(before.causes, &entry.causes, |names| names.join(" ")),
        country: after(before.country, &entry.country, String::clone),
        logo: after(before.logo, &entry.logo, String::clone),
        cover: after(before.cover, &entry.cover, String::clone),
    }
}

fn after<T, U>(before: Option<U>, change: &Change<T>, to: impl FnOnce(&T) -> U) -> Option<U> {
    match change {
        Change::Keep => before,
        Change::Clear => None,
        Change::Set(value) => Some(to(value)),
    }
}

/// The row of a body that the files of the IRS do not name.
fn row_after(row: StoredNonprofit, entry: &Enrichment) -> StoredNonprofit {
    fn text<'a>(before: &'a str, change: &'a Change<String>) -> &'a str {
        match change {
            Change::Keep => before,
            Change::Clear => "",
            Change::Set(text) => text,
        }
    }
    let before = row.filing();
    let mut filed = String::new();
    Filing {
        name: match &entry.legal_name {
            Change::Set(name) => name,
            Change::Keep | Change::Clear => before.name,
        },
        chapter: before.chapter,
        city: text(before.city, &entry.city),
        state: text(before.state, &entry.state),
        zip: text(before.zip, &entry.zip),
        ntee: text(before.ntee, &entry.ntee_code),
        facts: facts_after(before.facts, entry),
    }
    .write(&mut filed);
    StoredNonprofit { filed, ..row }
}

fn facts_after(before: Option<IrsFacts>, entry: &Enrichment) -> Option<IrsFacts> {
    let before = before.unwrap_or_default();
    let mut facts = IrsFacts {
        subsection: after(Some(before.subsection), &entry.subsection, |code| *code).unwrap_or_default(),
        ruling: after(Some(before.ruling), &entry.ruling, |month| *month).unwrap_or_default(),
        deductibility: after(Some(before.deductibility), &entry.deductible, |yes| {
            if *yes { 1 } else { 2 }
        })
        .unwrap_or_default(),
        revenue: after(before.revenue, &entry.revenue, |dollars| *dollars),
        assets: after(before.assets, &entry.assets, |dollars| *dollars),
        ..before
    };
    // It says that it is exempt under this paragraph, so its exemption stands.
    facts.status = u8::from(facts.subsection != 0);
    (facts != IrsFacts::default()).then_some(facts)
}
