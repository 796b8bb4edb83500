//! Database access for the tables of the lists.

use super::list::ListRow;
use platform::db::{Tx, run};
use sqlx::AssertSqlSafe;
use std::collections::HashSet;
use std::fmt::Write;

/// The number of EINs in one statement.
const CHUNK_SIZE: usize = 1_000;
const KNOWN: &str = "select ein from nonprofits where ein in ";

/// Removes the rows with these EINs.
pub async fn remove<R: ListRow>(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<()> {
    for chunk in eins.chunks(CHUNK_SIZE) {
        let sql = AssertSqlSafe(R::REMOVE.to_owned() + &list(chunk));
        run!(&mut *tx, c => sqlx::raw_sql(sql).execute(c).await.map(|_| ()))?;
    }
    Ok(())
}

/// Returns those of the EINs that are in the directory.
pub async fn list_known(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashSet<u32>> {
    let mut known = HashSet::new();
    for chunk in eins.chunks(CHUNK_SIZE) {
        let sql = AssertSqlSafe(KNOWN.to_owned() + &list(chunk));
        let found: Vec<i64> =
            run!(&mut *tx, c => sqlx::query_scalar(sql).persistent(false).fetch_all(c).await)?;
        known.extend(found.into_iter().map(|ein| ein as u32));
    }
    Ok(known)
}

/// Formats EINs as a list for SQL. They are numbers, so nothing needs to be escaped.
fn list(eins: &[u32]) -> String {
    let mut list = String::with_capacity(eins.len() * 10 + 2);
    list.push('(');
    for (position, ein) in eins.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        let _ = write!(list, "{comma}{ein}");
    }
    list.push(')');
    list
}
