//! Reads rows into structs by column name.

/// Implements [`sqlx::FromRow`] for a struct, for both databases. Each field is read from the column of that name.
///
/// ```ignore
/// from_row!(StoredKey { id, account_id, name });
/// ```
///
/// sqlx's own derive would compile both drivers a second time for the build machine.
#[macro_export]
macro_rules! from_row {
    ($type:ident { $($column:ident),+ $(,)? }) => {
        $crate::from_row!(@for sqlx::sqlite::SqliteRow, $type, $($column)+);
        $crate::from_row!(@for sqlx::postgres::PgRow, $type, $($column)+);
    };
    (@for $row:ty, $type:ident, $($column:ident)+) => {
        impl<'r> sqlx::FromRow<'r, $row> for $type {
            fn from_row(row: &'r $row) -> sqlx::Result<$type> {
                Ok($type {
                    $($column: sqlx::Row::try_get(row, stringify!($column))?,)+
                })
            }
        }
    };
}
