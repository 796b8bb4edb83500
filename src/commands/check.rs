//! `causeway check`

use super::Output;
use anyhow::bail;
use causeway::app::App;
use causeway::directory::proof::prove;
use causeway::media;
use serde_json::json;

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
    let proof = prove(app).await?;
    let pictures = media::proof::prove(&app.pictures).await?;
    let differences: Vec<&String> = proof.differences.iter().chain(&pictures.differences).collect();
    let value = json!({
        "nonprofits": proof.nonprofits,
        "pictures": pictures.pictures,
        "differences": differences,
    });
    output.say(&value, || {
        format!(
            "{} nonprofits and {} pictures proved against the store",
            proof.nonprofits, pictures.pictures
        )
    })?;
    if let [first, ..] = pictures.differences.as_slice() {
        bail!(
            "{} pictures are broken, first: {first}; put the blobs back from a backup",
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
