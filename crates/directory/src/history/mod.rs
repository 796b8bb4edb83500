//! What imports changed about nonprofits that were already in the directory.
//!
//! Every import records its changes in its own transaction, field by field, so the history says exactly what is stored. Of a
//! nonprofit without an EIN it only says that it was added or changed.

pub mod changes;
pub mod field_sources;

use crate::nonprofits::ein::Ein;
use crate::nonprofits::filing::Filing;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::irs_rows::ReturnProfile;
use crate::nonprofits::rows::Profile;
use platform::db::{Db, Tx, from_row, read, run};
use std::borrow::Cow;
use std::collections::BTreeMap;
use uuid::Uuid;

/// A nonprofit was added by an import into a directory that was not empty.
pub const ADDED: &str = "added";
/// A nonprofit is no longer in the IRS files.
pub const GONE: &str = "gone";
/// A nonprofit is in the IRS files again.
pub const RETURNED: &str = "returned";
/// The slug changed; the former one still works.
pub const SLUG: &str = "slug";

/// The maximum length of a recorded value, in characters. Longer texts are shortened.
pub const MAX_VALUE_CHARS: usize = 500;

const LIST: &str = "select h.revision, i.kind, i.finished_at, h.field, h.old_value, h.new_value \
     from nonprofit_history h join imports i on i.revision = h.revision where h.ein = $1 \
     order by h.revision desc, h.field";
const INSERT_WITHOUT_EIN: &str =
    "insert into changes_without_ein (revision, nonprofit_id, is_added) values ($1, $2, $3)";
const LIST_FILES: &str = "select f.revision, f.name, f.sha256 from import_files f where f.revision in \
     (select h.revision from nonprofit_history h where h.ein = $1) order by f.revision, f.position";

/// A change of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub ein: u32,
    /// The name that the field has in the API, or one of [`ADDED`], [`GONE`] and [`RETURNED`].
    pub field: &'static str,
    pub old: Option<String>,
    pub new: Option<String>,
}

impl Change {
    /// Creates a change that has no values: [`ADDED`], [`GONE`] or [`RETURNED`].
    pub fn event(ein: u32, field: &'static str) -> Change {
        Change {
            ein,
            field,
            old: None,
            new: None,
        }
    }
}

/// Records the changes of an import. Each field of a nonprofit must be in at most one of them.
pub async fn record(tx: &mut Tx, revision: i64, changes: &[Change]) -> sqlx::Result<()> {
    let shortened: Vec<[Option<Cow<'_, str>>; 2]> = changes
        .iter()
        .map(|change| [&change.old, &change.new].map(|value| value.as_deref().map(shorten)))
        .collect();
    let rows: Vec<_> = changes
        .iter()
        .zip(&shortened)
        .map(|(change, [old, new])| {
            [
                i64::from(change.ein).into(),
                revision.into(),
                change.field.into(),
                platform::db::Value::Text(old.as_deref()),
                platform::db::Value::Text(new.as_deref()),
            ]
        })
        .collect();
    let columns = ["ein", "revision", "field", "old_value", "new_value"];
    tx.insert_many("nonprofit_history", columns, &rows).await
}

/// Records which nonprofits without an EIN an import added (`true`) or changed.
pub async fn record_without_ein(
    tx: &mut Tx,
    revision: i64,
    nonprofits: &BTreeMap<Uuid, bool>,
) -> sqlx::Result<()> {
    for (id, is_added) in nonprofits {
        run!(&mut *tx, c => sqlx::query(INSERT_WITHOUT_EIN)
            .bind(revision)
            .bind(*id)
            .bind(*is_added)
            .execute(c)
            .await
            .map(|_| ()))?;
    }
    Ok(())
}

fn shorten(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(MAX_VALUE_CHARS) {
        None => Cow::Borrowed(value),
        Some(_) => Cow::Owned(value.chars().take(MAX_VALUE_CHARS - 1).chain(['…']).collect()),
    }
}

/// The changes of an import that can change a field several times: only the value before the first change and the one
/// after the last count.
#[derive(Debug, Default)]
pub struct MergedChanges(BTreeMap<(u32, &'static str), Values>);

/// The old and the new value of a field.
type Values = (Option<String>, Option<String>);

/// A field with its name, and how to get its value.
type Field<R> = (&'static str, fn(&R) -> Option<&str>);

impl MergedChanges {
    pub fn add(&mut self, change: Change) {
        let Change { ein, field, old, new } = change;
        let entry = self.0.entry((ein, field)).or_insert((old, None));
        entry.1 = new;
    }

    /// Returns whether the import added the nonprofit.
    pub fn is_added(&self, ein: u32) -> bool {
        self.0.contains_key(&(ein, ADDED))
    }

    /// Returns one change for each field that changed.
    pub fn finish(self) -> Vec<Change> {
        let changes = self
            .0
            .into_iter()
            .map(|((ein, field), (old, new))| Change { ein, field, old, new });
        changes
            .filter(|change| change.old != change.new || change.field == ADDED)
            .collect()
    }
}

/// Compares two filings field by field. `name_field` is the field for the name: a profile can have another one.
pub fn compare_filings(
    ein: u32,
    name_field: &'static str,
    old: &Filing<'_>,
    new: &Filing<'_>,
    changes: &mut Vec<Change>,
) {
    let texts = [
        (name_field, old.name, new.name),
        ("chapter", old.chapter, new.chapter),
        ("city", old.city, new.city),
        ("state", old.state, new.state),
        ("zip", old.zip, new.zip),
        ("nteeCode", old.ntee, new.ntee),
    ];
    let text = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    for (field, old, new) in texts {
        if old != new {
            changes.push(Change {
                ein,
                field,
                old: text(old),
                new: text(new),
            });
        }
    }
    if old.facts == new.facts {
        return;
    }
    let [old, new] = [old.facts, new.facts].map(Option::unwrap_or_default).map(numbers);
    for ((field, old), (_, new)) in old.into_iter().zip(new) {
        if old != new {
            changes.push(Change {
                ein,
                field,
                old: old.map(|number| number.to_string()),
                new: new.map(|number| number.to_string()),
            });
        }
    }
}

/// Lists the codes and amounts with their names. Zero means unknown for codes and dates.
fn numbers(facts: IrsFacts) -> [(&'static str, Option<i64>); 11] {
    let code = |code: u32| (code != 0).then_some(i64::from(code));
    [
        ("subsection", code(facts.subsection.into())),
        ("deductibility", code(facts.deductibility.into())),
        ("foundation", code(facts.foundation.into())),
        ("status", code(facts.status.into())),
        ("affiliation", code(facts.affiliation.into())),
        ("group", code(facts.group.into())),
        ("ruling", code(facts.ruling)),
        ("taxPeriod", code(facts.tax_period)),
        ("assets", facts.assets),
        ("income", facts.income),
        ("revenue", facts.revenue),
    ]
}

/// Compares two profiles field by field.
pub fn compare_profiles(ein: u32, old: &Profile, new: &Profile, changes: &mut Vec<Change>) {
    let fields: [Field<Profile>; 10] = [
        ("name", |profile| profile.name.as_deref()),
        ("aliases", |profile| profile.aliases.as_deref()),
        ("description", |profile| profile.description.as_deref()),
        ("descriptionLong", |profile| profile.description_long.as_deref()),
        ("websiteUrl", |profile| profile.website_url.as_deref()),
        ("donateUrl", |profile| profile.donate_url.as_deref()),
        ("causes", |profile| profile.causes.as_deref()),
        ("country", |profile| profile.country.as_deref()),
        ("logo", |profile| profile.logo.as_deref()),
        ("cover", |profile| profile.cover.as_deref()),
    ];
    for (field, value) in fields {
        let (old, new) = (value(old), value(new));
        if old != new {
            changes.push(Change {
                ein,
                field,
                old: old.map(str::to_owned),
                new: new.map(str::to_owned),
            });
        }
    }
}

/// Compares what the returns of a nonprofit say on its page. Amounts are not compared: they are kept for each period.
pub fn compare_return_profiles(
    ein: u32,
    old: Option<&ReturnProfile>,
    new: &ReturnProfile,
    changes: &mut Vec<Change>,
) {
    let fields: [Field<ReturnProfile>; 5] = [
        ("name", |profile| profile.name.as_deref()),
        ("aliases", |profile| profile.aliases.as_deref()),
        ("description", |profile| profile.description.as_deref()),
        ("descriptionLong", |profile| profile.description_long.as_deref()),
        ("websiteUrl", |profile| profile.website_url.as_deref()),
    ];
    let texts = fields.map(|(field, value)| {
        let text = |profile: &ReturnProfile| value(profile).map(str::to_owned);
        (field, old.and_then(text), text(new))
    });
    let year = |profile: &ReturnProfile| profile.formed.map(|year| year.to_string());
    let is_final = |profile: &ReturnProfile| profile.is_final.then(|| "true".to_owned());
    let others = [
        ("formed", old.and_then(year), year(new)),
        ("isFinal", old.and_then(is_final), is_final(new)),
    ];
    for (field, old, new) in texts.into_iter().chain(others) {
        if old != new {
            changes.push(Change { ein, field, old, new });
        }
    }
}

/// An import that changed a nonprofit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    pub revision: i64,
    /// The kind of import, such as `irs`.
    pub kind: String,
    pub finished_at: i64,
    /// The files of the import, with their SHA-256 hashes.
    pub files: Vec<(String, String)>,
    /// The changed fields, with the old and the new value.
    pub changes: Vec<FieldChange>,
}

/// A recorded change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    pub field: String,
    pub old: Option<String>,
    pub new: Option<String>,
}

/// A row of [`LIST`].
struct HistoryRow {
    revision: i64,
    kind: String,
    finished_at: i64,
    field: String,
    old_value: Option<String>,
    new_value: Option<String>,
}

from_row!(HistoryRow {
    revision,
    kind,
    finished_at,
    field,
    old_value,
    new_value
});

/// Lists the imports that changed a nonprofit, newest first.
pub async fn list(db: &Db, ein: Ein) -> sqlx::Result<Vec<HistoryEntry>> {
    let ein = i64::from(ein.value());
    let rows: Vec<HistoryRow> = read!(db, c => sqlx::query_as(LIST).bind(ein).fetch_all(c).await)?;
    let files: Vec<(i64, String, String)> =
        read!(db, c => sqlx::query_as(LIST_FILES).bind(ein).fetch_all(c).await)?;
    let mut entries: Vec<HistoryEntry> = Vec::new();
    for row in rows {
        let is_next = entries.last().is_none_or(|entry| entry.revision != row.revision);
        if is_next {
            let of_import = files.iter().filter(|(revision, ..)| *revision == row.revision);
            entries.push(HistoryEntry {
                revision: row.revision,
                kind: row.kind,
                finished_at: row.finished_at,
                files: of_import
                    .map(|(_, name, sha256)| (name.clone(), sha256.clone()))
                    .collect(),
                changes: Vec::new(),
            });
        }
        if let Some(entry) = entries.last_mut() {
            entry.changes.push(FieldChange {
                field: row.field,
                old: row.old_value,
                new: row.new_value,
            });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(field: &'static str, old: Option<&str>, new: Option<&str>) -> Change {
        Change {
            ein: 7,
            field,
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        }
    }

    #[test]
    fn filings_are_compared_field_by_field() {
        let old = Filing {
            name: "ONE",
            city: "KEENE",
            facts: Some(IrsFacts {
                status: 1,
                revenue: Some(0),
                ..IrsFacts::default()
            }),
            ..Filing::default()
        };
        let new = Filing {
            name: "ONE",
            state: "NH",
            facts: Some(IrsFacts {
                status: 1,
                tax_period: 202_406,
                ..IrsFacts::default()
            }),
            ..Filing::default()
        };
        let mut changes = Vec::new();
        compare_filings(7, "name", &old, &new, &mut changes);
        assert_eq!(
            changes,
            [
                change("city", Some("KEENE"), None),
                change("state", None, Some("NH")),
                change("taxPeriod", None, Some("202406")),
                change("revenue", Some("0"), None),
            ]
        );
        changes.clear();
        compare_filings(7, "name", &new, &new, &mut changes);
        assert_eq!(changes, []);
    }

    #[test]
    fn merged_changes_keep_the_first_old_and_the_last_new_value() {
        let mut merged = MergedChanges::default();
        for step in [
            change("name", Some("One"), Some("Two")),
            change("name", Some("Two"), Some("Three")),
            change("causes", None, Some("arts")),
            change("causes", Some("arts"), None),
            Change::event(7, ADDED),
        ] {
            merged.add(step);
        }
        assert_eq!(
            merged.finish(),
            [
                Change::event(7, ADDED),
                change("name", Some("One"), Some("Three"))
            ]
        );
    }

    #[test]
    fn long_values_are_shortened() {
        assert_eq!(shorten("short"), "short");
        let long = "é".repeat(MAX_VALUE_CHARS);
        assert_eq!(shorten(&long), long);
        let shortened = shorten(&"é".repeat(MAX_VALUE_CHARS + 1)).into_owned();
        assert_eq!(shortened.chars().count(), MAX_VALUE_CHARS);
        assert!(shortened.ends_with("é…"));
    }
}
