//! Inserts many rows quickly, with one statement for many rows.
//!
//! PostgreSQL gets an array for each column, in one round trip. `copy` takes three, and each waits for a delayed
//! acknowledgment (40 ms), because the driver leaves Nagle's algorithm on. SQLite gets `?`: for numbered parameters, sqlx
//! would ask SQLite for the name of each one.

use super::{Connection, Tx};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

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
    Uuid(Option<Uuid>),
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

impl From<Uuid> for Value<'_> {
    fn from(id: Uuid) -> Self {
        Value::Uuid(Some(id))
    }
}

impl From<Option<Uuid>> for Value<'_> {
    fn from(id: Option<Uuid>) -> Self {
        Value::Uuid(id)
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
        let Some(first) = rows.first() else {
            return Ok(());
        };
        let columns = columns.join(", ");
        match self.connection() {
            Connection::Postgres(connection) => {
                let statement = unnest_statement(table, &columns, first);
                for chunk in rows.chunks(CHUNK_SIZE) {
                    let mut query = sqlx::query(AssertSqlSafe(statement.clone()));
                    for column in 0..COLUMNS {
                        let values = chunk.iter().map(|row| row[column]);
                        query = match first[column] {
                            Value::Integer(_) => query.bind(values.map(Value::integer).collect::<Vec<_>>()),
                            Value::Text(_) => query.bind(values.map(Value::text).collect::<Vec<_>>()),
                            Value::Boolean(_) => query.bind(values.map(Value::boolean).collect::<Vec<_>>()),
                            Value::Uuid(_) => query.bind(values.map(Value::uuid).collect::<Vec<_>>()),
                        };
                    }
                    query.execute(&mut *connection).await?;
                }
            }
            Connection::Sqlite(connection) => {
                for chunk in rows.chunks(CHUNK_SIZE.min(MAX_PARAMETERS / COLUMNS)) {
                    let statement = values_statement::<COLUMNS>(table, &columns, chunk.len());
                    let mut query = sqlx::query(AssertSqlSafe(statement));
                    for value in chunk.iter().flatten() {
                        query = match *value {
                            Value::Integer(number) => query.bind(number),
                            Value::Text(text) => query.bind(text.map(str::to_owned)),
                            Value::Boolean(value) => query.bind(value),
                            Value::Uuid(id) => query.bind(id),
                        };
                    }
                    query.execute(&mut *connection).await?;
                }
            }
        }
        Ok(())
    }
}

/// The values of one column have the same type, so that each of these is called only for values of its own type.
impl Value<'_> {
    fn integer(self) -> Option<i64> {
        match self {
            Value::Integer(number) => number,
            Value::Text(_) | Value::Boolean(_) | Value::Uuid(_) => None,
        }
    }

    fn text(self) -> Option<String> {
        match self {
            Value::Text(text) => text.map(str::to_owned),
            Value::Integer(_) | Value::Boolean(_) | Value::Uuid(_) => None,
        }
    }

    fn boolean(self) -> Option<bool> {
        match self {
            Value::Boolean(value) => Some(value),
            Value::Integer(_) | Value::Text(_) | Value::Uuid(_) => None,
        }
    }

    fn uuid(self) -> Option<Uuid> {
        match self {
            Value::Uuid(id) => id,
            Value::Integer(_) | Value::Text(_) | Value::Boolean(_) => None,
        }
    }
}

/// Returns PostgreSQL's statement, which has an array of values for each column.
fn unnest_statement(table: &str, columns: &str, types: &[Value<'_>]) -> String {
    let arrays: Vec<String> = (1..)
        .zip(types)
        .map(|(number, value)| match value {
            Value::Integer(_) => format!("${number}::bigint[]"),
            Value::Text(_) => format!("${number}::text[]"),
            Value::Boolean(_) => format!("${number}::boolean[]"),
            Value::Uuid(_) => format!("${number}::uuid[]"),
        })
        .collect();
    let arrays = arrays.join(", ");
    format!("insert into {table} ({columns}) select * from unnest({arrays})")
}

/// Returns SQLite's statement, which has a parameter for each value.
///
/// SQLite looks up a numbered parameter by a linear search, so they are question marks.
fn values_statement<const COLUMNS: usize>(table: &str, columns: &str, rows: usize) -> String {
    let row = format!("({})", ["?"; COLUMNS].join(","));
    let rows = vec![row; rows].join(",");
    format!("insert into {table} ({columns}) values {rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_an_array_for_each_column_or_a_parameter_for_each_value() {
        let types = [7.into(), Value::Text(None), true.into()];
        assert_eq!(
            unnest_statement("t", "a, b, c", &types),
            "insert into t (a, b, c) select * from unnest($1::bigint[], $2::text[], $3::boolean[])"
        );
        let plain = values_statement::<2>("t", "a, b", 2);
        assert_eq!(plain, "insert into t (a, b) values (?,?),(?,?)");
    }
}
