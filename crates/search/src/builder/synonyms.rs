//! Words that stand for each other, among the words that really occur.

use super::{Sections, starts};
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::text::english;

/// A class larger than this would be an accident of plurals.
const LARGEST: usize = 8;

/// For each word its class, and for each class its words; class 0 is no class.
pub fn sections(sorted: &[&str]) -> Sections {
    let find = |word: &str| sorted.binary_search(&word).ok();
    let mut leader: Vec<u32> = (0..sorted.len() as u32).collect();
    for class in english::SYNONYMS {
        let mut present = class.iter().filter_map(|word| find(word));
        if let Some(first) = present.next() {
            present.for_each(|other| join(&mut leader, first, other));
        }
    }
    for (at, word) in sorted.iter().enumerate() {
        for singular in english::singular_forms(word).filter_map(|stem| find(&stem)) {
            join(&mut leader, singular, at);
        }
    }
    let mut members: Vec<(u32, u32)> = (0..sorted.len())
        .map(|at| (root(&leader, at) as u32, at as u32))
        .collect();
    members.sort_unstable();
    let mut class_of = vec![0u32; sorted.len()];
    let mut classes: Vec<&[(u32, u32)]> = vec![&[]];
    for class in members.chunk_by(|a, b| a.0 == b.0) {
        if class.len() > 1 && class.len() <= LARGEST {
            for &(_, term) in class {
                class_of[term as usize] = classes.len() as u32;
            }
            classes.push(class);
        }
    }
    vec![
        (Section::SynonymGroupOfTerm, pack_u32s(class_of)),
        (
            Section::SynonymGroupOffsets,
            starts(classes.iter().map(|class| class.len())),
        ),
        (
            Section::SynonymGroups,
            pack_u32s(classes.iter().flat_map(|class| class.iter().map(|it| it.1))),
        ),
    ]
}

fn root(leader: &[u32], mut at: usize) -> usize {
    while leader[at] as usize != at {
        at = leader[at] as usize;
    }
    at
}

fn join(leader: &mut [u32], one: usize, other: usize) {
    let (one, other) = (root(leader, one), root(leader, other));
    leader[one.max(other)] = one.min(other) as u32;
}
