//! `causeway store`

use super::check;
use super::output::Output;
use crate::app::App;
use crate::config::Config;
use anyhow::{Context, bail};
use clap::Subcommand;
use giving::ledger;
use platform::blobs::Blobs;
use platform::db::{Db, StoreFacts, TableContent, Tx};
use platform::progress::{Progress, Unit, wait_with_spinner};
use platform::{data_folder, hosted, secret};
use secrecy::SecretString;
use serde_json::json;
use std::fs;
use std::path::Path;

#[derive(Subcommand)]
pub(super) enum Store {
    /// Copy the store to another database, for example from SQLite to PostgreSQL; stop all servers first
    #[command(
        after_help = "Example:\n  causeway store copy --data /var/lib/causeway --to postgres://user:password@db.example.org/causeway"
    )]
    Copy {
        /// An empty database, postgres://user:password@host/database, or a data folder for SQLite
        #[arg(long, value_name = "URL")]
        to: String,
    },
}

/// What tells whether a store has changed.
#[derive(PartialEq, Eq)]
struct StoreState {
    facts: StoreFacts,
    entries: i64,
    events: i64,
}

impl Store {
    pub(super) async fn run(self, config: Config, output: Output) -> anyhow::Result<()> {
        let Store::Copy { to } = self;
        let target = target_config(&config, &to)?;
        let source = App::build(config).await?;
        let outcome = copy(&source, &target, &to, output).await;
        source.db.close().await;
        outcome
    }
}

/// Returns the settings with which a server would use the copy.
fn target_config(config: &Config, to: &str) -> anyhow::Result<Config> {
    let mut target = config.clone();
    if to.starts_with("postgres://") || to.starts_with("postgresql://") {
        if config.database.exposed_url() == Some(to) {
            bail!("the store is already in this database; choose another one with --to");
        }
        target.database.url = Some(SecretString::from(to));
        return Ok(target);
    }
    if to.contains("://") {
        bail!("--to is neither a PostgreSQL URL nor a folder; write postgres://user:password@host/database");
    }
    target.data = to.into();
    target.database.url = None;
    if is_same_folder(&target.data, &config.data) {
        if config.database.url.is_none() {
            bail!("the store is already in this folder; choose another one with --to");
        }
    } else if is_same_folder(&config.secret_file, &config.data.join(secret::FILE_NAME)) {
        target.secret_file = target.data.join(secret::FILE_NAME);
    }
    Ok(target)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let canonical = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path)).ok();
    canonical(one) == canonical(other)
}

async fn copy(source: &App, target: &Config, to: &str, output: Output) -> anyhow::Result<()> {
    let report = wait_with_spinner("checking the source", check::check(source, true)).await?;
    report
        .verdict
        .context("the store was not copied, because it is damaged")?;
    let db = Db::open(&target.data, &target.database).await?;
    let copied = copy_tables(source, &db).await;
    db.close().await;
    let (contents, state) = copied?;
    copy_files(source, target).await?;
    let app = App::build(target.clone()).await?;
    let report = wait_with_spinner("checking the copy", check::check(&app, true)).await;
    app.db.close().await;
    report?.verdict.context("the copy is damaged")?;
    let has_changed = read_state(&mut source.db.view().await?).await? != state;
    let rows: u64 = contents.iter().map(|table| table.rows).sum();
    let tables = contents
        .iter()
        .map(|table| json!({"name": table.name, "rows": table.rows, "sha256Sum": table.hash()}));
    let tables: Vec<_> = tables.collect();
    let place = if target.database.url.is_some() {
        "PostgreSQL"
    } else {
        to
    };
    output.print(
        &json!({"rows": rows, "tables": tables, "sourceChanged": has_changed}),
        || {
            let next = if target.database.url.is_some() {
                "set database_url to the new database"
            } else {
                "remove database_url and set data to the new folder"
            };
            format!(
                "copied {rows} rows of {} tables to {place}; both are checked and equal\n  {next} on every server and start \
                 them; then remove the old database",
                tables.len()
            )
        },
    )?;
    if has_changed {
        bail!(
            "the store changed while it was copied, and the copy lacks these changes; stop all servers, empty the target \
             and copy again"
        );
    }
    Ok(())
}

/// Copies all rows, reads them back and compares them.
async fn copy_tables(source: &App, target: &Db) -> anyhow::Result<(Vec<TableContent>, StoreState)> {
    target.refuse_unless_new().await?;
    let total = source.db.count_rows().await?;
    let mut progress = Progress::start("copying", total, Unit::Rows);
    let (contents, state) = source
        .db
        .copy_to(target, &mut |rows| progress.set_position(rows), async |tx| {
            read_state(tx).await
        })
        .await?;
    progress.finish();
    let mut progress = Progress::start("comparing", total, Unit::Rows);
    let written = target
        .hash_tables(&mut |rows| progress.set_position(rows))
        .await?;
    progress.finish();
    if let Some((table, _)) = contents.iter().zip(&written).find(|(one, other)| one != other) {
        bail!(
            "the table {} differs in the copy; nothing was changed in the source, so empty the target and try again",
            table.name
        );
    }
    Ok((contents, state))
}

async fn read_state(tx: &mut Tx) -> anyhow::Result<StoreState> {
    let head = ledger::store::find_head(tx).await?;
    Ok(StoreState {
        facts: tx.store_facts().await?,
        entries: head.entries,
        events: head.events,
    })
}

/// Copies the secret and the pictures to a data folder that does not have them yet.
async fn copy_files(source: &App, target: &Config) -> anyhow::Result<()> {
    let config = &source.config;
    if !is_same_folder(&config.secret_file, &target.secret_file) {
        let bytes = fs::read(&config.secret_file)?;
        let write = |path: &Path| {
            use std::io::Write;
            let mut file = data_folder::open_file(path)?;
            file.set_len(0)?;
            file.write_all(&bytes)?;
            file.sync_all()
        };
        write(&target.secret_file)
            .with_context(|| format!("could not write the secret {}", target.secret_file.display()))?;
    }
    if !config.blobs_url.is_empty() || is_same_folder(&config.data, &target.data) {
        return Ok(());
    }
    let (from, to) = (
        Blobs::open(&config.blobs_url, &config.data)?,
        Blobs::open(&target.blobs_url, &target.data)?,
    );
    source.giving.anchors.copy_to(&to, i64::MAX).await?;
    let pictures = hosted::store::list_blobs(&mut source.db.view().await?).await?;
    let mut progress = Progress::start("pictures", pictures.len() as u64, Unit::Rows);
    for (done, (blob, _)) in (1..).zip(&pictures) {
        let bytes = from.find(blob).await?;
        let bytes = bytes.with_context(|| format!("the picture {blob} is missing; run causeway check"))?;
        to.put(blob, bytes).await?;
        progress.set_position(done);
    }
    progress.finish();
    Ok(())
}
