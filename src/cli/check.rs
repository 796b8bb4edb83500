//! `causeway check`

use super::output::Output;
use crate::app::App;
use anyhow::bail;
use directory::check::check;
use giving;
use platform::hosted;
use serde_json::json;

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
    let integrity = app.db.check_integrity().await;
    let journal = match giving::check::check(&app.db).await {
        Ok(journal) => journal,
        // A file that cannot be read says more of itself than the reader does.
        Err(fault) => return Err(integrity.err().unwrap_or_else(|| fault.into())),
    };
    let overlay_limit = app.config.directory.overlay_limit;
    let proof = check(&app.directory, &app.db, overlay_limit).await?;
    let mut pictures = hosted::check::check(&app.pictures).await?;
    pictures
        .differences
        .extend(giving::check::list_lost_covers(&app.db).await?);
    let differences: Vec<&String> = journal
        .errors
        .iter()
        .chain(&proof.differences)
        .chain(&pictures.differences)
        .collect();
    let value = json!({
        "nonprofits": proof.nonprofits,
        "pictures": pictures.pictures,
        "entries": journal.entries,
        "fundraisers": journal.fundraisers,
        "differences": differences,
    });
    output.say(&value, || {
        format!(
            "{} nonprofits and {} pictures proved against the store\n\
             {} entries of the journal and {} fundraisers proved",
            proof.nonprofits, pictures.pictures, journal.entries, journal.fundraisers
        )
    })?;
    if let [first, ..] = journal.errors.as_slice() {
        bail!(
            "the journal is damaged in {} places, first: {first}; \
             stop writing to it, and put it back from a backup",
            journal.errors.len()
        );
    }
    integrity?;
    if let [first, ..] = pictures.differences.as_slice() {
        bail!(
            "{} pictures are broken, first: {first}; put them back from a backup",
            pictures.differences.len()
        );
    }
    match proof.differences.as_slice() {
        [] => Ok(()),
        [first, ..] => bail!(
            "the directory differs from the store in {} places, first: {first}; \
             remove the snapshots in {} and start the server, which builds them anew",
            proof.differences.len(),
            app.config.data.join("directory").display()
        ),
    }
}
