//! What a status in the registry of California means. The statuses are data, because the registry invents new ones.

use super::Outcome;
use std::collections::HashMap;
use std::sync::LazyLock;

const FILE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/california-statuses.csv"
));

/// The files that the registry publishes, by what their charities may do.
pub const PARTS: [&str; 4] = [
    "may-operate",
    "may-not-operate",
    "undetermined-status",
    "not-operating",
];

/// By the status in lowercase: the file that it belongs to, and what it means.
static STATUSES: LazyLock<HashMap<String, (&str, Outcome)>> = LazyLock::new(|| {
    let lines = FILE.lines().skip(1);
    lines
        .filter_map(|line| {
            let mut fields = line.split(',');
            let (status, part, outcome) = (fields.next()?, fields.next()?, fields.next()?);
            let outcome = match outcome {
                "pass" => Outcome::Pass,
                "fail" => Outcome::Fail,
                "unknown" => Outcome::Unknown,
                _ => Outcome::Review,
            };
            Some((status.to_lowercase(), (part, outcome)))
        })
        .collect()
});

/// Returns the file that a status belongs to, if it is known.
pub fn part_of(status: &str) -> Option<&'static str> {
    find(status).map(|(part, _)| part)
}

/// Returns what a status means. One that is not known means what its file does, but a person has to look before it stops a
/// nonprofit.
pub(super) fn outcome(part: &str, status: &str) -> Outcome {
    match (find(status), part) {
        (Some((_, outcome)), _) => outcome,
        (None, "may-operate") => Outcome::Pass,
        (None, "undetermined-status") => Outcome::Unknown,
        (None, _) => Outcome::Review,
    }
}

fn find(status: &str) -> Option<(&'static str, Outcome)> {
    let status = status.trim().to_lowercase();
    STATUSES.get(&status).copied().or_else(|| {
        // "Revoked - Failure to File" is a kind of revocation.
        let (first, _) = status.split_once(" - ")?;
        STATUSES.get(first).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutual_benefit_is_a_classification_and_no_sanction() {
        assert_eq!(outcome("may-not-operate", "Mutual Benefit"), Outcome::Pass);
        assert_eq!(part_of("MUTUAL BENEFIT"), Some("may-not-operate"));
    }

    #[test]
    fn an_unknown_status_is_a_question() {
        assert_eq!(outcome("may-not-operate", "Frozen"), Outcome::Review);
        assert_eq!(
            outcome("may-not-operate", "Revoked - Failure to File"),
            Outcome::Fail
        );
        assert_eq!(outcome("may-operate", "Current"), Outcome::Pass);
        assert_eq!(outcome("undetermined-status", "New"), Outcome::Unknown);
    }

    #[test]
    fn every_status_is_in_a_file() {
        assert!(STATUSES.values().all(|(part, _)| PARTS.contains(part)));
        assert_eq!(STATUSES.len(), FILE.lines().count() - 1);
    }
}
