//! Cycles of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// The nodes that each node depends on.
pub type Graph<T> = BTreeMap<T, BTreeSet<T>>;

/// Returns the groups of nodes of which each reaches each other, smallest first.
pub fn cycles<T: Ord + Clone>(graph: &Graph<T>) -> Vec<Vec<T>> {
    let reachable = |start: &T| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for next in graph.get(node).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&T, BTreeSet<&T>> = graph.keys().map(|node| (node, reachable(node))).collect();
    let mut groups = BTreeSet::new();
    for (node, reached) in &reach {
        if reached.contains(node) {
            let group: Vec<T> = reached
                .iter()
                .filter(|other| reach.get(**other).is_some_and(|back| back.contains(node)))
                .map(|other| (*other).clone())
                .collect();
            groups.insert((group.len(), group));
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
