//! A statement with its parameters, and the functions of [`Db`] and [`Tx`] that run it.
//!
//! One SQL text serves both databases: `db.fetch_all(query(LIST).bind(account.0))`. Parameters are stored as values
//! until the statement runs, and what runs it is not generic, so it is compiled once, in this crate, instead of once for
//! each statement, row type and database.

use super::{Db, Tx};
use futures_util::TryStreamExt as _;
use futures_util::future::BoxFuture;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query as SqlxQuery;
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{FromRow, Postgres, SqlSafeStr, SqlStr, Sqlite};
use std::borrow::Cow;
use uuid::Uuid;

/// A statement for either database.
#[derive(Debug)]
#[must_use = "a statement does nothing until it is run"]
pub struct Query<'q> {
    sql: SqlStr,
    parameters: Vec<Parameter<'q>>,
    is_persistent: bool,
}

/// The value of a parameter of a [`Query`]; `None` is null.
#[derive(Debug)]
pub enum Parameter<'q> {
    Integer(Option<i64>),
    Real(Option<f64>),
    Boolean(Option<bool>),
    Text(Option<Cow<'q, str>>),
    Bytes(Option<Cow<'q, [u8]>>),
    Uuid(Option<Uuid>),
}

/// A type that can be read from a row of either database: a tuple, or a struct with [`from_row!`](crate::from_row).
pub trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

/// A row of either database.
#[derive(Debug)]
enum AnyRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Reads one row. It is called for each of them, and an error ends the query.
type RowReader<'a> = &'a mut (dyn FnMut(AnyRow) -> sqlx::Result<()> + Send);

/// Creates a statement. SQL that is not a constant must be wrapped in [`sqlx::AssertSqlSafe`].
pub fn query<'q>(sql: impl SqlSafeStr) -> Query<'q> {
    Query {
        sql: sql.into_sql_str(),
        parameters: Vec::new(),
        is_persistent: true,
    }
}

/// Binds all parameters of a statement to a query of one database.
macro_rules! bind_all {
    ($query:expr) => {{
        let Query {
            sql,
            parameters,
            is_persistent,
        } = $query;
        let mut query = sqlx::query(sql).persistent(is_persistent);
        for parameter in parameters {
            query = match parameter {
                Parameter::Integer(number) => query.bind(number),
                Parameter::Real(number) => query.bind(number),
                Parameter::Boolean(value) => query.bind(value),
                Parameter::Text(text) => query.bind(text.map(Cow::into_owned)),
                Parameter::Bytes(bytes) => query.bind(bytes.map(Cow::into_owned)),
                Parameter::Uuid(id) => query.bind(id),
            };
        }
        query
    }};
}

impl<'q> Query<'q> {
    /// Appends the value of the next parameter.
    pub fn bind(mut self, value: impl Into<Parameter<'q>>) -> Query<'q> {
        self.parameters.push(value.into());
        self
    }

    /// Runs the statement without adding it to the cache of prepared statements, because its text is rarely the same.
    pub fn uncached(mut self) -> Query<'q> {
        self.is_persistent = false;
        self
    }

    fn for_sqlite(self) -> SqlxQuery<'static, Sqlite, SqliteArguments> {
        bind_all!(self)
    }

    fn for_postgres(self) -> SqlxQuery<'static, Postgres, PgArguments> {
        bind_all!(self)
    }
}

impl AnyRow {
    fn read<T: Row>(&self) -> sqlx::Result<T> {
        match self {
            AnyRow::Sqlite(row) => T::from_row(row),
            AnyRow::Postgres(row) => T::from_row(row),
        }
    }
}

impl Db {
    /// Returns every row.
    pub async fn fetch_all<T: Row>(&self, query: Query<'_>) -> sqlx::Result<Vec<T>> {
        let mut rows = Vec::new();
        self.read_rows(query, &mut |row| {
            rows.push(row.read()?);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Returns the first row, if there is one.
    pub async fn fetch_optional<T: Row>(&self, query: Query<'_>) -> sqlx::Result<Option<T>> {
        self.read_row(query).await?.map(|row| row.read()).transpose()
    }

    /// Returns the first row. There must be one.
    pub async fn fetch_one<T: Row>(&self, query: Query<'_>) -> sqlx::Result<T> {
        self.fetch_optional(query).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Returns the first column of every row.
    pub async fn fetch_scalars<T: Send>(&self, query: Query<'_>) -> sqlx::Result<Vec<T>>
    where
        (T,): Row,
    {
        let mut values = Vec::new();
        self.read_rows(query, &mut |row| {
            let (value,) = row.read()?;
            values.push(value);
            Ok(())
        })
        .await?;
        Ok(values)
    }

    /// Returns the first column of the first row, if there is one.
    pub async fn fetch_optional_scalar<T>(&self, query: Query<'_>) -> sqlx::Result<Option<T>>
    where
        (T,): Row,
    {
        Ok(self.fetch_optional(query).await?.map(|(value,)| value))
    }

    /// Returns the first column of the first row. There must be one.
    pub async fn fetch_scalar<T>(&self, query: Query<'_>) -> sqlx::Result<T>
    where
        (T,): Row,
    {
        self.fetch_one(query).await.map(|(value,)| value)
    }

    fn read_rows<'a>(&'a self, query: Query<'a>, reader: RowReader<'a>) -> BoxFuture<'a, sqlx::Result<()>> {
        Box::pin(async move {
            match self {
                Db::Sqlite { readers, .. } => {
                    let mut rows = query.for_sqlite().fetch(readers);
                    while let Some(row) = rows.try_next().await? {
                        reader(AnyRow::Sqlite(row))?;
                    }
                    Ok(())
                }
                Db::Postgres(postgres) => {
                    let (permit, pool) = (postgres.permit(), postgres.pool());
                    let read = async {
                        let mut rows = query.for_postgres().fetch(&pool);
                        while let Some(row) = rows.try_next().await? {
                            reader(AnyRow::Postgres(row))?;
                        }
                        Ok(())
                    };
                    permit.run(read).await
                }
            }
        })
    }

    fn read_row<'a>(&'a self, query: Query<'a>) -> BoxFuture<'a, sqlx::Result<Option<AnyRow>>> {
        Box::pin(async move {
            match self {
                Db::Sqlite { readers, .. } => {
                    let row = query.for_sqlite().fetch_optional(readers).await?;
                    Ok(row.map(AnyRow::Sqlite))
                }
                Db::Postgres(postgres) => {
                    let (permit, pool) = (postgres.permit(), postgres.pool());
                    let row = permit.run(query.for_postgres().fetch_optional(&pool)).await?;
                    Ok(row.map(AnyRow::Postgres))
                }
            }
        })
    }
}

impl Tx {
    /// Runs a statement and returns the number of rows that it changed.
    pub async fn execute(&mut self, query: Query<'_>) -> sqlx::Result<u64> {
        self.change_rows(query).await
    }

    /// Returns every row.
    pub async fn fetch_all<T: Row>(&mut self, query: Query<'_>) -> sqlx::Result<Vec<T>> {
        let mut rows = Vec::new();
        self.for_each(query, |row| {
            rows.push(row);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Calls a function for every row, in order, without holding all of them in memory.
    pub async fn for_each<T: Row>(
        &mut self,
        query: Query<'_>,
        mut visit: impl FnMut(T) -> sqlx::Result<()> + Send,
    ) -> sqlx::Result<()> {
        self.read_rows(query, &mut |row| visit(row.read()?)).await
    }

    /// Returns the first row, if there is one.
    pub async fn fetch_optional<T: Row>(&mut self, query: Query<'_>) -> sqlx::Result<Option<T>> {
        self.read_row(query).await?.map(|row| row.read()).transpose()
    }

    /// Returns the first row. There must be one.
    pub async fn fetch_one<T: Row>(&mut self, query: Query<'_>) -> sqlx::Result<T> {
        self.fetch_optional(query).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Returns the first column of every row.
    pub async fn fetch_scalars<T: Send>(&mut self, query: Query<'_>) -> sqlx::Result<Vec<T>>
    where
        (T,): Row,
    {
        let mut values = Vec::new();
        self.for_each(query, |(value,)| {
            values.push(value);
            Ok(())
        })
        .await?;
        Ok(values)
    }

    /// Returns the first column of the first row, if there is one.
    pub async fn fetch_optional_scalar<T>(&mut self, query: Query<'_>) -> sqlx::Result<Option<T>>
    where
        (T,): Row,
    {
        Ok(self.fetch_optional(query).await?.map(|(value,)| value))
    }

    /// Returns the first column of the first row. There must be one.
    pub async fn fetch_scalar<T>(&mut self, query: Query<'_>) -> sqlx::Result<T>
    where
        (T,): Row,
    {
        self.fetch_one(query).await.map(|(value,)| value)
    }

    fn change_rows<'a>(&'a mut self, query: Query<'a>) -> BoxFuture<'a, sqlx::Result<u64>> {
        Box::pin(async move {
            match self {
                Tx::Sqlite(tx) => {
                    let result = query.for_sqlite().execute(&mut **tx).await?;
                    Ok(result.rows_affected())
                }
                Tx::Postgres(tx) => {
                    let (permit, connection) = tx.parts();
                    let result = permit.run(query.for_postgres().execute(connection)).await?;
                    Ok(result.rows_affected())
                }
            }
        })
    }

    fn read_rows<'a>(
        &'a mut self,
        query: Query<'a>,
        reader: RowReader<'a>,
    ) -> BoxFuture<'a, sqlx::Result<()>> {
        Box::pin(async move {
            match self {
                Tx::Sqlite(tx) => {
                    let mut rows = query.for_sqlite().fetch(&mut **tx);
                    while let Some(row) = rows.try_next().await? {
                        reader(AnyRow::Sqlite(row))?;
                    }
                    Ok(())
                }
                Tx::Postgres(tx) => {
                    let (permit, connection) = tx.parts();
                    let read = async {
                        let mut rows = query.for_postgres().fetch(connection);
                        while let Some(row) = rows.try_next().await? {
                            reader(AnyRow::Postgres(row))?;
                        }
                        Ok(())
                    };
                    permit.run(read).await
                }
            }
        })
    }

    fn read_row<'a>(&'a mut self, query: Query<'a>) -> BoxFuture<'a, sqlx::Result<Option<AnyRow>>> {
        Box::pin(async move {
            match self {
                Tx::Sqlite(tx) => {
                    let row = query.for_sqlite().fetch_optional(&mut **tx).await?;
                    Ok(row.map(AnyRow::Sqlite))
                }
                Tx::Postgres(tx) => {
                    let (permit, connection) = tx.parts();
                    let row = permit
                        .run(query.for_postgres().fetch_optional(connection))
                        .await?;
                    Ok(row.map(AnyRow::Postgres))
                }
            }
        })
    }
}

/// Implements the conversion to a [`Parameter`] of a type and of an option of it.
macro_rules! parameter {
    ($($type:ty => $variant:ident, $convert:expr;)+) => {
        $(
            impl<'q> From<$type> for Parameter<'q> {
                fn from(value: $type) -> Parameter<'q> {
                    Parameter::$variant(Some($convert(value)))
                }
            }

            impl<'q> From<Option<$type>> for Parameter<'q> {
                fn from(value: Option<$type>) -> Parameter<'q> {
                    Parameter::$variant(value.map($convert))
                }
            }
        )+
    };
}

parameter! {
    i64 => Integer, |number| number;
    i32 => Integer, i64::from;
    f64 => Real, |number| number;
    bool => Boolean, |value| value;
    Uuid => Uuid, |id| id;
    String => Text, Cow::Owned;
    &'q str => Text, Cow::Borrowed;
    &'q String => Text, |text: &'q String| Cow::Borrowed(text.as_str());
    Vec<u8> => Bytes, Cow::Owned;
    &'q [u8] => Bytes, Cow::Borrowed;
    &'q Vec<u8> => Bytes, |bytes: &'q Vec<u8>| Cow::Borrowed(bytes.as_slice());
}

impl<'q> From<&'q Option<String>> for Parameter<'q> {
    fn from(text: &'q Option<String>) -> Parameter<'q> {
        text.as_deref().into()
    }
}
