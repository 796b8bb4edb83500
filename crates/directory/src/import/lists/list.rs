//! What the list files differ in: how a row is read, and how it is stored.

use super::kind::ListKind;
use platform::db::Tx;
use sqlx::FromRow;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

/// One of the lists. A value of it holds what all rows of a file share.
pub trait List: Default + Send + Sync + 'static {
    const KIND: ListKind;
    /// A row in memory. There are more than a million, so it is small.
    type Compact: Send + Sync;
    /// A row of the table.
    type Row: ListRow;

    /// Reads the fields of a row, of which there are as many as the list has, without surrounding spaces. The error says
    /// what is wrong and contains no value, because a value may be the name or the address of a person.
    fn read(&mut self, fields: &[&str]) -> Result<Self::Compact, &'static str>;

    /// Returns what counts if an EIN has two rows. The order of the two does not matter.
    fn merge(&mut self, first: Self::Compact, second: Self::Compact) -> Self::Compact;

    /// Returns a row as it is stored.
    fn row(&self, ein: u32, compact: &Self::Compact, source: i64) -> Self::Row;
}

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
    async fn insert(tx: &mut Tx, rows: &[Self]) -> sqlx::Result<()>
    where
        Self: Sized;

    /// Returns what the history of a nonprofit shows of the row: the names of fields and their values.
    fn history_fields(&self) -> Vec<(&'static str, Option<String>)>;
}
