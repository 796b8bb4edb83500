//! The fields that an import changed: finds and merges them.

use crate::nonprofits::filing::Filing;
use crate::nonprofits::irs::IrsFacts;
use crate::nonprofits::rows::Profile;
use crate::returns::profile::ReturnProfile;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A nonprofit was added by an import into a directory that was not empty.
pub const ADDED: &str = "added";
/// A nonprofit is no longer in the IRS files.
pub const GONE: &str = "gone";
/// A nonprofit is in the IRS files again.
pub const RETURNED: &str = "returned";
/// The slug changed; the former one still works.
pub const SLUG: &str = "slug";

/// The maximum length of a recorded value, in characters. Longer texts are shortened.
pub(crate) const MAX_VALUE_CHARS: usize = 500;

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

/// Shortens a value to the length that is recorded.
pub(super) fn shorten(value: &str) -> Cow<'_, str> {
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
    let fields: [Field<Profile>; 11] = [
        ("name", |profile| profile.name.as_deref()),
        ("aliases", |profile| profile.aliases.as_deref()),
        ("description", |profile| profile.description.as_deref()),
        ("descriptionLong", |profile| profile.description_long.as_deref()),
        ("websiteUrl", |profile| profile.website_url.as_deref()),
        ("donateUrl", |profile| profile.donate_url.as_deref()),
        ("stripeAccount", |profile| profile.stripe_account.as_deref()),
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
