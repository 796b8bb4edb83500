//! Audits disbursement for `causeway check`: what lines consist of, and what the books say about them.

mod store;

use platform::db::Db;

/// Differences that are listed, of each kind.
const MAX_LISTED: i64 = 100;

/// What was checked.
#[derive(Clone, Debug, Default)]
pub struct DisbursementCheck {
    pub lines: i64,
    pub differences: Vec<String>,
}

/// Compares batches and lines with the books.
pub async fn check(db: &Db) -> sqlx::Result<DisbursementCheck> {
    let mut tx = db.view().await?;
    let mut differences = Vec::new();
    for (batch, line) in store::list_lines_of_other_amount(&mut tx, MAX_LISTED).await? {
        differences.push(format!(
            "line {line} of batch {batch} is not the sum of its donations"
        ));
    }
    for (batch, line) in store::list_lines_without_entry(&mut tx, MAX_LISTED).await? {
        differences.push(format!(
            "line {line} of batch {batch} and the books say different things about its payment"
        ));
    }
    for batch in store::list_batches_of_other_amount(&mut tx, MAX_LISTED).await? {
        differences.push(format!("batch {batch} is not the sum of its lines"));
    }
    let (mut owed, mut collected) = store::list_owed(&mut tx).await?;
    owed.sort_unstable();
    collected.sort_unstable();
    for entry in owed
        .iter()
        .filter(|entry| collected.binary_search(entry).is_err())
        .take(100)
    {
        let (nonprofit, mode, _) = entry;
        differences.push(format!(
            "what the {mode} entries of the books owe to {nonprofit} is not what can be disbursed to it"
        ));
    }
    if owed.len() != collected.len() && differences.is_empty() {
        differences.push("something can be disbursed that the books do not owe".to_owned());
    }
    let lines = store::count_lines(&mut tx).await?;
    Ok(DisbursementCheck { lines, differences })
}
