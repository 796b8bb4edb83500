//! Compares anchors with a ledger: what the ledger once contained and no longer does. Does no I/O.

use super::Anchor;
use crate::ledger::entry::Hash;
use platform::clock::rfc3339;
use std::fmt;

/// An anchor, and the hash of its entry in the ledger, if the ledger reaches that far.
pub type ComparedAnchor = (Anchor, Option<Hash>);

/// Entries that anchors prove to have existed and that the ledger no longer contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The anchors that are not in the ledger, by the number of their entries.
    pub anchors: Vec<Anchor>,
    /// The last anchor before them that is in the ledger.
    pub confirmed: Option<Anchor>,
    /// The number of entries in the ledger.
    pub entries: i64,
    /// When the last of them was recorded.
    pub last_recorded_at: Option<i64>,
}

impl Loss {
    /// Compares anchors with a ledger. Returns `None` if the ledger contains all of them.
    pub fn find(compared: Vec<ComparedAnchor>, entries: i64, last_recorded_at: Option<i64>) -> Option<Loss> {
        let (found, mut lost): (Vec<_>, Vec<_>) = compared
            .into_iter()
            .partition(|(anchor, hash)| *hash == Some(anchor.hash));
        lost.sort_unstable_by_key(|(anchor, _)| (anchor.entries, anchor.at));
        let first = lost.first()?.0.entries;
        let confirmed = found
            .into_iter()
            .map(|(anchor, _)| anchor)
            .filter(|anchor| anchor.entries < first)
            .max_by_key(|anchor| (anchor.entries, anchor.at));
        Some(Loss {
            anchors: lost.into_iter().map(|(anchor, _)| anchor).collect(),
            confirmed,
            entries,
            last_recorded_at,
        })
    }

    /// The anchor with the most entries.
    fn last(&self) -> &Anchor {
        self.anchors.last().expect("a loss has an anchor")
    }

    /// The last entry that is known to be unchanged.
    fn unchanged(&self) -> i64 {
        let is_cut = self.anchors[0].entries > self.entries;
        if is_cut {
            self.entries
        } else {
            self.confirmed.as_ref().map_or(0, |anchor| anchor.entries)
        }
    }

    /// The first and the last sequence number of the entries that are missing or replaced.
    pub fn range(&self) -> (i64, i64) {
        (self.unchanged() + 1, self.last().entries)
    }

    /// The number of these entries.
    pub fn count(&self) -> i64 {
        self.last().entries - self.unchanged()
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.range();
        let count = self.count();
        let anchored = rfc3339(self.last().at);
        if self.anchors[0].entries > self.entries {
            if count == 1 {
                f.write_str("1 entry at the end of the ledger is missing: ")?;
            } else {
                write!(f, "{count} entries at the end of the ledger are missing: ")?;
            }
            match self.last_recorded_at {
                Some(at) => write!(f, "it ends with entry {} of {}", self.entries, rfc3339(at))?,
                None => f.write_str("it has no entries")?,
            }
            return write!(f, ", but the anchor of {anchored} names entry {last}");
        }
        write!(f, "entries from {first} to {last} are missing or replaced")?;
        if let Some(confirmed) = &self.confirmed {
            write!(f, " since {}", rfc3339(confirmed.at))?;
        }
        write!(f, ": the anchor of {anchored} is not in the ledger")
    }
}

/// A place that should have anchors and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostPlace {
    /// Its name in messages.
    pub label: &'static str,
    /// Its name in the database.
    pub key: String,
    pub problem: PlaceProblem,
}

/// What is wrong with a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlaceProblem {
    /// It had an anchor of the entry `expected`, and has none that reaches so far.
    Ends { expected: i64, longest: Option<i64> },
    /// It has anchors, but those from before this time were gone then.
    Lost { at: i64 },
    /// Its longest anchor, of this entry, is not signed with the key of the settings.
    Unsigned(i64),
}

impl LostPlace {
    /// Judges a place by what it has and what it had. `expected` is 0 if it is not known to have had any.
    pub fn find(
        (label, key): (&'static str, &str),
        (expected, lost_at): (i64, Option<i64>),
        longest: Option<i64>,
        is_signed: bool,
    ) -> Option<LostPlace> {
        let problem = match longest {
            _ if longest.unwrap_or_default() < expected => PlaceProblem::Ends { expected, longest },
            _ if let Some(at) = lost_at => PlaceProblem::Lost { at },
            Some(longest) if !is_signed => PlaceProblem::Unsigned(longest),
            _ => return None,
        };
        Some(LostPlace {
            label,
            key: key.to_owned(),
            problem,
        })
    }
}

impl fmt::Display for LostPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = self.label;
        match self.problem {
            PlaceProblem::Ends {
                expected,
                longest: None,
            } => write!(
                f,
                "the anchors in {label} are gone: it had one of entry {expected}, and now it has none"
            ),
            PlaceProblem::Ends {
                expected,
                longest: Some(longest),
            } => write!(
                f,
                "anchors in {label} are gone: it had one of entry {expected}, and now the last one is of entry {longest}"
            ),
            PlaceProblem::Lost { at } => write!(
                f,
                "anchors in {label} were gone on {}, and only newer ones are there",
                rfc3339(at)
            ),
            PlaceProblem::Unsigned(entries) => write!(
                f,
                "the last anchor in {label}, of entry {entries}, is not signed with the key of the settings"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn anchor(entries: i64, hash: u8) -> Anchor {
        Anchor {
            store: Uuid::nil(),
            entries,
            hash: [hash; 32],
            at: entries * 1_000,
            signature: None,
        }
    }

    /// A ledger whose entries all have this hash.
    fn compare(entries: i64, hash: u8, anchors: &[Anchor]) -> Option<Loss> {
        let found = |anchor: &Anchor| (anchor.entries <= entries).then_some([hash; 32]);
        let compared = anchors.iter().map(|anchor| (anchor.clone(), found(anchor)));
        Loss::find(compared.collect(), entries, (entries > 0).then_some(9_000))
    }

    #[test]
    fn a_ledger_with_all_anchors_has_lost_nothing() {
        assert_eq!(compare(0, 1, &[]), None);
        assert_eq!(
            compare(30, 1, &[anchor(10, 1), anchor(30, 1), anchor(10, 1)]),
            None
        );
    }

    #[test]
    fn a_ledger_that_is_cut_names_how_many_entries_are_missing_and_since_when() {
        let loss = compare(16, 1, &[anchor(20, 1), anchor(10, 1), anchor(30, 1)]).unwrap();
        assert_eq!((loss.range(), loss.count()), ((17, 30), 14));
        assert_eq!(
            loss.to_string(),
            "14 entries at the end of the ledger are missing: it ends with entry 16 of 1970-01-01T00:00:09.000Z, \
             but the anchor of 1970-01-01T00:00:30.000Z names entry 30"
        );
        let loss = compare(0, 1, &[anchor(1, 1)]).unwrap();
        assert_eq!(
            loss.to_string(),
            "1 entry at the end of the ledger is missing: it has no entries, \
             but the anchor of 1970-01-01T00:00:01.000Z names entry 1"
        );
    }

    #[test]
    fn a_ledger_that_went_on_after_it_was_cut_is_noticed_too() {
        let loss = compare(
            40,
            1,
            &[anchor(20, 2), anchor(10, 1), anchor(30, 2), anchor(40, 1)],
        )
        .unwrap();
        assert_eq!((loss.range(), loss.count()), ((11, 30), 20));
        assert_eq!(
            loss.to_string(),
            "entries from 11 to 30 are missing or replaced since 1970-01-01T00:00:10.000Z: \
             the anchor of 1970-01-01T00:00:30.000Z is not in the ledger"
        );
        assert_eq!(compare(40, 1, &[anchor(20, 2)]).unwrap().range(), (1, 20));
    }

    #[test]
    fn a_place_that_had_anchors_is_not_taken_for_a_new_one() {
        let find = |expected, longest, is_signed| {
            LostPlace::find(("the blob store", "blobs"), (expected, None), longest, is_signed)
                .map(|lost| lost.to_string())
        };
        assert_eq!(find(0, None, true), None);
        assert_eq!(find(0, None, false), None);
        assert_eq!(find(5, Some(5), true), None);
        assert_eq!(find(5, Some(7), true), None);
        assert_eq!(
            find(5, None, true).unwrap(),
            "the anchors in the blob store are gone: it had one of entry 5, and now it has none"
        );
        assert_eq!(
            find(5, Some(4), true).unwrap(),
            "anchors in the blob store are gone: it had one of entry 5, and now the last one is of entry 4"
        );
        assert!(find(5, Some(5), false).unwrap().contains("is not signed"));
        let refilled = LostPlace::find(("the blob store", "blobs"), (5, Some(9_000)), Some(7), true);
        assert_eq!(
            refilled.unwrap().to_string(),
            "anchors in the blob store were gone on 1970-01-01T00:00:09.000Z, and only newer ones are there"
        );
    }
}
