//! The initials of names that are not themselves words of the dictionary.

use std::collections::HashSet;

use crate::builder::documents::Documents;
use crate::builder::sections::Sections;
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::text::english;
use crate::text::initials::{INITIALS_LENGTHS, hash_initials};

/// Maximum number of documents that are stored for the same initials, the most prominent ones.
const MAX_DOCUMENTS_PER_HASH: usize = 32;

/// Encodes the hashes of initials and their documents. Each name has initials with and without its stop
/// words.
pub(super) fn sections(documents: &Documents, sorted_words: &[&str]) -> Sections {
    let is_stop_word: Vec<bool> = sorted_words
        .iter()
        .map(|word| english::is_stop_word(word))
        .collect();
    let dictionary: HashSet<u32> = sorted_words
        .iter()
        .filter(|word| INITIALS_LENGTHS.contains(&word.len()))
        .map(|word| hash_initials(word))
        .collect();
    let mut all = Vec::new();
    let mut letters = String::new();
    for document in 0..documents.len() {
        for name in documents.terms(document).names() {
            let core = &name.terms[usize::from(name.core.0)..usize::from(name.core.1)];
            let mut add = |with_stop_words: bool| {
                letters.clear();
                let words = core
                    .iter()
                    .filter(|&&term| with_stop_words || !is_stop_word[term as usize]);
                letters.extend(words.filter_map(|&term| sorted_words[term as usize].chars().next()));
                let hash = hash_initials(&letters);
                if INITIALS_LENGTHS.contains(&letters.len()) && !dictionary.contains(&hash) {
                    all.push((hash, document));
                }
            };
            add(false);
            if core.iter().any(|&term| is_stop_word[term as usize]) {
                add(true);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    let stored: Vec<_> = all
        .chunk_by(|a, b| a.0 == b.0)
        .flat_map(|same| &same[..same.len().min(MAX_DOCUMENTS_PER_HASH)])
        .collect();
    vec![
        (Section::InitialsHashes, pack_u32s(stored.iter().map(|it| it.0))),
        (
            Section::InitialsDocuments,
            pack_u32s(stored.iter().map(|it| it.1)),
        ),
    ]
}
