//! What the list files differ in: how a row is read, and how it is stored.

use super::kind::ListKind;
use directory::nonprofits::lists::store::ListRow;

/// One of the lists. A value of it holds what all rows of a file share.
pub(super) trait List: Default + Send + Sync + 'static {
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

    /// Returns what the history of a nonprofit shows of a row: the names of fields and their values.
    fn history_fields(row: &Self::Row) -> Vec<(&'static str, Option<String>)>;
}
