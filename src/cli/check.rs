//! `causeway check`

use super::output::Output;
use crate::app::App;
use anyhow::bail;
use platform::hosted;
use serde_json::json;

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
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
        "differences": differences,
    });
    output.print(&value, || {
        format!(
            "checked {} nonprofits and {} pictures against the database\n\
             checked {} ledger entries and {} fundraisers",
            directory.nonprofits, pictures.pictures, ledger.entries, ledger.fundraisers
        )
    })?;
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
