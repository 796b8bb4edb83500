//! The thesaurus of the search index: aliases and synonyms from `data/search-aliases.csv`, and what people type for kinds.
//!
//! The first column of the file says what a row is. `name`: a name with the phrase is also known with the alias instead.
//! `spelling`: the same, but the nonprofit ranks lower when it is found so. `lead-in`: what
//! people leave out at the start of a name. `place`: another name of a location, given as city and state. `word`: words that match each other, separated by `|`.
//!
//! Aliases are applied when the index is built, so a search costs the same with them. A kind is a term of the index
//! that cannot be typed: words that mean a kind are replaced by its term in a second pass of the search, whose results
//! rank lower.

use crate::nonprofits::kinds;
use ::search::Thesaurus;
use std::sync::{Arc, LazyLock};

/// The file of aliases.
pub(crate) const ALIASES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../data/search-aliases.csv"
));

static THESAURUS: LazyLock<Arc<Thesaurus>> = LazyLock::new(|| {
    let mut thesaurus = Thesaurus::default();
    let mut rows = csv::Reader::from_reader(ALIASES.as_bytes());
    for row in rows.deserialize::<(String, String, String)>() {
        let (kind, alias, phrase) = row.expect("data/search-aliases.csv has the columns type, alias, phrase");
        match kind.as_str() {
            "name" => thesaurus.add_alias(&alias, &phrase),
            "spelling" => thesaurus.add_spelling(&alias, &phrase),
            "lead-in" => thesaurus.add_lead_in(&alias),
            "place" => thesaurus.add_place_alias(&alias, &phrase),
            "word" => thesaurus.add_synonyms(&alias.split('|').collect::<Vec<_>>()),
            _ => panic!("data/search-aliases.csv: {kind} is not one of name, spelling, lead-in, place, word"),
        }
    }
    for (phrase, kind) in kinds::typed_phrases() {
        thesaurus.add_kind_phrase(phrase, kind);
    }
    Arc::new(thesaurus)
});

/// Returns the thesaurus.
pub(super) fn thesaurus() -> Arc<Thesaurus> {
    Arc::clone(&THESAURUS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_file_of_aliases_is_valid_and_has_no_row_twice() {
        let _ = thesaurus();
        let mut seen = HashSet::new();
        for line in ALIASES.lines() {
            assert!(seen.insert(line), "{line} is there twice");
            assert_eq!(line, line.to_lowercase());
        }
        assert!(seen.len() > 1_000);
    }
}
