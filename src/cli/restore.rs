//! `causeway restore`

use super::check;
use super::output::Output;
use crate::app::App;
use crate::config::Config;
use anyhow::{Context, bail};
use clap::Args;
use futures_util::{StreamExt, TryStreamExt, stream};
use giving::ledger::{self, anchors};
use platform::backup::archive::{ANCHOR_PREFIX, blob_name};
use platform::backup::hash::Fingerprint;
use platform::backup::{Archive, FileEntry, FileKind, LedgerFacts, Manifest};
use platform::blobs::Blobs;
use platform::data_folder;
use platform::db::Db;
use platform::progress::{Progress, Unit, wait_with_spinner};
use platform::text::hex;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The settings of the backup, in the data folder.
const SETTINGS: &str = "restored.toml";
/// Pictures that are read or written at once.
const CONCURRENT_COPIES: usize = 8;

#[derive(Args)]
#[command(after_help = "Example:\n  causeway restore /mnt/backup --data /var/lib/causeway")]
pub(super) struct Restore {
    /// The folder or bucket of the backup, as passed to causeway backup
    #[arg(value_name = "SRC")]
    source: String,
}

impl Restore {
    pub(super) async fn run(self, config: &Config, output: Output) -> anyhow::Result<()> {
        let archive = Archive::open(&self.source)?;
        let Some(manifest) = archive.find_manifest().await? else {
            bail!(
                "{} has no complete backup: manifest.json is missing, because the backup was interrupted or is elsewhere; \
                 run causeway backup again, or restore another backup",
                archive.place()
            );
        };
        Restoration::prepare(&archive, &manifest, config)
            .await?
            .run()
            .await?;
        let checked = check_restored(config, &manifest).await?;
        let settings = config.data.join(SETTINGS);
        let value = json!({
            "createdAt": manifest.created_at,
            "storeId": manifest.store_id,
            "ledger": manifest.ledger,
            "anchors": manifest.anchors().count(),
            "pictures": manifest.pictures().count(),
            "settings": settings,
            "check": checked,
        });
        output.print(&value, || {
            format!(
                "restored the state of {}: {} ledger entries, {} anchors and {} pictures, checked\n  \
                 its settings are in {}; compare them with yours, and start the server: causeway serve --data {}\n  \
                 erase again what donors asked you to forget since then: causeway donor forget",
                manifest.created_at,
                manifest.ledger.entries,
                manifest.anchors().count(),
                manifest.pictures().count(),
                settings.display(),
                config.data.display()
            )
        })
    }
}

/// A restore whose files are verified and whose target is empty.
pub(super) struct Restoration<'a> {
    archive: &'a Archive,
    manifest: &'a Manifest,
    config: &'a Config,
    blobs: Blobs,
    secret: Vec<u8>,
    settings: Vec<u8>,
    /// The copy of the store, in the data folder.
    store: PathBuf,
}

impl<'a> Restoration<'a> {
    /// Verifies every file of a backup, and that the target is empty.
    pub(super) async fn prepare(
        archive: &'a Archive,
        manifest: &'a Manifest,
        config: &'a Config,
    ) -> anyhow::Result<Restoration<'a>> {
        check_target(manifest, config).await?;
        let find = |kind| {
            manifest
                .find(kind)
                .context("the manifest lacks a file; restore another backup")
        };
        let secret = archive.read(find(FileKind::Secret)?).await?;
        let settings = archive.read(find(FileKind::Settings)?).await?;
        let pictures = manifest.pictures().chain(manifest.anchors());
        let pictures: Vec<FileEntry> = pictures.cloned().collect();
        for_each("verifying", pictures, |file| async move {
            archive.read(&file).await.map(|_| ())
        })
        .await?;
        data_folder::open(&config.data)?;
        let store = config.data.join("restoring.part");
        let fetched = async {
            let _ = fs::remove_file(&store);
            archive.fetch(find(FileKind::Store)?, &store).await
        };
        if let Err(error) = wait_with_spinner("copying the database", fetched).await {
            let _ = fs::remove_file(&store);
            return Err(error);
        }
        Ok(Restoration {
            archive,
            manifest,
            config,
            blobs: Blobs::open(&config.blobs_url, &config.data)?,
            secret,
            settings,
            store,
        })
    }

    /// Writes everything to its place, the store last: without it the target is not a store yet.
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let (archive, blobs, config) = (self.archive, &self.blobs, self.config);
        let pictures: Vec<FileEntry> = self.manifest.pictures().cloned().collect();
        for_each("pictures", pictures, |file| async move {
            let name = blob_name(&file.name);
            // Another store of blobs may still have it.
            let existing = blobs.find(name).await?.map(|bytes| Fingerprint::of(&bytes));
            if existing != Some(file.fingerprint()) {
                blobs.put(name, archive.read(&file).await?).await?;
            }
            Ok(())
        })
        .await?;
        for file in self.manifest.anchors() {
            let name = file.name.rsplit('/').next().unwrap_or_default();
            let name = name.strip_prefix(ANCHOR_PREFIX).unwrap_or(name);
            let name = format!("{}/{name}", anchors::folder(self.manifest.store_id));
            blobs.put_if_absent(&name, archive.read(file).await?).await?;
        }
        write_file(&config.secret_file, &self.secret)?;
        write_file(&config.data.join(SETTINGS), &self.settings)?;
        let restored = Db::restore(
            &config.data,
            &config.database,
            &self.manifest.database,
            &self.store,
        );
        wait_with_spinner("restoring the database", restored).await
    }
}

/// Checks a restored store, and that it is in the state that the manifest names.
pub(super) async fn check_restored(config: &Config, manifest: &Manifest) -> anyhow::Result<Value> {
    let app = App::build(config.clone()).await?;
    let checked = wait_with_spinner("checking", async {
        let mut tx = app.db.view().await?;
        let head = ledger::store::find_head(&mut tx).await?;
        drop(tx);
        let ledger = LedgerFacts {
            entries: head.entries,
            hash: hex(&head.hash),
        };
        if ledger != manifest.ledger {
            bail!(
                "the restored ledger ends at entry {}, but the manifest names entry {}; restore another backup",
                ledger.entries,
                manifest.ledger.entries
            );
        }
        check::check(&app, true).await
    })
    .await;
    app.db.close().await;
    let report = checked?;
    report.verdict.map(|()| report.value)
}

/// Fails unless the backup can be restored to what the settings name, which must be empty.
async fn check_target(manifest: &Manifest, config: &Config) -> anyhow::Result<()> {
    let (backup, target) = (manifest.database.kind(), config.database.kind());
    if backup != target {
        bail!(
            "the backup is of {}, and the settings name {}; restore it to {0} first, and then run causeway store copy",
            backup.name(),
            target.name()
        );
    }
    if manifest.migration > Db::newest_migration() {
        bail!(
            "the backup was made by a newer version of Causeway, {}; use that version",
            manifest.version
        );
    }
    Db::refuse_unless_absent(&config.data, &config.database).await?;
    for path in [&config.secret_file, &config.data.join(SETTINGS)] {
        if path.exists() {
            bail!(
                "{} exists, and a restore overwrites nothing; choose an empty folder with --data",
                path.display()
            );
        }
    }
    Ok(())
}

/// Runs work on several files at once, with a progress bar.
async fn for_each<F: Future<Output = anyhow::Result<()>>>(
    label: &'static str,
    files: Vec<FileEntry>,
    work: impl Fn(FileEntry) -> F,
) -> anyhow::Result<()> {
    let mut progress = Progress::start(label, files.len() as u64, Unit::Rows);
    let mut done = 0;
    let mut results = stream::iter(files).map(work).buffer_unordered(CONCURRENT_COPIES);
    while let Some(()) = results.try_next().await? {
        done += 1;
        progress.set_position(done);
    }
    progress.finish();
    Ok(())
}

/// Writes a file that does not exist yet, and syncs it.
fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let context = || format!("could not write {}", path.display());
    if let Some(folder) = path.parent() {
        data_folder::create_folder(folder).with_context(context)?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .with_context(context)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .with_context(context)
}
