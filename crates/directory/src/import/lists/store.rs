//! Database access for the tables of the lists: publication_78, revocations and epostcards.

use super::list::{List, ListRow};
use super::value::Value;
use platform::db::{Connection, Tx, run};
use sqlx::{AssertSqlSafe, Executor};
use std::fmt::Write;
use std::marker::PhantomData;

/// The temporary table on PostgreSQL, from which rows replace stored ones.
const INCOMING: &str = "incoming_rows";
/// The number of rows that one statement removes.
const REMOVE_CHUNK_SIZE: usize = 1_000;

/// Returns the statement that selects all rows in the order of their EINs.
pub fn select<L: List>() -> String {
    format!("select {} from {} order by ein", columns::<L>(), L::TABLE)
}

fn columns<L: List>() -> String {
    format!("ein, {}, source", L::COLUMNS.join(", "))
}

/// What an upsert does with a stored row.
fn or_update<L: List>() -> String {
    let columns = L::COLUMNS.iter().chain(&["source"]);
    let set: Vec<String> = columns
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    format!(" on conflict (ein) do update set {}", set.join(", "))
}

/// Inserts and replaces rows.
pub struct Writer<L> {
    /// The table for `copy`.
    target: &'static str,
    list: PhantomData<L>,
}

impl<L: List> Writer<L> {
    /// Prepares for rows. With PostgreSQL, they are copied into the table if it `is_empty`, or else into a temporary one.
    pub async fn begin(tx: &mut Tx, is_empty: bool) -> sqlx::Result<Writer<L>> {
        let target = if is_empty { L::TABLE } else { INCOMING };
        if !is_empty && let Connection::Postgres(connection) = tx.connection() {
            let sql = format!(
                "create temporary table {INCOMING} (like {}) on commit drop",
                L::TABLE
            );
            connection.execute(AssertSqlSafe(sql)).await?;
        }
        Ok(Writer {
            target,
            list: PhantomData,
        })
    }

    /// Writes rows, whose EINs are all different.
    pub async fn write(&mut self, tx: &mut Tx, rows: Vec<L::Row>) -> sqlx::Result<()> {
        match tx.connection() {
            Connection::Sqlite(connection) => {
                let mut query = sqlx::query(AssertSqlSafe(upsert_statement::<L>(rows.len())));
                for row in rows {
                    query = query.bind(row.ein());
                    for value in row.values() {
                        query = match value {
                            Value::Integer(number) => query.bind(number),
                            Value::Bool(value) => query.bind(value),
                            Value::Text(text) => query.bind(text),
                            Value::OptionalText(text) => query.bind(text),
                        };
                    }
                    query = query.bind(row.source());
                }
                query.execute(connection).await.map(|_| ())
            }
            Connection::Postgres(connection) => {
                let sql = format!("copy {} ({}) from stdin", self.target, columns::<L>());
                let mut copy = connection.copy_in_raw(&sql).await?;
                copy.send(copy_text(&rows).into_bytes()).await?;
                copy.finish().await.map(|_| ())
            }
        }
    }

    /// Moves the rows from the temporary table to their own.
    pub async fn finish(self, tx: &mut Tx) -> sqlx::Result<()> {
        if self.target != L::TABLE
            && let Connection::Postgres(connection) = tx.connection()
        {
            let columns = columns::<L>();
            let sql = format!(
                "insert into {} ({columns}) select {columns} from {INCOMING}{}",
                L::TABLE,
                or_update::<L>()
            );
            connection.execute(AssertSqlSafe(sql)).await?;
        }
        Ok(())
    }
}

/// Returns an upsert of many rows for SQLite.
fn upsert_statement<L: List>(rows: usize) -> String {
    let row = format!("({}?)", "?,".repeat(L::COLUMNS.len() + 1));
    let rows = vec![row.as_str(); rows].join(",");
    format!(
        "insert into {} ({}) values {rows}{}",
        L::TABLE,
        columns::<L>(),
        or_update::<L>()
    )
}

/// Formats rows for PostgreSQL's `copy`: columns separated by tabs.
fn copy_text<R: ListRow>(rows: &[R]) -> String {
    let mut text = String::with_capacity(rows.len() * 64);
    for row in rows {
        let _ = write!(text, "{}\t", row.ein());
        for value in row.values() {
            value.copy_to(&mut text);
            text.push('\t');
        }
        let _ = writeln!(text, "{}", row.source());
    }
    text
}

/// Removes the rows with these EINs.
pub async fn remove<L: List>(tx: &mut Tx, eins: &[u32]) -> sqlx::Result<()> {
    for chunk in eins.chunks(REMOVE_CHUNK_SIZE) {
        let mut sql = format!("delete from {} where ein in (", L::TABLE);
        for (position, ein) in chunk.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let _ = write!(sql, "{comma}{ein}");
        }
        sql.push(')');
        let sql = AssertSqlSafe(sql);
        run!(&mut *tx, c => sqlx::raw_sql(sql).execute(c).await.map(|_| ()))?;
    }
    Ok(())
}
