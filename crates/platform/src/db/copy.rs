//! Copies a store from one database to another, table by table.
//!
//! Both databases have the same tables and columns, with other types. Values pass through [`Value`], which has the four
//! types of SQLite; the types of PostgreSQL decide how a value is written there. Everything is read in one state and written
//! in one transaction, and the sum of the hashes of all rows, which does not depend on their order, must be equal on both
//! sides.

use super::tables::{SEEDED, TABLES};
use super::{Connection, Db, Tx, query};
use crate::text::hex;
use anyhow::{Context, bail};
use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, PgConnection, Row, SqliteConnection};
use std::fmt::Write as _;
use uuid::Uuid;

/// Rows in one statement. With 32 columns this stays below the 32,766 parameters that SQLite allows.
const BATCH_SIZE: usize = 1_000;

const SQLITE_COLUMNS: &str = "select name, lower(type) from pragma_table_info($1) order by cid";
const POSTGRES_COLUMNS: &str = "select column_name::text, data_type::text from information_schema.columns \
     where table_schema = current_schema() and table_name = $1 order by ordinal_position";
/// Columns that number their rows, and the sequence of each.
const SEQUENCES: &str = "select table_name::text, column_name::text, \
     pg_get_serial_sequence(quote_ident(table_name), column_name) from information_schema.columns \
     where table_schema = current_schema() and pg_get_serial_sequence(quote_ident(table_name), column_name) is not null";

/// The rows of a table, counted and hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableContent {
    pub name: &'static str,
    pub rows: u64,
    /// The sum of the SHA-256 hashes of all rows, which does not depend on their order.
    sum: [u64; 4],
}

/// A value that both databases can hold.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Null,
    /// An integer or a boolean.
    Integer(i64),
    Real(f64),
    Text(String),
    /// Bytes or a UUID.
    Bytes(Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Integer,
    SmallInteger,
    Boolean,
    Real,
    Text,
    Bytes,
    Uuid,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: ColumnType,
}

impl TableContent {
    fn new(name: &'static str) -> TableContent {
        TableContent {
            name,
            rows: 0,
            sum: [0; 4],
        }
    }

    fn add(&mut self, row: &[Value]) {
        let mut hasher = Sha256::new();
        for value in row {
            let (tag, bytes): (u8, &[u8]) = match value {
                Value::Null => (0, &[]),
                Value::Integer(value) => (1, &value.to_le_bytes()),
                Value::Real(value) => (2, &value.to_le_bytes()),
                Value::Text(value) => (3, value.as_bytes()),
                Value::Bytes(value) => (4, value),
            };
            hasher.update([tag]);
            hasher.update((bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        self.rows += 1;
        for (sum, part) in self.sum.iter_mut().zip(hasher.finalize().chunks_exact(8)) {
            let part: [u8; 8] = part.try_into().expect("eight bytes");
            *sum = sum.wrapping_add(u64::from_le_bytes(part));
        }
    }

    /// Returns the hash of the rows in hexadecimal digits.
    pub fn hash(&self) -> String {
        self.sum.iter().map(|part| hex(&part.to_le_bytes())).collect()
    }
}

impl Db {
    /// Fails unless the database is as the migrations created it.
    pub async fn refuse_unless_new(&self) -> anyhow::Result<()> {
        let mut tx = self.view().await?;
        for &table in TABLES {
            let rows = count(&mut tx, table).await?;
            if rows > 0 && !SEEDED.contains(&table) {
                bail!(
                    "the target is not empty: its table {table} has {rows} rows; choose an empty database or data folder"
                );
            }
        }
        Ok(())
    }

    /// Counts the rows of all tables.
    pub async fn count_rows(&self) -> sqlx::Result<u64> {
        let (mut tx, mut total) = (self.view().await?, 0);
        for table in TABLES {
            total += count(&mut tx, table).await?;
        }
        Ok(total)
    }

    /// Copies every table to another database, which must be new, in one transaction. Reads one state of the source,
    /// and calls `read` with the transaction that sees it.
    pub async fn copy_to<T>(
        &self,
        target: &Db,
        progress: &mut dyn FnMut(u64),
        read: impl AsyncFnOnce(&mut Tx) -> anyhow::Result<T>,
    ) -> anyhow::Result<(Vec<TableContent>, T)> {
        let (mut from, mut to) = (self.view().await?, target.write().await?);
        for table in SEEDED {
            execute(&mut to, format!("delete from \"{table}\"")).await?;
        }
        let (mut contents, mut total) = (Vec::new(), 0);
        for &table in TABLES {
            let columns = list_columns(&mut from, table).await?;
            let target_columns = list_columns(&mut to, table).await?;
            let target_columns = matching(table, &columns, &target_columns)?;
            let content = read_table(&mut from, table, &columns, async |rows: &[Vec<Value>]| {
                insert(&mut to, table, &target_columns, rows).await?;
                total += rows.len() as u64;
                progress(total);
                Ok(())
            })
            .await
            .with_context(|| format!("could not copy the table {table}"))?;
            contents.push(content);
        }
        let facts = read(&mut from).await?;
        set_sequences(&mut to).await?;
        to.commit().await?;
        if matches!(target, Db::Postgres(_)) {
            // The planner knows nothing about the new rows yet.
            let mut tx = target.write().await?;
            execute(&mut tx, "analyze".to_owned()).await?;
            tx.commit().await?;
        }
        Ok((contents, facts))
    }

    /// Counts and hashes the rows of every table.
    pub async fn hash_tables(&self, progress: &mut dyn FnMut(u64)) -> anyhow::Result<Vec<TableContent>> {
        let mut tx = self.view().await?;
        let (mut contents, mut total) = (Vec::new(), 0);
        for &table in TABLES {
            let columns = list_columns(&mut tx, table).await?;
            let content = read_table(&mut tx, table, &columns, async |rows: &[Vec<Value>]| {
                total += rows.len() as u64;
                progress(total);
                Ok(())
            });
            contents.push(content.await?);
        }
        Ok(contents)
    }
}

async fn count(tx: &mut Tx, table: &str) -> sqlx::Result<u64> {
    let sql = AssertSqlSafe(format!("select count(*) from \"{table}\""));
    let rows: i64 = tx.fetch_scalar(query(sql)).await?;
    Ok(rows as u64)
}

async fn execute(tx: &mut Tx, sql: String) -> sqlx::Result<()> {
    let sql = AssertSqlSafe(sql);
    tx.execute(query(sql)).await.map(|_| ())
}

/// Lists the columns of a table. Those of both databases are compared by name, so they are sorted.
async fn list_columns(tx: &mut Tx, table: &str) -> anyhow::Result<Vec<Column>> {
    let found: Vec<(String, String)> = match tx.connection() {
        Connection::Sqlite(c) => sqlx::query_as(SQLITE_COLUMNS).bind(table).fetch_all(c).await?,
        Connection::Postgres(c) => sqlx::query_as(POSTGRES_COLUMNS).bind(table).fetch_all(c).await?,
    };
    let mut columns = Vec::with_capacity(found.len());
    for (name, kind) in found {
        let kind = match kind.as_str() {
            "bigint" => ColumnType::Integer,
            // SQLite has one type for both; what PostgreSQL calls an integer has 32 bits.
            "integer" if matches!(tx, Tx::Sqlite(_)) => ColumnType::Integer,
            "integer" => ColumnType::SmallInteger,
            "boolean" => ColumnType::Boolean,
            "real" | "double precision" => ColumnType::Real,
            "text" => ColumnType::Text,
            "blob" | "bytea" => ColumnType::Bytes,
            "uuid" => ColumnType::Uuid,
            other => bail!("the column {name} of {table} has the type {other}, which cannot be copied"),
        };
        columns.push(Column { name, kind });
    }
    columns.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(columns)
}

/// Returns the columns of the target, which must be those of the source.
fn matching(table: &str, columns: &[Column], target: &[Column]) -> anyhow::Result<Vec<Column>> {
    let names =
        |columns: &[Column]| -> Vec<String> { columns.iter().map(|column| column.name.clone()).collect() };
    if columns.is_empty() || names(columns) != names(target) {
        bail!(
            "the table {table} has other columns in the target; update both databases with the same version"
        );
    }
    Ok(target.to_vec())
}

/// Reads a table in batches.
async fn read_table(
    tx: &mut Tx,
    table: &'static str,
    columns: &[Column],
    mut handle: impl AsyncFnMut(&[Vec<Value>]) -> anyhow::Result<()>,
) -> anyhow::Result<TableContent> {
    let mut content = TableContent::new(table);
    let mut batch = Vec::with_capacity(BATCH_SIZE);
    let sql = AssertSqlSafe(format!("select {} from \"{table}\"", names(columns)));
    macro_rules! read {
        ($connection:expr, $decode:ident) => {{
            let mut rows = sqlx::query(sql).fetch($connection);
            while let Some(row) = rows.try_next().await? {
                let row = $decode(&row, columns)?;
                content.add(&row);
                batch.push(row);
                if batch.len() == BATCH_SIZE {
                    handle(&batch).await?;
                    batch.clear();
                }
            }
        }};
    }
    match tx.connection() {
        Connection::Sqlite(connection) => read!(connection, decode_sqlite),
        Connection::Postgres(connection) => read!(connection, decode_postgres),
    }
    if !batch.is_empty() {
        handle(&batch).await?;
    }
    Ok(content)
}

fn decode_sqlite(row: &SqliteRow, columns: &[Column]) -> sqlx::Result<Vec<Value>> {
    let decode = |(index, column): (usize, &Column)| {
        Ok(match column.kind {
            ColumnType::Integer | ColumnType::SmallInteger | ColumnType::Boolean => {
                value(row.try_get(index)?, Value::Integer)
            }
            ColumnType::Real => value(row.try_get(index)?, Value::Real),
            ColumnType::Text => value(row.try_get(index)?, Value::Text),
            ColumnType::Bytes | ColumnType::Uuid => value(row.try_get(index)?, Value::Bytes),
        })
    };
    columns.iter().enumerate().map(decode).collect()
}

fn decode_postgres(row: &PgRow, columns: &[Column]) -> sqlx::Result<Vec<Value>> {
    let decode = |(index, column): (usize, &Column)| {
        Ok(match column.kind {
            ColumnType::Integer => value(row.try_get(index)?, Value::Integer),
            ColumnType::SmallInteger => {
                value(row.try_get(index)?, |small: i32| Value::Integer(i64::from(small)))
            }
            ColumnType::Boolean => value(row.try_get(index)?, |is_true: bool| {
                Value::Integer(i64::from(is_true))
            }),
            ColumnType::Real => value(row.try_get(index)?, Value::Real),
            ColumnType::Text => value(row.try_get(index)?, Value::Text),
            ColumnType::Bytes => value(row.try_get(index)?, Value::Bytes),
            ColumnType::Uuid => value(row.try_get(index)?, |id: Uuid| {
                Value::Bytes(id.as_bytes().to_vec())
            }),
        })
    };
    columns.iter().enumerate().map(decode).collect()
}

fn value<T>(found: Option<T>, to_value: impl FnOnce(T) -> Value) -> Value {
    found.map_or(Value::Null, to_value)
}

async fn insert(tx: &mut Tx, table: &str, columns: &[Column], rows: &[Vec<Value>]) -> anyhow::Result<()> {
    match tx.connection() {
        Connection::Sqlite(connection) => insert_sqlite(connection, table, columns, rows).await,
        Connection::Postgres(connection) => insert_postgres(connection, table, columns, rows).await,
    }
}

async fn insert_sqlite(
    connection: &mut SqliteConnection,
    table: &str,
    columns: &[Column],
    rows: &[Vec<Value>],
) -> anyhow::Result<()> {
    let placeholders = format!("({})", vec!["?"; columns.len()].join(","));
    let values = vec![placeholders; rows.len()].join(",");
    let sql = format!("insert into \"{table}\" ({}) values {values}", names(columns));
    // Full batches repeat the same text; the last one is not worth remembering.
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(rows.len() == BATCH_SIZE);
    for value in rows.iter().flatten() {
        query = match value {
            Value::Null => query.bind(None::<i64>),
            Value::Integer(value) => query.bind(*value),
            Value::Real(value) => query.bind(*value),
            Value::Text(value) => query.bind(value.as_str()),
            Value::Bytes(value) => query.bind(value.as_slice()),
        };
    }
    query.execute(connection).await?;
    Ok(())
}

async fn insert_postgres(
    connection: &mut PgConnection,
    table: &str,
    columns: &[Column],
    rows: &[Vec<Value>],
) -> anyhow::Result<()> {
    let mut text = String::new();
    for row in rows {
        for (position, (column, value)) in columns.iter().zip(row).enumerate() {
            if position > 0 {
                text.push('\t');
            }
            write_copy_value(&mut text, column, value)?;
        }
        text.push('\n');
    }
    let sql = format!("copy \"{table}\" ({}) from stdin", names(columns));
    let mut copy = connection.copy_in_raw(&sql).await?;
    copy.send(text.into_bytes()).await?;
    copy.finish().await?;
    Ok(())
}

/// Writes a value in the text format of `copy`.
fn write_copy_value(text: &mut String, column: &Column, value: &Value) -> anyhow::Result<()> {
    match (column.kind, value) {
        (_, Value::Null) => text.push_str("\\N"),
        (ColumnType::Boolean, Value::Integer(value)) => text.push(if *value == 0 { 'f' } else { 't' }),
        (ColumnType::Integer | ColumnType::SmallInteger, Value::Integer(value)) => write!(text, "{value}")?,
        (ColumnType::Real, Value::Real(value)) => write!(text, "{value:e}")?,
        (ColumnType::Text, Value::Text(value)) => {
            for letter in value.chars() {
                match letter {
                    '\\' => text.push_str("\\\\"),
                    '\n' => text.push_str("\\n"),
                    '\r' => text.push_str("\\r"),
                    '\t' => text.push_str("\\t"),
                    letter => text.push(letter),
                }
            }
        }
        (ColumnType::Bytes, Value::Bytes(value)) => {
            text.push_str("\\\\x");
            text.push_str(&hex(value));
        }
        (ColumnType::Uuid, Value::Bytes(value)) => {
            let id = Uuid::from_slice(value)
                .with_context(|| format!("a value of {} is not a UUID", column.name))?;
            write!(text, "{id}")?;
        }
        (kind, _) => bail!("a value of {} does not fit into the type {kind:?}", column.name),
    }
    Ok(())
}

/// Makes columns that number their rows continue after the copied ones. SQLite does this by itself.
async fn set_sequences(tx: &mut Tx) -> anyhow::Result<()> {
    let Connection::Postgres(connection) = tx.connection() else {
        return Ok(());
    };
    let sequences: Vec<(String, String, String)> =
        sqlx::query_as(SEQUENCES).fetch_all(&mut *connection).await?;
    for (table, column, sequence) in sequences {
        let sql = format!(
            "select setval('{sequence}', coalesce(max(\"{column}\"), 0) + 1, false) from \"{table}\""
        );
        sqlx::query(AssertSqlSafe(sql)).execute(&mut *connection).await?;
    }
    Ok(())
}

fn names(columns: &[Column]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|column| format!("\"{}\"", column.name))
        .collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: ColumnType, value: &Value) -> String {
        let column = Column {
            name: "column".to_owned(),
            kind,
        };
        let mut text = String::new();
        write_copy_value(&mut text, &column, value).unwrap();
        text
    }

    #[test]
    fn values_are_written_as_copy_reads_them() {
        let text = Value::Text("a\tb\\c\r\nd".to_owned());
        assert_eq!(written(ColumnType::Text, &text), "a\\tb\\\\c\\r\\nd");
        assert_eq!(written(ColumnType::Text, &Value::Text("\\N".to_owned())), "\\\\N");
        assert_eq!(written(ColumnType::Text, &Value::Null), "\\N");
        assert_eq!(written(ColumnType::Boolean, &Value::Integer(1)), "t");
        assert_eq!(
            written(ColumnType::Bytes, &Value::Bytes(vec![0, 255])),
            "\\\\x00ff"
        );
        assert_eq!(written(ColumnType::Real, &Value::Real(1e-300)), "1e-300");
        let id = Value::Bytes(vec![1; 16]);
        assert_eq!(
            written(ColumnType::Uuid, &id),
            "01010101-0101-0101-0101-010101010101"
        );
    }

    #[test]
    fn the_hash_of_a_table_depends_on_its_rows_and_not_on_their_order() {
        let hash = |rows: &[&[Value]]| {
            let mut content = TableContent::new("store");
            for row in rows {
                content.add(row);
            }
            content.hash()
        };
        let (one, other) = ([Value::Integer(1)], [Value::Text("1".to_owned())]);
        assert_eq!(hash(&[&one, &other]), hash(&[&other, &one]));
        assert_ne!(hash(&[&one, &one]), hash(&[&one]));
        assert_ne!(hash(&[&one]), hash(&[&other]));
        let joined = [Value::Text("ab".to_owned()), Value::Text(String::new())];
        let split = [Value::Text("a".to_owned()), Value::Text("b".to_owned())];
        assert_ne!(hash(&[&joined]), hash(&[&split]));
    }
}
