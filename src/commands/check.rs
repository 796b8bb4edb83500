//! `causeway check`

use super::Output;
use anyhow::bail;
use causeway::app::App;
use causeway::directory::proof::prove;
use causeway::donations::journal::proof;
use serde_json::json;

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
    let journal = proof::prove(app).await?;
    let proof = prove(app).await?;
    let value = json!({
        "nonprofits": proof.nonprofits,
        "differences": proof.differences,
        "entries": journal.entries,
        "fundraisers": journal.fundraisers,
        "faults": journal.faults,
    });
    output.say(&value, || {
        format!(
            "{} nonprofits proved against the store\n{} entries of the journal proved, {} fundraisers",
            proof.nonprofits, journal.entries, journal.fundraisers
        )
    })?;
    if let [first, ..] = journal.faults.as_slice() {
        bail!(
            "the journal is damaged in {} places, first: {first}; \
             stop writing to it, and restore it from a backup",
            journal.faults.len()
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
