//! The history of a fundraiser: each change with the values before and after it.

use super::Fundraiser;
use platform::clock::rfc3339;
use platform::money::Cents;
use serde_json::{Map, Value, json};

/// Returns the fields that differ, each with its value before and after.
pub(super) fn differences(before: &Fundraiser, after: &Fundraiser) -> Map<String, Value> {
    recorded_fields(before)
        .into_iter()
        .zip(recorded_fields(after))
        .filter(|((_, before), (_, after))| before != after)
        .map(|((name, before), (_, after))| (name.to_owned(), json!({"before": before, "after": after})))
        .collect()
}

/// The fields that can change. Their names are part of the stored format: rows of the history and of the outbox
/// contain them, so they never change.
fn recorded_fields(fundraiser: &Fundraiser) -> [(&'static str, Value); 12] {
    let time = |millis: Option<i64>| json!(millis.map(rfc3339));
    [
        ("title", json!(fundraiser.title)),
        ("description", json!(fundraiser.description)),
        ("startDate", time(fundraiser.starts_at)),
        ("endDate", time(fundraiser.ends_at)),
        ("goal", json!(fundraiser.goal.map(Cents::get))),
        ("raisedOffline", json!(fundraiser.offline.map(Cents::get))),
        ("coverImageHostedId", json!(fundraiser.cover)),
        ("coverFocus", json!(fundraiser.focus.to_stored())),
        ("closedAt", time(fundraiser.closed_at)),
        ("hiddenAt", time(fundraiser.hidden_at)),
        ("hiddenReason", json!(fundraiser.hidden_reason)),
        ("inReviewSince", time(fundraiser.in_review_since)),
    ]
}
