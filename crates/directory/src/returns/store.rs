//! Database access for returns.

use super::facts::{Month, ReturnFacts};
use super::profile::ReturnProfile;
use crate::nonprofits::ein::Ein;
use crate::nonprofits::sources::SourceId;
use platform::db::{Db, Tx, Value, from_row, query};
use sqlx::AssertSqlSafe;
use std::collections::HashMap;
use std::fmt::Write;

const LIST: &str =
    "select period, form, object_id, source, facts from returns where ein = $1 order by period desc";

const PROFILE_COLUMNS: [&str; 17] = [
    "ein",
    "name",
    "aliases",
    "description",
    "description_long",
    "description_period",
    "description_source",
    "website_url",
    "website_period",
    "website_source",
    "formed",
    "revenue",
    "expenses",
    "assets",
    "amounts_period",
    "amounts_source",
    "is_final",
];

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
    let rows: Vec<ReturnRow> = db.fetch_all(query(LIST).bind(i64::from(ein.value()))).await?;
    rows.into_iter().map(ReturnRow::parse).collect()
}

/// A row to write.
#[derive(Clone, Copy, Debug)]
pub struct ReturnWrite<'a> {
    pub ein: u32,
    pub period: Month,
    pub form: &'a str,
    pub object_id: &'a str,
    pub source: SourceId,
    /// [`ReturnFacts`] as JSON.
    pub facts: &'a str,
    /// A hash of the facts, by which the next import recognizes changes.
    pub digest: i64,
}

/// A row of the query in [`list_versions`].
struct VersionRow {
    ein: i64,
    period: i64,
    object_id: String,
    digest: i64,
}

from_row!(VersionRow {
    ein,
    period,
    object_id,
    digest
});

/// Finds which filings are stored: the ID and the hash of the facts, by EIN and period.
pub async fn list_versions(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashMap<(u32, Month), (String, i64)>> {
    let sql = in_list(
        "select ein, period, object_id, digest from returns where ein in",
        eins.iter(),
    );
    let rows: Vec<VersionRow> = tx.fetch_all(query(sql).uncached()).await?;
    Ok(rows
        .into_iter()
        .map(|row| ((row.ein as u32, row.period as Month), (row.object_id, row.digest)))
        .collect())
}

/// A row of the query in [`list_by_eins`].
struct FullRow {
    ein: i64,
    period: i64,
    form: String,
    object_id: String,
    source: i64,
    facts: String,
    digest: i64,
}

from_row!(FullRow {
    ein,
    period,
    form,
    object_id,
    source,
    facts,
    digest
});

/// Lists the returns of several EINs, each with its EIN and the hash of its facts, newest period first.
pub async fn list_by_eins(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<Vec<(u32, StoredReturn, i64)>> {
    if eins.is_empty() {
        return Ok(Vec::new());
    }
    let AssertSqlSafe(mut sql) = in_list(
        "select ein, period, form, object_id, source, facts, digest from returns where ein in",
        eins.iter(),
    );
    sql.push_str(" order by ein, period desc");
    let sql = AssertSqlSafe(sql);
    let rows: Vec<FullRow> = tx.fetch_all(query(sql).uncached()).await?;
    let mut returns = Vec::with_capacity(rows.len());
    for row in rows {
        let (ein, digest) = (row.ein as u32, row.digest);
        let row = ReturnRow {
            period: row.period,
            form: row.form,
            object_id: row.object_id,
            source: row.source,
            facts: row.facts,
        };
        returns.push((ein, row.parse()?, digest));
    }
    Ok(returns)
}

/// Removes returns by EIN and period.
pub async fn remove(tx: &mut Tx, keys: &[(u32, Month)]) -> sqlx::Result<()> {
    if keys.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = keys
        .iter()
        .map(|(ein, period)| format!("({ein},{period})"))
        .collect();
    let sql = AssertSqlSafe(format!(
        "delete from returns where (ein, period) in (values {})",
        keys.join(",")
    ));
    tx.execute(query(sql).uncached()).await.map(|_| ())
}

/// Inserts returns.
pub async fn insert(tx: &mut Tx, returns: &[ReturnWrite<'_>]) -> sqlx::Result<()> {
    let columns = ["ein", "period", "form", "object_id", "source", "facts", "digest"];
    let rows: Vec<[Value<'_>; 7]> = returns
        .iter()
        .map(|row| {
            [
                i64::from(row.ein).into(),
                i64::from(row.period).into(),
                row.form.into(),
                row.object_id.into(),
                row.source.number().into(),
                row.facts.into(),
                row.digest.into(),
            ]
        })
        .collect();
    tx.insert_many("returns", columns, &rows).await
}

/// Finds what the returns of several EINs say on their pages, by EIN.
pub async fn list_profiles(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<HashMap<u32, ReturnProfile>> {
    if eins.is_empty() {
        return Ok(HashMap::new());
    }
    let select = format!(
        "select {} from return_profiles where ein in",
        PROFILE_COLUMNS.join(", ")
    );
    let sql = in_list(&select, eins.iter());
    let rows: Vec<ReturnProfile> = tx.fetch_all(query(sql).uncached()).await?;
    Ok(rows
        .into_iter()
        .map(|profile| (profile.ein as u32, profile))
        .collect())
}

/// Removes what the returns of several EINs say on their pages.
pub async fn remove_profiles(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<()> {
    if eins.is_empty() {
        return Ok(());
    }
    let sql = in_list("delete from return_profiles where ein in", eins.iter());
    tx.execute(query(sql).uncached()).await.map(|_| ())
}

/// Inserts what returns say on the pages of their nonprofits.
pub async fn insert_profiles(tx: &mut Tx, profiles: &[ReturnProfile]) -> sqlx::Result<()> {
    let rows: Vec<[Value<'_>; 17]> = profiles
        .iter()
        .map(|profile| {
            [
                profile.ein.into(),
                (&profile.name).into(),
                (&profile.aliases).into(),
                (&profile.description).into(),
                (&profile.description_long).into(),
                profile.description_period.into(),
                profile.description_source.into(),
                (&profile.website_url).into(),
                profile.website_period.into(),
                profile.website_source.into(),
                profile.formed.into(),
                profile.revenue.into(),
                profile.expenses.into(),
                profile.assets.into(),
                profile.amounts_period.into(),
                profile.amounts_source.into(),
                profile.is_final.into(),
            ]
        })
        .collect();
    tx.insert_many("return_profiles", PROFILE_COLUMNS, &rows).await
}

/// Appends a list of numbers in parentheses. Thousands of parameters would take longer to bind than the numbers to parse.
fn in_list<'a>(statement: &str, numbers: impl Iterator<Item = &'a u32>) -> AssertSqlSafe<String> {
    let mut sql = format!("{statement} (");
    for (position, number) in numbers.enumerate() {
        let comma = if position == 0 { "" } else { "," };
        let _ = write!(sql, "{comma}{number}");
    }
    sql.push(')');
    AssertSqlSafe(sql)
}
