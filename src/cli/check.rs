//! `causeway check`

use super::output::Output;
use crate::app::App;
use anyhow::bail;
use directory::check::CheckReport as DirectoryCheck;
use giving::check::LedgerCheck;
use giving::ledger::entry::Totals;
use platform::hosted::{self, check::PictureCheck};
use serde_json::{Value, json};

/// What a check found.
pub struct CheckReport {
    pub value: Value,
    pub text: String,
    /// The most important difference.
    pub verdict: anyhow::Result<()>,
}

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
    let report = check(app).await?;
    output.print(&report.value, || report.text)?;
    report.verdict
}

/// Checks everything, without printing anything.
pub async fn check(app: &App) -> anyhow::Result<CheckReport> {
    let integrity = app.db.check_integrity().await;
    let ledger = match giving::check::check(&app.db).await {
        Ok(ledger) => ledger,
        // If the database file is damaged, the integrity check has the better error message.
        Err(error) => return Err(integrity.err().unwrap_or_else(|| error.into())),
    };
    let overlay_limit = app.config.directory.overlay_limit;
    let directory = directory::check::check(&app.directory, &app.db, overlay_limit).await?;
    let mut pictures = hosted::check::check(&app.pictures).await?;
    pictures
        .differences
        .extend(giving::check::list_lost_covers(&app.db).await?);
    let differences: Vec<&String> = ledger
        .errors
        .iter()
        .chain(&directory.differences)
        .chain(&pictures.differences)
        .collect();
    let value = json!({
        "nonprofits": directory.nonprofits,
        "pictures": pictures.pictures,
        "entries": ledger.entries,
        "fundraisers": ledger.fundraisers,
        "totals": { "live": totals(ledger.live), "liveAndTest": totals(ledger.live_and_test) },
        "differences": differences,
    });
    let text = format!(
        "checked {} nonprofits and {} pictures against the database\n\
         checked {} ledger entries and {} fundraisers\n\
         checked the totals of fundraisers: {} live, {} live and test",
        directory.nonprofits,
        pictures.pictures,
        ledger.entries,
        ledger.fundraisers,
        ledger.live.raised,
        ledger.live_and_test.raised
    );
    let verdict = verdict(app, integrity, &ledger, &pictures, &directory);
    Ok(CheckReport { value, text, verdict })
}

fn verdict(
    app: &App,
    integrity: anyhow::Result<()>,
    ledger: &LedgerCheck,
    pictures: &PictureCheck,
    directory: &DirectoryCheck,
) -> anyhow::Result<()> {
    if let [first, ..] = ledger.errors.as_slice() {
        bail!(
            "the ledger has {} errors, the first is: {first}; stop the server and restore the database from a backup",
            ledger.errors.len()
        );
    }
    integrity?;
    if let [first, ..] = pictures.differences.as_slice() {
        bail!(
            "{} pictures are damaged, the first is: {first}; restore them from a backup",
            pictures.differences.len()
        );
    }
    match directory.differences.as_slice() {
        [] => Ok(()),
        [first, ..] => bail!(
            "the directory differs from the database in {} places, the first is: {first}; \
             remove the snapshots in {} and start the server, which builds new ones",
            directory.differences.len(),
            app.config.data.join("directory").display()
        ),
    }
}

fn totals(totals: Totals) -> Value {
    json!({ "raised": totals.raised.get(), "supporters": totals.supporters })
}
