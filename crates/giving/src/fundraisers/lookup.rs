//! Finds fundraisers by words of their titles, for operators.

use platform::db::{Db, read};
use platform::ids::FundraiserId;
use platform::text::escape_like;
use uuid::Uuid;

/// The newest fundraisers, which is where operators look, because titles have no index. IDs are in the order of creation.
const FIND: &str = "select id, title from (select id, title from fundraisers order by id desc limit 20000) newest \
     where lower(title) like $1 escape '\\' limit $2";

/// Finds the newest fundraisers whose titles contain a text.
pub async fn find_by_title(db: &Db, text: &str, take: i64) -> sqlx::Result<Vec<(FundraiserId, String)>> {
    let pattern = format!("%{}%", escape_like(&text.to_lowercase()));
    let rows: Vec<(Uuid, String)> =
        read!(db, c => sqlx::query_as(FIND).bind(&pattern).bind(take).fetch_all(c).await)?;
    Ok(rows
        .into_iter()
        .map(|(id, title)| (FundraiserId(id), title))
        .collect())
}
