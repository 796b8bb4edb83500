//! The returns of the demo directory, which are written like those of `causeway import 990`.

use crate::digest::digest;
use crate::form990::import::profile::profile;
use anyhow::Context;
use directory::nonprofits::ein::Ein;
use directory::nonprofits::sources::SourceId;
use directory::returns::facts::ReturnFacts;
use directory::returns::store::{self, ReturnWrite, StoredReturn};
use platform::db::Tx;
use serde::Deserialize;

/// The position of the file with the returns, after the one with the nonprofits.
const POSITION: u16 = 2;

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DemoReturn {
    ein: String,
    /// The month in which the period ends, such as 202306.
    period: u32,
    /// The ID of the filing, if it is known.
    #[serde(default)]
    object_id: String,
    #[serde(flatten)]
    facts: ReturnFacts,
}

/// Reads returns from JSON Lines.
pub(crate) fn read(lines: &str) -> anyhow::Result<Vec<DemoReturn>> {
    let lines = lines.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .context("the returns of the demo directory are invalid")
}

/// Inserts the returns into a store that has none of them, and what they say on the pages of their nonprofits.
pub(crate) async fn insert(tx: &mut Tx, revision: i64, mut returns: Vec<DemoReturn>) -> anyhow::Result<()> {
    let source = SourceId {
        revision,
        position: POSITION,
    };
    returns.sort_by(|a, b| (&a.ein, b.period).cmp(&(&b.ein, a.period)));
    let mut profiles = Vec::new();
    for group in returns.chunk_by(|a, b| a.ein == b.ein) {
        let ein = Ein::parse(&group[0].ein).context("the demo directory has valid EINs")?;
        if !store::list_by_eins(tx, &[ein.value()]).await?.is_empty() {
            continue;
        }
        let facts: Vec<String> = group
            .iter()
            .map(|filed| serde_json::to_string(&filed.facts))
            .collect::<Result<_, _>>()?;
        let writes: Vec<ReturnWrite<'_>> = group
            .iter()
            .zip(&facts)
            .map(|(filed, facts)| ReturnWrite {
                ein: ein.value(),
                period: filed.period,
                form: &filed.facts.form,
                object_id: &filed.object_id,
                source,
                facts,
                digest: digest(facts),
            })
            .collect();
        store::insert(tx, &writes).await?;
        let stored: Vec<StoredReturn> = group
            .iter()
            .map(|filed| StoredReturn {
                period: filed.period,
                form: filed.facts.form.clone(),
                object_id: filed.object_id.clone(),
                source,
                facts: filed.facts.clone(),
            })
            .collect();
        profiles.push(profile(ein.value(), &stored));
    }
    store::insert_profiles(tx, &profiles).await?;
    Ok(())
}
