//! Imports of the lists of good standing, and what follows an import that changed the directory.

use crate::app::App;
use directory::eligibility::store::StandingList;
use ingest::Summary;
use std::path::PathBuf;

/// Imports a list, and compares its names with the current directory.
pub(super) async fn import_standing(
    app: &App,
    list: StandingList,
    files: &[PathBuf],
    force: bool,
) -> anyhow::Result<Summary> {
    app.refresh_directory().await?;
    let view = app.directory.view();
    let recording = app.recording(&view);
    let importer = app.importer();
    importer.import_standing(list, files, force, &recording).await
}

/// Compares the names of rows without an EIN with the directory that an import changed, and records the verdicts that the
/// files of the IRS changed.
pub(super) async fn follow_directory(app: &App) -> anyhow::Result<()> {
    app.refresh_directory().await?;
    let view = app.directory.view();
    app.importer().pair_names(&app.recording(&view)).await?;
    app.record_verdicts().await
}
