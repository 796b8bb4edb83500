//! `causeway backup`

use super::output::Output;
use super::restore::{Restoration, check_restored};
use crate::config::Config;
use anyhow::{Context, bail};
use clap::Args;
use futures_util::{StreamExt, TryStreamExt, stream};
use giving::ledger;
use giving::ledger::anchors::AnchorSettings;
use giving::ledger::anchors::place::Place;
use platform::backup::archive::{ANCHOR_PREFIX, picture_name};
use platform::backup::hash::Fingerprint;
use platform::backup::store::LastBackup;
use platform::backup::{Archive, FileKind, LedgerFacts, Manifest, store};
use platform::blobs::Blobs;
use platform::clock::{Clock, rfc3339};
use platform::db::{Db, DumpFormat, ScratchDatabase, StoreFacts, Tx};
use platform::hosted;
use platform::progress::{Progress, Unit, wait_with_spinner};
use platform::secret::StoreSecret;
use platform::text::hex;
use secrecy::SecretString;
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write};
use uuid::Uuid;

/// Pictures that are copied at once.
const CONCURRENT_COPIES: usize = 8;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway backup /mnt/backup --data /var/lib/causeway --verify")]
pub(super) struct Backup {
    /// Where the backup is written: a folder, or s3://bucket/prefix?endpoint=…&region=…
    #[arg(value_name = "DEST")]
    destination: String,
    /// Restore the backup to a temporary place and check it there before it replaces the last one
    #[arg(long)]
    verify: bool,
}

/// What is read from the state of the store that a backup contains.
struct StoreState {
    facts: StoreFacts,
    ledger: LedgerFacts,
    /// The blobs of all pictures and their SHA-256.
    pictures: Vec<(String, String)>,
}

/// What happened to the pictures of a backup.
#[derive(Default)]
struct PictureCopies {
    copied: u64,
    skipped: u64,
}

impl Backup {
    /// Runs without an [`App`](crate::app::App), so that a damaged snapshot does not prevent a backup.
    pub(super) async fn run(self, config: &Config, settings: String, output: Output) -> anyhow::Result<()> {
        let clock = Clock::default();
        let db = Db::open(&config.data, &config.database).await?;
        let store_id = db.identity(clock.millis()).await?;
        StoreSecret::open(&db, &config.secret_file).await?;
        let archive = Archive::create(&self.destination).await?;
        let previous = archive.find_manifest().await?;
        if previous
            .as_ref()
            .is_some_and(|previous| previous.store_id != store_id)
        {
            bail!(
                "{} has the backup of another store; choose another destination",
                archive.place()
            );
        }
        let started_at = clock.millis();
        let copy = async {
            let (mut manifest, pictures) = copy_store(config, &db, &archive, started_at).await?;
            for (kind, name, bytes) in [
                (FileKind::Secret, "secret", fs::read(&config.secret_file)?),
                (FileKind::Settings, "settings.toml", settings.into_bytes()),
            ] {
                let name = format!("{}/{name}", manifest.id);
                manifest.add(kind, name.clone(), Fingerprint::of(&bytes));
                archive.put(&name, bytes).await?;
            }
            copy_anchors(config, &archive, &mut manifest).await?;
            let copies = copy_pictures(config, &archive, previous.as_ref(), pictures, &mut manifest).await?;
            anyhow::Ok((manifest, copies))
        };
        // Otherwise a server could remove an unused picture that the copy of the store has.
        let (manifest, copies) = match hosted::unused::wait_for_lease(&db).await? {
            Some(lease) => {
                let copied = lease.hold(copy).await;
                lease.release().await?;
                copied?
            }
            None => copy.await?,
        };
        let verified_at = if self.verify {
            verify(config, &archive, &manifest).await?;
            Some(clock.millis())
        } else {
            None
        };
        archive.publish(&manifest).await?;
        if let Some(previous) = &previous {
            archive.remove_replaced(previous, &manifest).await?;
        }
        let last = LastBackup {
            created_at: started_at,
            verified_at,
            destination: archive.place().to_owned(),
            bytes: manifest.bytes() as i64,
        };
        store::update(&db, &last).await?;
        db.close().await;
        print(output, &archive, &manifest, &copies, verified_at.is_some())?;
        if let [first, ..] = manifest.damaged_pictures.as_slice() {
            bail!(
                "the backup lacks {} pictures that are missing or damaged in the blob store, the first is {first}; \
                 restore them from an earlier backup, and run causeway check",
                manifest.damaged_pictures.len()
            );
        }
        Ok(())
    }
}

/// Copies the store to the archive, and starts the manifest.
async fn copy_store(
    config: &Config,
    db: &Db,
    archive: &Archive,
    now: i64,
) -> anyhow::Result<(Manifest, Vec<(String, String)>)> {
    let time = rfc3339(now);
    // Two backups of the same second must not write to the same folder.
    let random = Uuid::now_v7().simple().to_string();
    let id = format!("{}-{}", time[..19].replace([':', '-'], ""), &random[24..]);
    let name = format!("{id}/store.{}", config.database.kind().extension());
    let staged = archive.staging_path(&name, &config.data)?;
    let dump = db.dump(&config.database, &staged, async |tx| read_state(tx).await);
    let dumped = wait_with_spinner("copying the database", dump).await;
    let (format, state): (DumpFormat, StoreState) = match dumped {
        Ok(dumped) => dumped,
        Err(error) => {
            let _ = fs::remove_file(&staged);
            return Err(error);
        }
    };
    let fingerprint = archive.put_staged(&name, staged).await?;
    let mut manifest = Manifest::new(id, time, &state.facts, format, state.ledger);
    manifest.add(FileKind::Store, name, fingerprint);
    Ok((manifest, state.pictures))
}

async fn read_state(tx: &mut Tx) -> anyhow::Result<StoreState> {
    let head = ledger::store::find_head(tx).await?;
    let pictures = hosted::store::list_blobs(tx).await?;
    Ok(StoreState {
        facts: tx.store_facts().await?,
        ledger: LedgerFacts {
            entries: head.entries,
            hash: hex(&head.hash),
        },
        pictures: pictures
            .into_iter()
            .map(|(blob, hash)| (blob, hex(&hash)))
            .collect(),
    })
}

/// Copies the anchors of the entries that the copy of the store has, so that a restore elsewhere has them too. If they cannot be
/// read, the backup is complete without them, and says so.
async fn copy_anchors(config: &Config, archive: &Archive, manifest: &mut Manifest) -> anyhow::Result<()> {
    let blobs = Blobs::open(&config.blobs_url, &config.data)?;
    let places = Place::all(blobs, &config.blobs_url, &AnchorSettings::default(), &config.data);
    for place in places {
        let anchors = match place.list(manifest.store_id).await {
            Ok(anchors) => anchors,
            Err(error) => {
                let _ = writeln!(
                    io::stderr(),
                    "causeway: the backup does not contain the anchors of the ledger: {error:#}"
                );
                continue;
            }
        };
        for anchor in anchors {
            if anchor.entries <= manifest.ledger.entries {
                let name = format!("{}/{ANCHOR_PREFIX}{}", manifest.id, anchor.name().file_name());
                let bytes = anchor.to_json();
                manifest.add(FileKind::Anchor, name.clone(), Fingerprint::of(&bytes));
                archive.put(&name, bytes).await?;
            }
        }
    }
    Ok(())
}

/// Copies the pictures that the archive does not have yet.
async fn copy_pictures(
    config: &Config,
    archive: &Archive,
    previous: Option<&Manifest>,
    pictures: Vec<(String, String)>,
    manifest: &mut Manifest,
) -> anyhow::Result<PictureCopies> {
    let blobs = Blobs::open(&config.blobs_url, &config.data)?;
    let present: HashSet<String> = archive.list().await?;
    let known: HashMap<&str, Fingerprint> = previous
        .into_iter()
        .flat_map(Manifest::pictures)
        .map(|file| (file.name.as_str(), file.fingerprint()))
        .collect();
    let mut progress = Progress::start("pictures", pictures.len() as u64, Unit::Rows);
    let mut copies = PictureCopies::default();
    let mut copied = stream::iter(pictures)
        .map(|(blob, sha256)| {
            let (blobs, present, known) = (&blobs, &present, &known);
            async move {
                let name = picture_name(&blob);
                let outcome = copy_picture(archive, blobs, present, known, &blob, &name, &sha256).await?;
                anyhow::Ok((blob, name, outcome))
            }
        })
        .buffer_unordered(CONCURRENT_COPIES);
    let mut done = 0;
    while let Some((blob, name, outcome)) = copied.try_next().await? {
        match outcome {
            PictureOutcome::Copied(fingerprint) => {
                copies.copied += 1;
                manifest.add(FileKind::Picture, name, fingerprint);
            }
            PictureOutcome::Skipped(fingerprint) => {
                copies.skipped += 1;
                manifest.add(FileKind::Picture, name, fingerprint);
            }
            PictureOutcome::Damaged => manifest.damaged_pictures.push(blob),
        }
        done += 1;
        progress.set_position(done);
    }
    progress.finish();
    Ok(copies)
}

enum PictureOutcome {
    Copied(Fingerprint),
    /// The archive has it.
    Skipped(Fingerprint),
    /// It is missing in the blob store, or its hash is wrong.
    Damaged,
}

async fn copy_picture(
    archive: &Archive,
    blobs: &Blobs,
    present: &HashSet<String>,
    known: &HashMap<&str, Fingerprint>,
    blob: &str,
    name: &str,
    sha256: &str,
) -> anyhow::Result<PictureOutcome> {
    if present.contains(name) {
        let kept = match known.get(name) {
            Some(fingerprint) => Some(fingerprint.clone()),
            // Copied by a backup that was interrupted.
            None => archive.find(name).await?.map(|bytes| Fingerprint::of(&bytes)),
        };
        if let Some(kept) = kept.filter(|kept| kept.sha256 == sha256) {
            return Ok(PictureOutcome::Skipped(kept));
        }
    }
    let bytes = blobs
        .find(blob)
        .await
        .with_context(|| format!("could not read the picture {blob}"))?;
    let Some(bytes) = bytes else {
        return Ok(PictureOutcome::Damaged);
    };
    let fingerprint = Fingerprint::of(&bytes);
    if fingerprint.sha256 != sha256 {
        return Ok(PictureOutcome::Damaged);
    }
    archive.put(name, bytes).await?;
    Ok(PictureOutcome::Copied(fingerprint))
}

/// Restores the backup to a temporary folder, and to a temporary database on the same PostgreSQL server, and checks it.
async fn verify(config: &Config, archive: &Archive, manifest: &Manifest) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new()
        .prefix("verify-")
        .tempdir_in(&config.data)
        .context("could not create a folder to verify the backup")?;
    let data = folder.path().join("data");
    let scratch = match config.database.exposed_url() {
        Some(url) => Some(ScratchDatabase::create(url).await?),
        None => None,
    };
    let mut restored = config.clone();
    restored.secret_file = data.join(platform::secret::FILE_NAME);
    restored.data = data;
    restored.blobs_url = String::new();
    // Newer anchors there would be taken for a loss.
    restored.anchors.second_url = String::new();
    restored.database.url = scratch
        .as_ref()
        .map(|scratch| SecretString::from(scratch.url.as_str()));
    let verified = async {
        Restoration::prepare(archive, manifest, &restored)
            .await?
            .run()
            .await?;
        check_restored(&restored, manifest).await
    };
    let verified = verified
        .await
        .context("the backup is not usable, and the last one was kept");
    if let Some(scratch) = scratch {
        scratch.remove().await?;
    }
    verified.map(|_| ())
}

fn print(
    output: Output,
    archive: &Archive,
    manifest: &Manifest,
    copies: &PictureCopies,
    is_verified: bool,
) -> anyhow::Result<()> {
    let value = json!({
        "destination": archive.place(),
        "createdAt": manifest.created_at,
        "storeId": manifest.store_id,
        "ledger": manifest.ledger,
        "bytes": manifest.bytes(),
        "anchors": manifest.anchors().count(),
        "pictures": manifest.pictures().count(),
        "picturesCopied": copies.copied,
        "picturesSkipped": copies.skipped,
        "damagedPictures": manifest.damaged_pictures,
        "verified": is_verified,
    });
    output.print(&value, || {
        let verified = if is_verified { ", restored and checked" } else { "" };
        format!(
            "backup of {} in {}: {} ledger entries, {} pictures ({} copied), {:.1} MB{verified}\n  \
             it contains the secret of the store and email addresses; protect it like a password",
            manifest.created_at,
            archive.place(),
            manifest.ledger.entries,
            manifest.pictures().count(),
            copies.copied,
            manifest.bytes() as f64 / 1e6
        )
    })
}
