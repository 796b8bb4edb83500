//! `causeway check`

use super::Output;
use anyhow::bail;
use causeway::app::App;
use causeway::directory::proof::prove;
use serde_json::json;

pub async fn run(app: &App, output: Output) -> anyhow::Result<()> {
    let proof = prove(app).await?;
    let value = json!({"nonprofits": proof.nonprofits, "differences": proof.differences});
    output.say(&value, || {
        format!("{} nonprofits proved against the store", proof.nonprofits)
    })?;
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
