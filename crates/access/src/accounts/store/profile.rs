//! The SQL of public profiles.

use crate::accounts::public_profile::{ProfilePart, PublicProfile};
use crate::audit::{self, Action, Actor};
use platform::db::{Db, query};
use platform::ids::AccountId;
use uuid::Uuid;

const FIND: &str =
    "select username, display_name, picture from accounts where id = $1 and deleted_at is null";
const PICTURES: &str = "select id, picture from accounts where picture is not null and deleted_at is null";
const UPDATE: &str =
    "update accounts set display_name = $2, picture = $3 where id = $1 and deleted_at is null";

const REMOVE_NAME: &str = "update accounts set display_name = null where id = $1 and display_name is not null and deleted_at is null";
const REMOVE_PICTURE: &str =
    "update accounts set picture = null where id = $1 and picture is not null and deleted_at is null";

/// Finds the public profile of an account. A deleted account has none.
pub async fn find(db: &Db, id: AccountId) -> sqlx::Result<Option<PublicProfile>> {
    let row: Option<(String, Option<String>, Option<String>)> =
        db.fetch_optional(query(FIND).bind(id.0)).await?;
    Ok(row.map(|(username, display_name, picture)| PublicProfile {
        username,
        display_name,
        picture,
    }))
}

/// Lists the accounts that have a picture, with the ID of the picture.
pub async fn list_pictures(db: &Db) -> sqlx::Result<Vec<(AccountId, String)>> {
    let rows: Vec<(Uuid, String)> = db.fetch_all(query(PICTURES)).await?;
    Ok(rows
        .into_iter()
        .map(|(account, picture)| (AccountId(account), picture))
        .collect())
}

/// Changes the name and the picture of an account.
pub async fn update(
    db: &Db,
    id: AccountId,
    display_name: Option<&str>,
    picture: Option<&str>,
) -> sqlx::Result<()> {
    let mut tx = db.write().await?;
    tx.execute(query(UPDATE).bind(id.0).bind(display_name).bind(picture))
        .await?;
    tx.commit().await
}

/// Removes the name or the picture of an account, with an audit entry, which does not repeat what was removed. Returns
/// `false` if the account has none.
pub async fn remove(
    db: &Db,
    (account, username): (AccountId, &str),
    part: ProfilePart,
    actor: Actor,
    now: i64,
) -> sqlx::Result<bool> {
    let sql = match part {
        ProfilePart::Name => REMOVE_NAME,
        ProfilePart::Picture => REMOVE_PICTURE,
    };
    let mut tx = db.write().await?;
    let removed = tx.execute(query(sql).bind(account.0)).await?;
    if removed == 0 {
        return Ok(false);
    }
    let action = Action::new(actor, part.action(), username, "");
    audit::store::record(&mut tx, &action, now).await?;
    tx.commit().await?;
    Ok(true)
}
