//! The phrases that people type for kinds, in order.

use crate::builder::sections::{Sections, pack_offsets};
use crate::builder::thesaurus::Thesaurus;
use crate::segment::format::Section;
use crate::segment::packed::pack_u32s;
use crate::text::tag;

/// Encodes the phrases of the kinds that a document has. A phrase with several kinds is repeated.
pub(super) fn sections(thesaurus: &Thesaurus, sorted_words: &[&str]) -> Sections {
    let mut phrases: Vec<(&str, u32)> = thesaurus
        .kinds()
        .filter_map(|(phrase, kind)| {
            let tag = tag::kind_tag(kind);
            let term = sorted_words.binary_search(&tag.as_str()).ok()?;
            Some((phrase, term as u32))
        })
        .collect();
    phrases.sort_unstable();
    phrases.dedup();
    let text: String = phrases.iter().map(|(phrase, _)| *phrase).collect();
    vec![
        (
            Section::KindPhraseOffsets,
            pack_offsets(phrases.iter().map(|(phrase, _)| phrase.len())),
        ),
        (Section::KindPhraseText, text.into_bytes()),
        (
            Section::KindPhraseTerms,
            pack_u32s(phrases.iter().map(|(_, term)| *term)),
        ),
    ]
}
