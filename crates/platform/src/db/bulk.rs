//! Inserts many rows quickly: `copy` on PostgreSQL, statements with many rows on SQLite.

use super::{Connection, Tx};
use sqlx::AssertSqlSafe;
use std::fmt::Write;

/// The number of rows from which `copy` is faster than `insert`: it takes three round trips, each slowed down by a delayed
/// acknowledgment.
const COPY_THRESHOLD: usize = 32;
/// The maximum number of rows of one statement.
const CHUNK_SIZE: usize = 1_000;
/// The maximum number of parameters of one statement on SQLite.
const MAX_PARAMETERS: usize = 32_000;

/// A value of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
    Boolean(bool),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Integer(Some(number))
    }
}

impl From<Option<i64>> for Value<'_> {
    fn from(number: Option<i64>) -> Self {
        Value::Integer(number)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Some(text))
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(text: &'a Option<String>) -> Self {
        Value::Text(text.as_deref())
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Boolean(value)
    }
}

impl Tx {
    /// Inserts rows into a table, which must not contain any of them. Each row has a value for every column.
    pub async fn insert_many<const COLUMNS: usize>(
        &mut self,
        table: &str,
        columns: [&str; COLUMNS],
        rows: &[[Value<'_>; COLUMNS]],
    ) -> sqlx::Result<()> {
        let columns = columns.join(", ");
        match self.connection() {
            Connection::Postgres(connection) if rows.len() >= COPY_THRESHOLD => {
                let statement = format!("copy {table} ({columns}) from stdin");
                let mut copy = connection.copy_in_raw(&statement).await?;
                for chunk in rows.chunks(CHUNK_SIZE) {
                    copy.send(copy_text(chunk).into_bytes()).await?;
                }
                copy.finish().await?;
            }
            Connection::Postgres(connection) => {
                for chunk in rows.chunks(CHUNK_SIZE) {
                    let statement = insert_statement::<COLUMNS>(table, &columns, chunk.len(), true);
                    let mut query = sqlx::query(AssertSqlSafe(statement));
                    for value in chunk.iter().flatten() {
                        query = match *value {
                            Value::Integer(number) => query.bind(number),
                            Value::Text(text) => query.bind(text.map(str::to_owned)),
                            Value::Boolean(value) => query.bind(value),
                        };
                    }
                    query.execute(&mut *connection).await?;
                }
            }
            Connection::Sqlite(connection) => {
                for chunk in rows.chunks(CHUNK_SIZE.min(MAX_PARAMETERS / COLUMNS)) {
                    let statement = insert_statement::<COLUMNS>(table, &columns, chunk.len(), false);
                    let mut query = sqlx::query(AssertSqlSafe(statement));
                    for value in chunk.iter().flatten() {
                        query = match *value {
                            Value::Integer(number) => query.bind(number),
                            Value::Text(text) => query.bind(text.map(str::to_owned)),
                            Value::Boolean(value) => query.bind(value),
                        };
                    }
                    query.execute(&mut *connection).await?;
                }
            }
        }
        Ok(())
    }
}

/// Returns an `insert` statement for many rows.
///
/// SQLite looks up a numbered parameter by a linear search, so its parameters are question marks.
fn insert_statement<const COLUMNS: usize>(
    table: &str,
    columns: &str,
    rows: usize,
    is_numbered: bool,
) -> String {
    let mut sql = format!("insert into {table} ({columns}) values ");
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ",(" });
        for column in 1..=COLUMNS {
            let comma = if column == 1 { "" } else { "," };
            let _ = if is_numbered {
                write!(sql, "{comma}${}", row * COLUMNS + column)
            } else {
                write!(sql, "{comma}?")
            };
        }
        sql.push(')');
    }
    sql
}

/// Formats rows for PostgreSQL's `copy`: columns separated by tabs, `\N` for null.
fn copy_text<const COLUMNS: usize>(rows: &[[Value<'_>; COLUMNS]]) -> String {
    let mut text = String::with_capacity(rows.len() * 256);
    for row in rows {
        for (column, value) in row.iter().enumerate() {
            if column > 0 {
                text.push('\t');
            }
            match value {
                Value::Integer(Some(number)) => {
                    let _ = write!(text, "{number}");
                }
                Value::Text(Some(value)) => push_escaped(&mut text, value),
                Value::Boolean(value) => text.push(if *value { 't' } else { 'f' }),
                Value::Integer(None) | Value::Text(None) => text.push_str("\\N"),
            }
        }
        text.push('\n');
    }
    text
}

fn push_escaped(text: &mut String, value: &str) {
    let mut rest = value;
    while let Some(at) = rest.find(['\\', '\t', '\n', '\r']) {
        text.push_str(&rest[..at]);
        text.push_str(match rest.as_bytes()[at] {
            b'\\' => "\\\\",
            b'\t' => "\\t",
            b'\n' => "\\n",
            _ => "\\r",
        });
        rest = &rest[at + 1..];
    }
    text.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_rows_are_separated_by_tabs_and_escaped() {
        let rows: [[Value<'_>; 3]; 2] = [
            [7.into(), "a\tb\\c\nd\re".into(), true.into()],
            [None::<i64>.into(), Value::Text(None), false.into()],
        ];
        assert_eq!(copy_text(&rows), "7\ta\\tb\\\\c\\nd\\re\tt\n\\N\t\\N\tf\n");
    }

    #[test]
    fn a_statement_has_a_parameter_for_each_value() {
        let numbered = insert_statement::<2>("t", "a, b", 2, true);
        assert_eq!(numbered, "insert into t (a, b) values ($1,$2),($3,$4)");
        let plain = insert_statement::<2>("t", "a, b", 2, false);
        assert_eq!(plain, "insert into t (a, b) values (?,?),(?,?)");
    }
}
