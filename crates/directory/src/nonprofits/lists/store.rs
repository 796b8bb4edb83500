//! Database access for the tables of the lists.

use super::{Epostcard, Publication78, Revocation};
use platform::db::{Tx, query};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, FromRow};
use std::fmt::Write;

/// The number of EINs in one statement.
const CHUNK_SIZE: usize = 1_000;

/// A row of the table of a list.
pub trait ListRow:
    for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + PartialEq + Send + Sync + Unpin
{
    /// Selects all rows in the order of their EINs.
    const SELECT: &'static str;
    /// Removes rows, up to the list of EINs.
    const REMOVE: &'static str;

    fn ein(&self) -> i64;

    fn source(&self) -> i64;

    /// Inserts rows whose EINs are not in the table.
    fn insert(tx: &mut Tx, rows: &[Self]) -> impl Future<Output = sqlx::Result<()>> + Send
    where
        Self: Sized;
}

/// Calls `then` with each row, in the order of the EINs.
pub async fn for_each<R: ListRow>(tx: &mut Tx, mut then: impl FnMut(&R) + Send) -> sqlx::Result<()> {
    tx.for_each(query(R::SELECT), |row| {
        then(&row);
        Ok(())
    })
    .await
}

/// Removes the rows with these EINs.
pub async fn remove<R: ListRow>(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<()> {
    for chunk in eins.chunks(CHUNK_SIZE) {
        let sql = AssertSqlSafe(R::REMOVE.to_owned() + &list(chunk));
        tx.execute(query(sql).uncached()).await?;
    }
    Ok(())
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

impl ListRow for Publication78 {
    const SELECT: &'static str = "select ein, codes, source from publication_78 order by ein";
    const REMOVE: &'static str = "delete from publication_78 where ein in ";

    fn ein(&self) -> i64 {
        self.ein
    }

    fn source(&self) -> i64 {
        self.source
    }

    async fn insert(tx: &mut Tx, rows: &[Publication78]) -> sqlx::Result<()> {
        let values: Vec<_> = rows
            .iter()
            .map(|row| [row.ein.into(), row.codes.as_str().into(), row.source.into()])
            .collect();
        tx.insert_many("publication_78", ["ein", "codes", "source"], &values)
            .await
    }
}

impl ListRow for Revocation {
    const SELECT: &'static str = "select ein, revoked_on, posted_on, reinstated_on, exemption_type, source \
         from revocations order by ein";
    const REMOVE: &'static str = "delete from revocations where ein in ";

    fn ein(&self) -> i64 {
        self.ein
    }

    fn source(&self) -> i64 {
        self.source
    }

    async fn insert(tx: &mut Tx, rows: &[Revocation]) -> sqlx::Result<()> {
        let columns = [
            "ein",
            "revoked_on",
            "posted_on",
            "reinstated_on",
            "exemption_type",
            "source",
        ];
        let values: Vec<_> = rows
            .iter()
            .map(|row| {
                [
                    row.ein.into(),
                    row.revoked_on.as_str().into(),
                    (&row.posted_on).into(),
                    (&row.reinstated_on).into(),
                    row.exemption_type.into(),
                    row.source.into(),
                ]
            })
            .collect();
        tx.insert_many("revocations", columns, &values).await
    }
}

impl ListRow for Epostcard {
    const SELECT: &'static str = "select ein, tax_year, period_end, has_small_receipts, is_terminated, website_url, \
         source from epostcards order by ein";
    const REMOVE: &'static str = "delete from epostcards where ein in ";

    fn ein(&self) -> i64 {
        self.ein
    }

    fn source(&self) -> i64 {
        self.source
    }

    async fn insert(tx: &mut Tx, rows: &[Epostcard]) -> sqlx::Result<()> {
        let columns = [
            "ein",
            "tax_year",
            "period_end",
            "has_small_receipts",
            "is_terminated",
            "website_url",
            "source",
        ];
        let values: Vec<_> = rows
            .iter()
            .map(|row| {
                [
                    row.ein.into(),
                    row.tax_year.into(),
                    (&row.period_end).into(),
                    row.has_small_receipts.into(),
                    row.is_terminated.into(),
                    (&row.website_url).into(),
                    row.source.into(),
                ]
            })
            .collect();
        tx.insert_many("epostcards", columns, &values).await
    }
}
