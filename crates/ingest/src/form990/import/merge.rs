//! Merges the returns in the files with the stored ones of the same EIN.

use super::filing_order::FilingOrder;
use super::read::FoundFacts;
use directory::nonprofits::sources::SourceId;
use directory::returns::facts::Month;
use directory::returns::facts::ReturnFacts;
use directory::returns::store::StoredReturn;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The number of periods of an EIN that are kept.
pub(crate) const MAX_PERIODS: usize = 5;

/// A return in the files, with its facts.
pub(super) struct NewReturn {
    pub found: FoundFacts,
    /// As JSON.
    pub facts: String,
}

/// A return that the store contains, with the hash of its facts.
pub(super) struct OldReturn {
    pub stored: StoredReturn,
    pub digest: i64,
}

/// The returns of an EIN after the import.
#[derive(Default)]
pub(super) struct Merged {
    /// The newest period first.
    pub kept: Vec<StoredReturn>,
    /// Those of `kept` that have to be written, as positions in the new returns.
    pub written: Vec<usize>,
    /// The periods whose stored row has to be removed: it is replaced, or there are enough newer ones.
    pub removed: Vec<Month>,
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub outdated: u64,
}

impl Merged {
    pub(super) fn is_changed(&self) -> bool {
        !self.written.is_empty() || !self.removed.is_empty()
    }
}

/// Merges the returns of one EIN.
pub(super) fn merge(old: Vec<OldReturn>, new: &[NewReturn], revision: i64) -> serde_json::Result<Merged> {
    let mut merged = Merged::default();
    // By period: the return, the position of a new one, and whether the store has one for the period.
    let mut periods: BTreeMap<Month, (StoredReturn, Option<usize>, bool)> = BTreeMap::new();
    let digests: BTreeMap<Month, i64> = old.iter().map(|old| (old.stored.period, old.digest)).collect();
    for old in old {
        periods.insert(old.stored.period, (old.stored, None, true));
    }
    for (position, NewReturn { found, facts }) in new.iter().enumerate() {
        let before = periods.get(&found.period);
        match before.map(|(stored, ..)| is_replaced(stored, digests[&found.period], found)) {
            Some(Verdict::Same) => merged.unchanged += 1,
            Some(Verdict::Older) => merged.outdated += 1,
            None | Some(Verdict::Newer) => {
                let parsed: ReturnFacts = serde_json::from_str(facts)?;
                let stored = to_stored(found, parsed, revision);
                periods.insert(found.period, (stored, Some(position), before.is_some()));
            }
        }
    }
    for (rank, (period, (stored, position, has_old))) in periods.into_iter().rev().enumerate() {
        let is_kept = rank < MAX_PERIODS;
        match position {
            Some(_) if !is_kept => merged.outdated += 1,
            Some(_) if has_old => merged.changed += 1,
            Some(_) => merged.new += 1,
            None => {}
        }
        if has_old && (position.is_some() || !is_kept) {
            merged.removed.push(period);
        }
        if is_kept {
            merged.written.extend(position);
            merged.kept.push(stored);
        }
    }
    Ok(merged)
}

/// How a return in the files compares with the stored one for its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Same,
    Older,
    Newer,
}

fn is_replaced(stored: &StoredReturn, digest: i64, found: &FoundFacts) -> Verdict {
    let is_same_filing = stored.object_id == *found.object_id;
    if digest == found.digest && (is_same_filing || found.object_id.is_empty()) {
        return Verdict::Same;
    }
    let facts = &stored.facts;
    let order = FilingOrder::new(&stored.object_id, facts.filed_at.as_deref(), facts.is_amended);
    // If nothing tells them apart, the same filing was read differently, and the later import wins.
    match found.order.compare(&order) {
        Ordering::Less => Verdict::Older,
        Ordering::Equal | Ordering::Greater => Verdict::Newer,
    }
}

fn to_stored(found: &FoundFacts, facts: ReturnFacts, revision: i64) -> StoredReturn {
    StoredReturn {
        period: found.period,
        form: found.form.name().to_owned(),
        object_id: found.object_id.to_string(),
        source: SourceId {
            revision,
            position: found.file + 1,
        },
        facts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::digest;
    use crate::form990::filed_return::Form;
    use directory::returns::facts::Amounts;

    const ORIGINAL: &str = "202330319349300001";
    const AMENDED: &str = "202333199349300002";

    fn new_return(period: Month, object_id: &str, revenue: i64) -> NewReturn {
        let facts = ReturnFacts {
            form: "990".to_owned(),
            amounts: Amounts {
                revenue: Some(revenue),
                ..Amounts::default()
            },
            ..ReturnFacts::default()
        };
        let facts = serde_json::to_string(&facts).unwrap();
        NewReturn {
            found: FoundFacts {
                ein: 7,
                period,
                form: Form::Long,
                object_id: object_id.into(),
                order: FilingOrder::new(object_id, None, false),
                digest: digest(&facts),
                file: 0,
                offset: 0,
                length: 0,
            },
            facts,
        }
    }

    /// The rows after importing one return after another.
    fn import(old: Vec<OldReturn>, new: &[NewReturn]) -> (Merged, Vec<OldReturn>) {
        let merged = merge(old, new, 1).unwrap();
        let stored = merged.kept.iter().map(|stored| OldReturn {
            digest: digest(&serde_json::to_string(&stored.facts).unwrap()),
            stored: stored.clone(),
        });
        let stored = stored.collect();
        (merged, stored)
    }

    fn counts(merged: &Merged) -> [u64; 4] {
        [merged.new, merged.changed, merged.unchanged, merged.outdated]
    }

    #[test]
    fn a_newer_filing_replaces_an_older_one_in_any_order() {
        let (original, amended) = (new_return(202_212, ORIGINAL, 1), new_return(202_212, AMENDED, 2));
        let (first, stored) = import(Vec::new(), std::slice::from_ref(&original));
        assert_eq!(counts(&first), [1, 0, 0, 0]);
        let (second, stored) = import(stored, std::slice::from_ref(&amended));
        assert_eq!(counts(&second), [0, 1, 0, 0]);
        assert_eq!(
            (&second.written[..], &second.removed[..]),
            (&[0][..], &[202_212][..])
        );
        let (third, stored) = import(stored, &[original]);
        assert_eq!(counts(&third), [0, 0, 0, 1]);
        assert!(!third.is_changed());
        let (fourth, stored) = import(stored, &[amended]);
        assert_eq!(counts(&fourth), [0, 0, 1, 0]);
        assert_eq!(stored[0].stored.facts.amounts.revenue, Some(2));
    }

    #[test]
    fn the_last_five_periods_are_kept() {
        let years = |years: std::ops::Range<u32>| -> Vec<NewReturn> {
            years.map(|year| new_return(year * 100 + 12, "", 1)).collect()
        };
        let (first, stored) = import(Vec::new(), &years(2015..2022));
        assert_eq!(counts(&first), [5, 0, 0, 2]);
        assert_eq!(first.kept[0].period, 202_112);
        let (second, stored) = import(stored, &years(2022..2023));
        assert_eq!(counts(&second), [1, 0, 0, 0]);
        assert_eq!(second.removed, [201_712]);
        let (third, _) = import(stored, &years(2017..2018));
        assert_eq!(counts(&third), [0, 0, 0, 1]);
        assert!(!third.is_changed());
    }

    #[test]
    fn the_same_filing_without_its_id_is_unchanged() {
        let (_, stored) = import(Vec::new(), &[new_return(202_212, ORIGINAL, 1)]);
        let (again, stored) = import(stored, &[new_return(202_212, "", 1)]);
        assert_eq!(counts(&again), [0, 0, 1, 0]);
        let (different, _) = import(stored, &[new_return(202_212, ORIGINAL, 2)]);
        assert_eq!(counts(&different), [0, 1, 0, 0], "read differently");
    }
}
