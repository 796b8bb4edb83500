//! Initials of names, where no word of the dictionary is written that way.

use super::Sections;
use super::documents::Documents;
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::text::english;
use crate::text::initials::{INITIALS_LENGTHS, hash_initials};

/// Of many with the same initials, the most prominent are kept.
const MOST: usize = 32;

/// Whose initials are written in each way.
pub fn sections(documents: &Documents, sorted: &[&str]) -> Sections {
    let noise: Vec<bool> = sorted.iter().map(|word| english::is_stop_word(word)).collect();
    let known: std::collections::HashSet<u32> = sorted
        .iter()
        .filter(|word| INITIALS_LENGTHS.contains(&word.len()))
        .map(|word| hash_initials(word))
        .collect();
    let mut all = Vec::new();
    let mut letters = String::new();
    for document in 0..documents.len() {
        for name in documents.noted(document).names() {
            let core = &name.terms[usize::from(name.core.0)..usize::from(name.core.1)];
            let mut note = |with_noise: bool| {
                letters.clear();
                let counted = core.iter().filter(|&&term| with_noise || !noise[term as usize]);
                letters.extend(counted.filter_map(|&term| sorted[term as usize].chars().next()));
                let hash = hash_initials(&letters);
                if INITIALS_LENGTHS.contains(&letters.len()) && !known.contains(&hash) {
                    all.push((hash, document));
                }
            };
            note(false);
            if core.iter().any(|&term| noise[term as usize]) {
                note(true);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    let kept: Vec<_> = all
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| &same[..same.len().min(MOST)])
        .collect();
    vec![
        (Section::InitialsHashes, pack_u32s(kept.iter().map(|it| it.0))),
        (Section::InitialsDocuments, pack_u32s(kept.iter().map(|it| it.1))),
    ]
}
