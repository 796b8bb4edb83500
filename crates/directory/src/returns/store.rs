//! Database access for returns.

use super::facts::ReturnFacts;
use crate::import::form990::filed_return::Month;
use crate::nonprofits::ein::Ein;
use crate::sources::SourceId;
use platform::db::{Db, Tx, from_row, read, run};

const LIST: &str =
    "select period, form, object_id, source, facts from returns where ein = $1 order by period desc";

/// A return in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReturn {
    /// The month in which the period ends, such as 202306.
    pub period: Month,
    /// The form, such as `990-EZ`.
    pub form: String,
    /// The ID of the filing. Empty if it is not known.
    pub object_id: String,
    /// The file that it was read from.
    pub source: SourceId,
    pub facts: ReturnFacts,
}

/// A row of [`LIST`].
struct ReturnRow {
    period: i64,
    form: String,
    object_id: String,
    source: i64,
    facts: String,
}

from_row!(ReturnRow {
    period,
    form,
    object_id,
    source,
    facts
});

impl ReturnRow {
    fn parse(self) -> sqlx::Result<StoredReturn> {
        Ok(StoredReturn {
            period: self.period as Month,
            form: self.form,
            object_id: self.object_id,
            source: SourceId::from_number(self.source),
            facts: serde_json::from_str(&self.facts).map_err(|error| sqlx::Error::Decode(error.into()))?,
        })
    }
}

/// Lists the returns of a nonprofit, newest period first.
pub async fn list_returns(db: &Db, ein: Ein) -> sqlx::Result<Vec<StoredReturn>> {
    let rows: Vec<ReturnRow> =
        read!(db, c => sqlx::query_as(LIST).bind(i64::from(ein.value())).fetch_all(c).await)?;
    rows.into_iter().map(ReturnRow::parse).collect()
}

/// Lists the returns of a nonprofit inside a transaction, newest period first.
pub async fn list_returns_in(tx: &mut Tx, ein: Ein) -> sqlx::Result<Vec<StoredReturn>> {
    let rows: Vec<ReturnRow> =
        run!(tx, c => sqlx::query_as(LIST).bind(i64::from(ein.value())).fetch_all(c).await)?;
    rows.into_iter().map(ReturnRow::parse).collect()
}
