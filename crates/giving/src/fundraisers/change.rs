//! Changing a fundraiser: what a body asks for, what it becomes, and what its history keeps of it.

use super::Fundraiser;
use super::fields::Fields;
use platform::clock::rfc3339;
use platform::money::Cents;
use serde_json::{Map, Value, json};

/// What is to become of a fundraiser. What is not named stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub starts_at: Option<Option<i64>>,
    pub ends_at: Option<Option<i64>>,
    pub goal: Option<Option<Cents>>,
    pub offline: Option<Option<Cents>>,
    pub cover: Option<Option<String>>,
    /// The moment it is closed, or none to open it again.
    pub closed_at: Option<Option<i64>>,
    /// When and why an operator hides it, or `None` to show it again.
    pub hidden: Option<Option<(i64, String)>>,
    /// `None` ends its review.
    pub in_review_since: Option<Option<i64>>,
}

impl Change {
    /// Reads all fields but the picture. A field that is null is cleared: a goal of null is the automatic one.
    pub fn read(fields: &mut Fields<'_>, existing: &Fundraiser) -> Change {
        let title = fields.has("title").then(|| fields.title()).flatten();
        let description = fields.has("description").then(|| fields.description());
        let starts_at = fields.has("startDate").then(|| fields.date("startDate"));
        let ends_at = fields.has("endDate").then(|| fields.date("endDate"));
        if starts_at.is_some() || ends_at.is_some() {
            fields.in_order(
                starts_at.unwrap_or(existing.starts_at),
                ends_at.unwrap_or(existing.ends_at),
            );
        }
        Change {
            title,
            description,
            starts_at,
            ends_at,
            goal: fields.has("goal").then(|| fields.amount("goal", 1)),
            offline: fields
                .has("raisedOffline")
                .then(|| fields.amount("raisedOffline", 0)),
            ..Change::default()
        }
    }

    /// Closes what is open; what is closed stays closed since then.
    pub fn close(existing: &Fundraiser, now: i64) -> Change {
        Change {
            closed_at: existing.closed_at.is_none().then_some(Some(now)),
            ..Change::default()
        }
    }

    /// Opens what is closed.
    pub fn reopen(existing: &Fundraiser) -> Change {
        Change {
            closed_at: existing.closed_at.is_some().then_some(None),
            ..Change::default()
        }
    }

    /// Hides it from everybody but its owner and operators, for a reason. A new reason replaces the old one. This also
    /// ends a review.
    pub fn hide(existing: &Fundraiser, reason: &str, now: i64) -> Change {
        Change {
            hidden: Some(Some((existing.hidden_at.unwrap_or(now), reason.to_owned()))),
            in_review_since: Some(None),
            ..Change::default()
        }
    }

    /// Shows what is hidden or in review to everybody.
    pub fn show() -> Change {
        Change {
            hidden: Some(None),
            in_review_since: Some(None),
            ..Change::default()
        }
    }

    /// The fundraiser after it, and each field that differs with what it was and what it became.
    pub fn apply(&self, existing: &Fundraiser) -> (Fundraiser, Map<String, Value>) {
        let mut after = existing.clone();
        let own = |value: &mut Option<_>, change: &Option<Option<_>>| {
            if let Some(change) = change {
                *value = *change;
            }
        };
        if let Some(title) = &self.title {
            after.title.clone_from(title);
        }
        if let Some(description) = &self.description {
            after.description.clone_from(description);
        }
        if let Some(cover) = &self.cover {
            after.cover.clone_from(cover);
        }
        own(&mut after.starts_at, &self.starts_at);
        own(&mut after.ends_at, &self.ends_at);
        own(&mut after.closed_at, &self.closed_at);
        own(&mut after.in_review_since, &self.in_review_since);
        if let Some(hidden) = &self.hidden {
            (after.hidden_at, after.hidden_reason) = hidden.clone().unzip();
        }
        after.goal = self.goal.unwrap_or(after.goal);
        after.offline = self.offline.unwrap_or(after.offline);
        let fields = changeable_fields(existing)
            .into_iter()
            .zip(changeable_fields(&after));
        let differing = fields
            .filter(|((_, before), (_, after))| before != after)
            .map(|((name, before), (_, after))| (name.to_owned(), json!({"before": before, "after": after})))
            .collect::<Map<_, _>>();
        if !differing.is_empty() {
            after.version += 1;
        }
        (after, differing)
    }
}

/// The fields that can change, by their names in the interface.
fn changeable_fields(fundraiser: &Fundraiser) -> [(&'static str, Value); 11] {
    let time = |millis: Option<i64>| json!(millis.map(rfc3339));
    [
        ("title", json!(fundraiser.title)),
        ("description", json!(fundraiser.description)),
        ("startDate", time(fundraiser.starts_at)),
        ("endDate", time(fundraiser.ends_at)),
        ("goal", json!(fundraiser.goal.map(Cents::get))),
        ("raisedOffline", json!(fundraiser.offline.map(Cents::get))),
        ("coverImageHostedId", json!(fundraiser.cover)),
        ("closedAt", time(fundraiser.closed_at)),
        ("hiddenAt", time(fundraiser.hidden_at)),
        ("hiddenReason", json!(fundraiser.hidden_reason)),
        ("inReviewSince", time(fundraiser.in_review_since)),
    ]
}
