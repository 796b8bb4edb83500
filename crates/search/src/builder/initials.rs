//! Initials of names, where no word of the dictionary is written that way.

use super::Sections;
use super::documents::Documents;
use crate::segment::format::Section;
use crate::segment::packed::pack;
use crate::text::english;

/// Initials shorter or longer than this are not how anybody is called.
pub const LENGTHS: std::ops::RangeInclusive<usize> = 3..=8;

/// Of many with the same initials, the most prominent are kept.
const MOST: usize = 32;

/// The hash under which initials are kept.
pub fn hash(letters: &str) -> u32 {
    letters.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

/// Whose initials are written in each way.
pub fn sections(documents: &Documents, sorted: &[&str]) -> Sections {
    let noise: Vec<bool> = sorted.iter().map(|word| english::is_noise(word)).collect();
    let known: std::collections::HashSet<u32> = sorted
        .iter()
        .filter(|word| LENGTHS.contains(&word.len()))
        .map(|word| hash(word))
        .collect();
    let mut all = Vec::new();
    let mut letters = String::new();
    for document in 0..documents.len() {
        for name in documents.noted(document).names() {
            let spine = &name.terms[usize::from(name.spine.0)..usize::from(name.spine.1)];
            let mut note = |with_noise: bool| {
                letters.clear();
                let counted = spine.iter().filter(|&&term| with_noise || !noise[term as usize]);
                letters.extend(counted.filter_map(|&term| sorted[term as usize].chars().next()));
                let hash = hash(&letters);
                if LENGTHS.contains(&letters.len()) && !known.contains(&hash) {
                    all.push((hash, document));
                }
            };
            note(false);
            if spine.iter().any(|&term| noise[term as usize]) {
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
        (Section::Initials, pack(kept.iter().map(|it| it.0))),
        (Section::InitialDocuments, pack(kept.iter().map(|it| it.1))),
    ]
}
