//! `causeway import nonprofits`: imports JSON Lines that add to the IRS data of nonprofits, or add new nonprofits.
//!
//! Names, descriptions, websites, causes and pictures are stored in the profile, which an import of IRS files never changes.
//! Location, NTEE code and amounts are used only for nonprofits that are not in the IRS files.

use crate::demo::returns::{self, DemoReturn};
use crate::enrichment::{Change, Enrichment, EnrichmentReader};
use crate::files::lines::RejectedLine;
use crate::files::source::{Format, Source};
use crate::importer::Importer;
use crate::report::RejectedLines;
use crate::slugs;
use crate::summary::{ImportedFile, Summary};
use anyhow::{Context, bail};
use directory::history::imports::store as imports;
use directory::history::{self, MergedChanges};
use directory::nonprofits::bulk::store::{self, NonprofitWrite};
use directory::nonprofits::causes::Causes;
use directory::nonprofits::filing::Filing;
use directory::nonprofits::identifier::Identifier;
use directory::nonprofits::irs::IrsFacts;
use directory::nonprofits::rows::{Profile, StoredNonprofit};
use directory::nonprofits::slug::Slug;
use directory::nonprofits::sources::SourceId;
use directory::nonprofits::store::{find_profile, find_stored, upsert_profile};
use directory::nonprofits::web_url::is_data_url;
use platform::db::Tx;
use platform::hosted::Pictures;
use platform::ids::NonprofitId;
use platform::progress::{Progress, Unit};
use std::collections::BTreeMap;
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
        write(self, lines, Vec::new(), summary, rejected_lines).await
    }
}

/// A valid line and its position.
pub(crate) struct Line {
    file: String,
    /// The position of the file in the import.
    position: u16,
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

pub(crate) async fn read_lines(
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
            Err(rejected) => Err(rejected),
        };
        match hosted {
            Ok(entry) => lines.push(Line {
                file: name.to_owned(),
                position: summary.files.len() as u16 + 1,
                number: line,
                entry,
            }),
            Err(rejected) => rejected_lines.add(name, rejected),
        }
    }
    Ok(())
}

/// Stores the pictures in data URLs and replaces the URLs with hosted IDs. The inner error says what is wrong with a
/// picture.
///
/// Pictures are stored once, so it does no harm if the line is rejected later.
async fn host_pictures(
    pictures: &Pictures,
    mut entry: Enrichment,
) -> anyhow::Result<Result<Enrichment, String>> {
    let mut errors = Vec::new();
    for (field, picture) in [("logo", &mut entry.logo), ("cover", &mut entry.cover)] {
        let Change::Set(text) = picture else { continue };
        if !is_data_url(text) {
            continue;
        }
        match pictures.add_base64(None, text).await {
            Ok(hosted) => *text = hosted.id,
            Err(error) if error.is_unavailable() => {
                bail!("cannot store a picture; free disk space or check the blob store, and import again")
            }
            Err(error) => errors.push(format!("{field}: {error}")),
        }
    }
    Ok(if errors.is_empty() {
        Ok(entry)
    } else {
        Err(errors.join("; "))
    })
}

/// The result of applying one line.
enum Outcome {
    New(Uuid),
    Changed(Uuid),
    Unchanged,
    Rejected(String),
}

/// Applies the lines, and writes the returns of the demo directory.
pub(crate) async fn write(
    importer: &Importer<'_>,
    lines: Vec<Line>,
    returns: Vec<DemoReturn>,
    mut summary: Summary,
    mut rejected_lines: RejectedLines,
) -> anyhow::Result<Summary> {
    let started_at = importer.clock.millis();
    let (mut tx, revision) = imports::begin(importer.db).await?;
    summary.revision = revision;
    let mut progress = Progress::start("writing", lines.len() as u64, Unit::Rows);
    let mut changes = Vec::new();
    let mut history = History {
        is_first: !store::has_nonprofits(&mut tx).await?,
        changes: MergedChanges::default(),
        without_ein: BTreeMap::new(),
    };
    for (done, line) in (1..).zip(lines) {
        let source = SourceId {
            revision,
            position: line.position,
        };
        match apply(&mut tx, line.entry, importer.causes, source, &mut history).await? {
            Outcome::New(id) => {
                summary.new += 1;
                changes.push(id);
            }
            Outcome::Changed(id) => {
                summary.changed += 1;
                changes.push(id);
            }
            Outcome::Unchanged => summary.unchanged += 1,
            Outcome::Rejected(reason) => rejected_lines.add(
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
    returns::insert(&mut tx, revision, returns).await?;
    summary.refused = rejected_lines.count();
    summary.report = rejected_lines
        .write(importer.data, "nonprofits", started_at)
        .context("cannot write the report file; free disk space and import again")?;
    summary.validate(&rejected_lines)?;
    history::store::insert(&mut tx, revision, &history.changes.finish()).await?;
    history::store::insert_without_ein(&mut tx, revision, &history.without_ein).await?;
    if changes.len() > importer.overlay_limit {
        imports::remove_changes_before(&mut tx, revision).await?;
    } else {
        imports::insert_changes(&mut tx, revision, &changes).await?;
    }
    summary
        .record(&mut tx, "nonprofits", started_at, importer.clock.millis())
        .await?;
    tx.commit()
        .await
        .context("cannot commit the import; free disk space and import again")?;
    Ok(summary)
}

/// The changes that the import records.
struct History {
    /// Whether the directory was empty. Then everything is new, and nothing is recorded.
    is_first: bool,
    changes: MergedChanges,
    /// The nonprofits without an EIN, and whether each is new.
    without_ein: BTreeMap<Uuid, bool>,
}

impl History {
    fn add_new(&mut self, nonprofit: &StoredNonprofit) {
        if self.is_first {
            return;
        }
        match nonprofit.ein() {
            Some(ein) => self
                .changes
                .add(history::Change::event(ein.value(), history::ADDED)),
            None => {
                self.without_ein.insert(nonprofit.id, true);
            }
        }
    }

    fn add_changed(&mut self, rows: [&StoredNonprofit; 2], profiles: [&Profile; 2]) {
        let [before, after] = rows;
        if self.is_first {
            return;
        }
        let Some(ein) = after.ein() else {
            self.without_ein.entry(after.id).or_insert(false);
            return;
        };
        // Several lines can describe a new nonprofit.
        if self.changes.is_added(ein.value()) {
            return;
        }
        let mut changes = Vec::new();
        let (old, new) = (before.filing(), after.filing());
        history::compare_filings(ein.value(), "legalName", &old, &new, &mut changes);
        history::compare_profiles(ein.value(), profiles[0], profiles[1], &mut changes);
        if before.slug != after.slug {
            changes.push(history::Change {
                ein: ein.value(),
                field: history::SLUG,
                old: Some(before.slug.clone()),
                new: Some(after.slug.clone()),
            });
        }
        for change in changes {
            self.changes.add(change);
        }
    }
}

async fn apply(
    tx: &mut Tx,
    entry: Enrichment,
    causes: &Causes,
    source: SourceId,
    history: &mut History,
) -> anyhow::Result<Outcome> {
    if let Some(reason) = unknown_cause(&entry, causes) {
        return Ok(Outcome::Rejected(reason));
    }
    let id = match (entry.id, entry.ein) {
        (Some(id), None) => id,
        (None, Some(ein)) => ein.nonprofit_id().0,
        (Some(id), Some(ein)) if id == ein.nonprofit_id().0 => id,
        (Some(_), Some(_)) => {
            return Ok(Outcome::Rejected(
                "ein and id belong to different nonprofits; use only one of them".to_owned(),
            ));
        }
        (None, None) => {
            return Ok(Outcome::Rejected("ein or id is required".to_owned()));
        }
    };
    let stored = find_stored(tx, &Identifier::Id(NonprofitId(id))).await?;
    let before = find_profile(tx, id).await?;
    let Some(stored) = stored else {
        return insert(tx, id, entry, before, source, history).await;
    };
    let profile = updated_profile(id, before.clone(), &entry);
    let mut row = if stored.listed {
        stored.clone()
    } else {
        updated_row(stored.clone(), &entry)
    };
    let name = profile.name.as_deref().unwrap_or(row.filing().name).to_owned();
    if !slugs::matches_name(&row.slug, &name)
        && let Some(slug) = find_free_slug(tx, &name, &row).await?
    {
        store::insert_former_slug(tx, &row.slug, &slug, id).await?;
        row.slug = slug;
    }
    let is_profile_changed = before.as_ref().is_none_or(|before| *before != profile);
    if !is_profile_changed && row == stored {
        return Ok(Outcome::Unchanged);
    }
    history.add_changed([&stored, &row], [&before.unwrap_or_default(), &profile]);
    if row != stored {
        // With a digest of zero, the next import of IRS files rewrites the row if it lists the nonprofit.
        let digest = if stored.listed {
            store::find_digest(tx, id).await?
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
    upsert_profile(tx, &profile, source).await?;
    Ok(Outcome::Changed(id))
}

/// Inserts a nonprofit that is not in the store.
async fn insert(
    tx: &mut Tx,
    id: Uuid,
    entry: Enrichment,
    before: Option<Profile>,
    source: SourceId,
    history: &mut History,
) -> anyhow::Result<Outcome> {
    let Some(name) = entry.name.clone() else {
        let reason = "this nonprofit is not in the directory; set its name to add it".to_owned();
        return Ok(Outcome::Rejected(reason));
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
    let mut row = updated_row(row, &entry);
    row.slug = find_free_slug(tx, &name, &row)
        .await?
        .context("there is no free slug for a new nonprofit")?;
    history.add_new(&row);
    upsert_profile(tx, &updated_profile(id, before, &entry), source).await?;
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

async fn find_free_slug(tx: &mut Tx, name: &str, row: &StoredNonprofit) -> sqlx::Result<Option<String>> {
    let filing = row.filing();
    for slug in Slug::candidates(name, filing.city, filing.state, row.ein(), row.id) {
        let is_free = !store::is_slug_taken(tx, slug.as_str()).await?;
        if is_free || store::is_former_slug_of(tx, slug.as_str(), row.id).await? {
            return Ok(Some(slug.as_str().to_owned()));
        }
    }
    Ok(None)
}

/// Returns an error message if a line has a cause that does not exist.
fn unknown_cause(entry: &Enrichment, causes: &Causes) -> Option<String> {
    let unknown = match &entry.causes {
        Change::Set(names) => names.iter().find(|name| causes.find(name).is_none()),
        Change::Keep | Change::Clear => None,
    };
    unknown.map(|name| format!("there is no cause {name:?}; the causes are listed in data/causes.csv"))
}

fn updated_profile(id: Uuid, before: Option<Profile>, entry: &Enrichment) -> Profile {
    let before = before.unwrap_or_default();
    Profile {
        nonprofit_id: id,
        name: entry.name.clone().or(before.name),
        aliases: apply_change(before.aliases, &entry.aliases, |names| names.join("\n")),
        description: apply_change(before.description, &entry.description, String::clone),
        description_long: apply_change(before.description_long, &entry.description_long, String::clone),
        website_url: apply_change(before.website_url, &entry.website_url, String::clone),
        donate_url: apply_change(before.donate_url, &entry.donate_url, String::clone),
        stripe_account: apply_change(before.stripe_account, &entry.stripe_account, String::clone),
        causes: apply_change(before.causes, &entry.causes, |names| names.join(" ")),
        country: apply_change(before.country, &entry.country, String::clone),
        logo: apply_change(before.logo, &entry.logo, String::clone),
        cover: apply_change(before.cover, &entry.cover, String::clone),
        own: before.own,
    }
}

fn apply_change<T, U>(before: Option<U>, change: &Change<T>, convert: impl FnOnce(&T) -> U) -> Option<U> {
    match change {
        Change::Keep => before,
        Change::Clear => None,
        Change::Set(value) => Some(convert(value)),
    }
}

/// Applies changes to the row of a nonprofit that is not in the IRS files.
fn updated_row(row: StoredNonprofit, entry: &Enrichment) -> StoredNonprofit {
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
        facts: updated_facts(before.facts, entry),
        street: before.street,
    }
    .write(&mut filed);
    StoredNonprofit { filed, ..row }
}

fn updated_facts(before: Option<IrsFacts>, entry: &Enrichment) -> Option<IrsFacts> {
    let before = before.unwrap_or_default();
    let mut facts = IrsFacts {
        subsection: apply_change(Some(before.subsection), &entry.subsection, |code| *code)
            .unwrap_or_default(),
        ruling: apply_change(Some(before.ruling), &entry.ruling, |month| *month).unwrap_or_default(),
        deductibility: apply_change(Some(before.deductibility), &entry.deductible, |yes| {
            if *yes { 1 } else { 2 }
        })
        .unwrap_or_default(),
        revenue: apply_change(before.revenue, &entry.revenue, |dollars| *dollars),
        assets: apply_change(before.assets, &entry.assets, |dollars| *dollars),
        ..before
    };
    // The line states a paragraph of section 501(c), so the nonprofit counts as exempt.
    facts.status = u8::from(facts.subsection != 0);
    (facts != IrsFacts::default()).then_some(facts)
}
