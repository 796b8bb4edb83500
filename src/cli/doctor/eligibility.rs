//! Whether the lists are recent by which nonprofits may receive donations.

use super::finding::Finding;
use crate::config::Config;
use directory::eligibility::{Check, Standings, store};
use platform::clock::Clock;
use platform::db::Db;

const LISTS: &str = "lists";
const NO_STORE: &str = "not checked, because the store cannot be read";

/// Whether a required list is missing or too old.
pub(super) async fn lists(config: &Config, db: Option<&Db>) -> Finding {
    let Some(db) = db else {
        return Finding::warning(LISTS, NO_STORE, "see store");
    };
    match find_outdated(config, db).await {
        Ok(checks) if checks.is_empty() => Finding::ok(LISTS, "every required list is recent"),
        Ok(checks) => {
            let names: Vec<&str> = checks.into_iter().map(Check::name).collect();
            Finding::problem(
                LISTS,
                format!(
                    "missing or older than eligibility.max_age_days, so no nonprofit receives donations: {}",
                    names.join(", ")
                ),
                "import the newest files with causeway import all",
            )
        }
        // A store that has not been migrated has no tables of lists.
        Err(error) => Finding::warning(LISTS, format!("{NO_STORE}: {error}"), "see store"),
    }
}

async fn find_outdated(config: &Config, db: &Db) -> sqlx::Result<Vec<Check>> {
    let mut tx = db.view().await?;
    let standings = store::load(&mut tx, config.eligibility, &Standings::default()).await?;
    Ok(standings.outdated(Clock::default().millis()))
}
