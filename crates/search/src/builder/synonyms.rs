//! Groups of synonyms among the words of the dictionary.

use crate::builder::sections::{Sections, pack_offsets};
use crate::builder::thesaurus::Thesaurus;
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::text::english;

/// Maximum size of a group; a larger one is an accident of the plural rules and is discarded.
const MAX_GROUP_SIZE: usize = 8;

/// Returns the groups of synonyms of English and of the thesaurus.
pub(super) fn groups(thesaurus: &Thesaurus) -> impl Iterator<Item = Vec<&str>> {
    let given = thesaurus
        .synonyms()
        .map(|group| group.iter().map(String::as_str).collect());
    english::SYNONYMS.iter().map(|group| group.to_vec()).chain(given)
}

/// Encodes the group of each word and the words of each group. Group 0 is empty and means none.
pub(super) fn sections(thesaurus: &Thesaurus, sorted_words: &[&str]) -> Sections {
    let find = |word: &str| sorted_words.binary_search(&word).ok();
    let mut parents: Vec<u32> = (0..sorted_words.len() as u32).collect();
    for group in groups(thesaurus) {
        let mut terms = group.iter().filter_map(|word| find(word));
        if let Some(first) = terms.next() {
            terms.for_each(|other| union(&mut parents, first, other));
        }
    }
    for (term, word) in sorted_words.iter().enumerate() {
        for singular in english::singular_forms(word).filter_map(|form| find(&form)) {
            union(&mut parents, singular, term);
        }
    }
    let mut terms_by_root: Vec<(u32, u32)> = (0..sorted_words.len())
        .map(|term| (root(&parents, term) as u32, term as u32))
        .collect();
    terms_by_root.sort_unstable();
    let mut group_of_term = vec![0u32; sorted_words.len()];
    let mut groups: Vec<&[(u32, u32)]> = vec![&[]];
    for group in terms_by_root.chunk_by(|a, b| a.0 == b.0) {
        if group.len() > 1 && group.len() <= MAX_GROUP_SIZE {
            for &(_, term) in group {
                group_of_term[term as usize] = groups.len() as u32;
            }
            groups.push(group);
        }
    }
    vec![
        (Section::SynonymGroupOfTerm, pack_u32s(group_of_term)),
        (
            Section::SynonymGroupOffsets,
            pack_offsets(groups.iter().map(|group| group.len())),
        ),
        (
            Section::SynonymGroups,
            pack_u32s(groups.iter().flat_map(|group| group.iter().map(|it| it.1))),
        ),
    ]
}

/// Returns the root of a term in the union-find forest.
fn root(parents: &[u32], mut term: usize) -> usize {
    while parents[term] as usize != term {
        term = parents[term] as usize;
    }
    term
}

fn union(parents: &mut [u32], one: usize, other: usize) {
    let (one, other) = (root(parents, one), root(parents, other));
    parents[one.max(other)] = one.min(other) as u32;
}
