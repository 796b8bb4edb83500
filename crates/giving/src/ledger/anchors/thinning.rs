//! Chooses the old anchors to remove: keeps all of the last day, and the last one of each earlier day. Does no I/O.

use super::{AnchorName, minute};
use std::collections::HashMap;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// Lists the anchors that may be removed. Neither the newest one nor the one with the most entries is among them.
pub(super) fn list_removable(names: &[AnchorName], now: i64) -> Vec<&AnchorName> {
    let recent = minute(now - DAY_MILLIS);
    let mut last_of_day: HashMap<&str, &AnchorName> = HashMap::new();
    for name in names {
        let last = last_of_day.entry(name.day()).or_insert(name);
        *last = (*last).max(name);
    }
    let newest = names.iter().max();
    let longest = names.iter().max_by_key(|name| name.entries);
    let is_removable = |name: &&AnchorName| {
        name.minute < recent
            && last_of_day.get(name.day()) != Some(name)
            && newest != Some(*name)
            && longest != Some(*name)
    };
    names.iter().filter(is_removable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_anchor_of_each_day_stays_and_all_of_the_last_day() {
        const HOUR: i64 = DAY_MILLIS / 24;
        let name = |hour: i64| AnchorName {
            minute: minute(hour * HOUR),
            entries: hour,
            hash_prefix: String::new(),
        };
        let names: Vec<AnchorName> = (0..100).map(name).collect();
        let now = 99 * HOUR;
        let removable = list_removable(&names, now);
        let kept: Vec<i64> = names
            .iter()
            .filter(|name| !removable.contains(name))
            .map(|name| name.entries)
            .collect();
        let mut expected = vec![23, 47, 71];
        expected.extend(75..100);
        assert_eq!(kept, expected);
        // Long after the last entry, the newest anchor is still there.
        let removable = list_removable(&names, now + 400 * DAY_MILLIS);
        assert!(!removable.contains(&&names[99]));
        assert_eq!(names.len() - removable.len(), 5);
    }

    #[test]
    fn the_anchor_with_the_most_entries_stays() {
        let name = |at: i64, entries: i64| AnchorName {
            minute: minute(at),
            entries,
            hash_prefix: String::new(),
        };
        let names = [name(0, 984), name(60_000, 900), name(120_000, 950)];
        let removable = list_removable(&names, 10 * DAY_MILLIS);
        assert_eq!(removable, [&names[1]]);
    }
}
