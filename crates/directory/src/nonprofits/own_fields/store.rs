//! The SQL of what nonprofits say about themselves.

use super::apply::apply;
use super::{OwnField, OwnValue};
use crate::history::imports::store as imports;
use crate::nonprofits::rows::Profile;
use platform::db::{Db, Tx, from_row, query};
use platform::ids::{AccountId, NonprofitId};
use std::collections::HashMap;
use uuid::Uuid;

macro_rules! own_fields {
    ($rest:literal) => {
        concat!(
            "select o.nonprofit_id, o.field, o.value, o.stated_at from own_fields o ",
            $rest
        )
    };
}

const OF_NONPROFIT: &str = own_fields!("where o.nonprofit_id = $1");
const ALL: &str = own_fields!("");
const CHANGED_SINCE: &str =
    own_fields!("where o.nonprofit_id in (select nonprofit_id from directory_changes where revision > $1)");
const FIND: &str = "select value from own_fields where nonprofit_id = $1 and field = $2";
const UPSERT: &str = "insert into own_fields (nonprofit_id, field, value, stated_at, account_id) \
     values ($1, $2, $3, $4, $5) on conflict (nonprofit_id, field) do update \
     set value = excluded.value, stated_at = excluded.stated_at, account_id = excluded.account_id \
     where own_fields.value <> excluded.value";
const REMOVE: &str = "delete from own_fields where nonprofit_id = $1 and field = $2";

struct OwnFieldRow {
    nonprofit_id: Uuid,
    field: String,
    value: String,
    stated_at: i64,
}

from_row!(OwnFieldRow {
    nonprofit_id,
    field,
    value,
    stated_at,
});

impl OwnFieldRow {
    fn into_value(self) -> Option<OwnValue> {
        Some(OwnValue {
            field: OwnField::find(&self.field)?,
            value: self.value,
            stated_at: self.stated_at,
        })
    }
}

/// Finds the text with which a nonprofit thanks its donors.
pub async fn find_thanks(db: &Db, id: NonprofitId) -> sqlx::Result<Option<String>> {
    db.fetch_optional_scalar(query(FIND).bind(id.0).bind(OwnField::Thanks.as_str()))
        .await
}

/// Sets fields of a nonprofit, or removes those without a value, so that what was filed is shown again. Servers notice
/// it like a small import. Returns the fields that changed.
pub async fn change(
    tx: &mut Tx,
    id: NonprofitId,
    changes: &[(OwnField, Option<&str>)],
    account: AccountId,
    now: i64,
) -> sqlx::Result<Vec<OwnField>> {
    let mut changed = Vec::new();
    for (field, value) in changes {
        let name = field.as_str();
        let rows = match value {
            Some(value) => {
                let upsert = query(UPSERT).bind(id.0).bind(name).bind(*value).bind(now);
                tx.execute(upsert.bind(account.0)).await?
            }
            None => tx.execute(query(REMOVE).bind(id.0).bind(name)).await?,
        };
        if rows > 0 {
            changed.push(*field);
        }
    }
    if !changed.is_empty() {
        let revision = imports::next_revision(tx).await?;
        imports::insert_changes(tx, revision, &[id.0]).await?;
    }
    Ok(changed)
}

/// Lists what a nonprofit says about itself.
pub(crate) async fn list_values(tx: &mut Tx, id: NonprofitId) -> sqlx::Result<Vec<OwnValue>> {
    let rows: Vec<OwnFieldRow> = tx.fetch_all(query(OF_NONPROFIT).bind(id.0)).await?;
    Ok(rows.into_iter().filter_map(OwnFieldRow::into_value).collect())
}

/// Puts what a nonprofit says about itself in place of what was imported.
pub(crate) async fn apply_to(
    tx: &mut Tx,
    id: Uuid,
    profile: Option<Profile>,
) -> sqlx::Result<Option<Profile>> {
    let rows: Vec<OwnFieldRow> = tx.fetch_all(query(OF_NONPROFIT).bind(id)).await?;
    let mut profiles: HashMap<Uuid, Profile> = profile.into_iter().map(|profile| (id, profile)).collect();
    apply_rows(rows, &mut profiles);
    Ok(profiles.remove(&id))
}

/// Does the same for all nonprofits.
pub(crate) async fn apply_to_all(tx: &mut Tx, profiles: &mut HashMap<Uuid, Profile>) -> sqlx::Result<()> {
    let rows: Vec<OwnFieldRow> = tx.fetch_all(query(ALL)).await?;
    apply_rows(rows, profiles);
    Ok(())
}

/// Does the same for the nonprofits that changed after a revision.
pub(crate) async fn apply_to_changed(
    tx: &mut Tx,
    revision: i64,
    profiles: &mut HashMap<Uuid, Profile>,
) -> sqlx::Result<()> {
    let rows: Vec<OwnFieldRow> = tx.fetch_all(query(CHANGED_SINCE).bind(revision)).await?;
    apply_rows(rows, profiles);
    Ok(())
}

fn apply_rows(rows: Vec<OwnFieldRow>, profiles: &mut HashMap<Uuid, Profile>) {
    for row in rows {
        let id = row.nonprofit_id;
        if let Some(value) = row.into_value() {
            let profile = profiles.entry(id).or_insert_with(|| Profile {
                nonprofit_id: id,
                ..Profile::default()
            });
            apply(profile, value);
        }
    }
}
