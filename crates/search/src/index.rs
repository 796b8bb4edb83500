//! The public index: an open segment and its queries.

use crate::explain::{self, Explanation};
use crate::query::{Query, SearchResults};
use crate::search::execute;
use crate::segment::format::{OpenError, SectionTable};
use crate::segment::labels::LabelPostings;
use crate::segment::reader::Segment;
use crate::spelling;
use crate::text::tokenizer::Tokens;
use crate::unknown_words;

/// A search index over the bytes of a segment.
///
/// The bytes can be a vector, a memory-mapped file or a shared buffer.
#[derive(Clone, Debug)]
pub struct Index<B> {
    bytes: B,
    table: SectionTable,
}

impl<B: AsRef<[u8]>> Index<B> {
    /// Opens a segment and verifies its checksum.
    pub fn open(bytes: B) -> Result<Self, OpenError> {
        let table = SectionTable::read(bytes.as_ref(), true)?;
        Ok(Self { bytes, table })
    }

    /// Opens a segment without verifying its checksum, which would read all bytes.
    ///
    /// Bytes that are not what was written can give wrong results, but are never unsafe and never cause a
    /// panic.
    pub fn open_trusted(bytes: B) -> Result<Self, OpenError> {
        let table = SectionTable::read(bytes.as_ref(), false)?;
        Ok(Self { bytes, table })
    }

    #[inline]
    fn segment(&self) -> Segment<'_> {
        Segment::new(self.bytes.as_ref(), &self.table)
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.segment().document_count() as usize
    }

    /// Returns `true` if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Finds the best documents for a query.
    pub fn search<'q>(&'q self, query: &Query<'q>) -> SearchResults<'q> {
        execute::execute(self.segment(), query).0
    }

    /// Finds the best documents for a query and explains their scores.
    pub fn explain(&self, query: &Query<'_>) -> Vec<Explanation> {
        explain::explain(self.segment(), query)
    }

    /// Returns the indexes of the words that no document has.
    pub fn unknown_words(&self, tokens: &Tokens) -> Vec<usize> {
        unknown_words::unknown_words(self.segment(), tokens)
    }

    /// Returns at most `limit` words that are one edit away from a normalized word, the most frequent first.
    pub fn corrections(&self, word: &str, limit: usize) -> Vec<String> {
        spelling::corrections(self.segment(), word, limit)
    }

    /// Returns the documents that carry `label`, most prominent first.
    pub fn documents_with_label(&self, label: &str) -> Option<LabelPostings<'_>> {
        self.segment().find_label(label)
    }

    /// Iterates over the labels that start with `prefix`, in lexicographic order, with their documents.
    pub fn labels_with_prefix<'s>(
        &'s self,
        prefix: &'s str,
    ) -> impl Iterator<Item = (&'s str, LabelPostings<'s>)> {
        let segment = self.segment();
        (segment.label_lower_bound(prefix)..segment.label_count())
            .map(move |index| (segment.label_text(index), index))
            .take_while(move |(text, _)| text.starts_with(prefix))
            .map(move |(text, index)| (text, segment.label_postings(index)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Document, IndexBuilder, Thesaurus};
    use crate::query::{MatchKind, Rewrite};

    fn index() -> Index<Vec<u8>> {
        let mut builder = IndexBuilder::new();
        let mut prominence = 9.0;
        for (name, aliases, location, number, domain) in [
            (
                "American National Red Cross",
                &["American Red Cross", "Red Cross"][..],
                "Washington DC",
                "530196605",
                "redcross.org",
            ),
            (
                "Vanguard Charitable",
                &[],
                "Warwick PA",
                "232888152",
                "vanguardcharitable.org",
            ),
            (
                "St. Jude Children's Research Hospital",
                &["St Jude"],
                "Memphis TN",
                "620646012",
                "stjude.org",
            ),
            (
                "Virginia Museum of Fine Arts",
                &[],
                "Richmond VA",
                "546000001",
                "vmfa.example.org",
            ),
            (
                "Habitat for Humanity of Austin",
                &[],
                "Austin TX",
                "742373217",
                "austinhabitat.org",
            ),
            (
                "Knights of Columbus",
                &[],
                "Portland OR",
                "930000001",
                "kofc.example.org",
            ),
            (
                "Knights of Columbus",
                &[],
                "Salem OR",
                "930000002",
                "kofc2.example.org",
            ),
            (
                "Mothers Against Drunk Driving",
                &[],
                "Irving TX",
                "942707273",
                "madd.org",
            ),
            (
                "Alzheimer's Association",
                &["ALZ"],
                "Chicago IL",
                "133039601",
                "alz.org",
            ),
            (
                "Food Bank of Iowa Inc",
                &[],
                "Des Moines IA",
                "421177880",
                "foodbankiowa.org",
            ),
        ] {
            let document = Document {
                name,
                aliases,
                location: &[location],
                registration_number: Some(number),
                domain: Some(domain),
                prominence,
                ..Document::default()
            };
            builder.add(&document).unwrap();
            prominence -= 0.5;
        }
        Index::open(builder.finish().unwrap()).unwrap()
    }

    #[test]
    fn typical_queries_find_what_is_meant() {
        let index = index();
        for (text, expected) in [
            ("red c", 0),
            ("redcross", 0),
            ("cross red", 0),
            ("saint jude", 2),
            ("st judes childrens", 2),
            ("va", 3),
            ("habitat austin tx", 4),
            ("habitat humanity", 4),
            ("knights of columbus salem", 6),
            ("knights columbus portl", 5),
            ("madd", 7),
            ("alzheimer association", 8),
            ("alzhimers", 8),
            ("foodbank iowa", 9),
            ("the food bank of iowa", 9),
            ("food bank & iowa", 9),
            ("amercan red crss", 0),
            ("53-0196605", 0),
            ("53019", 0),
            ("redcross.org", 0),
            ("https://www.StJude.org/give", 2),
            ("stjude.o", 2),
        ] {
            let results = index.search(&Query::new(text));
            assert_eq!(
                results.hits.first().map(|hit| hit.document),
                Some(expected),
                "{text}"
            );
        }
    }

    /// Builds an index of names with a location and a prominence, the most prominent first.
    fn index_of(documents: &[(&str, &str, f32)]) -> Index<Vec<u8>> {
        let mut builder = IndexBuilder::new();
        for &(name, location, prominence) in documents {
            let document = Document {
                name,
                location: &[location],
                prominence,
                ..Document::default()
            };
            builder.add(&document).unwrap();
        }
        Index::open(builder.finish().unwrap()).unwrap()
    }

    #[test]
    fn obscure_names_do_not_hide_what_is_meant() {
        let index = index_of(&[
            ("Red Cross", "Washington DC", 9.5),
            ("Johns Hopkins University", "Baltimore MD", 9.4),
            ("Planned Parenthood", "New York NY", 8.6),
            ("Juilliard School", "New York NY", 8.3),
            ("John Doe Fund", "Salem OR", 4.0),
            ("Jon Fund", "Salem OR", 3.0),
            ("Planet Arts", "Salem OR", 3.0),
            ("Redcross Gang Prevention", "Denver CO", 0.0),
            ("Julliard Seniors", "Salem OR", 0.0),
            ("Julliard Juniors", "Salem OR", 0.0),
            ("Julliard Choir", "Salem OR", 0.0),
        ]);
        for (text, expected) in [
            ("redcross", 0),
            ("jon hopkins", 1),
            ("planet parenthood", 2),
            ("planned pra", 2),
        ] {
            let hits = index.search(&Query::new(text)).hits;
            assert_eq!(hits.first().map(|hit| hit.document), Some(expected), "{text}");
        }
        let hits = index.search(&Query::new("julliard")).hits;
        assert!(hits.iter().any(|hit| hit.document == 3), "{hits:?}");
    }

    #[test]
    fn the_rarest_word_is_dropped_last() {
        let index = index_of(&[
            ("St Lukes Medical Center", "Boise", 9.0),
            ("St Lukes Hospital", "Crosby", 8.0),
            ("Mercy Hospital", "Boise", 7.0),
            ("Union Hospital", "Salem", 7.0),
            ("River Hospital", "Salem", 7.0),
            ("St Mary", "Salem", 6.0),
        ]);
        let hits = index.search(&Query::new("st lukes hospital boise")).hits;
        assert_eq!(
            hits.first().map(|hit| (hit.document, hit.rewrite)),
            Some((0, Rewrite::Drop(2)))
        );
    }

    #[test]
    fn short_words_are_not_corrected() {
        assert!(index().search(&Query::new("xlz")).hits.is_empty());
        assert!(index().search(&Query::new("rde")).hits.is_empty());
    }

    #[test]
    fn a_nonsense_word_finds_nothing() {
        let index = index_of(&[("Children International", "Kansas City MO KS", 8.0)]);
        assert_eq!(index.search(&Query::new("ks")).hits.len(), 1);
        for text in ["qqqqzzzz", "qqzz", "kkkksss"] {
            assert!(index.search(&Query::new(text)).hits.is_empty(), "{text}");
        }
    }

    #[test]
    fn a_short_alias_is_not_found_by_a_prefix() {
        let index = index();
        assert_eq!(index.search(&Query::new("alz")).hits[0].kind, MatchKind::FullName);
        let results = index.search(&Query::new("al"));
        assert!(results.hits.iter().all(|hit| hit.name == 0));
    }

    #[test]
    fn a_compound_may_have_a_single_letter_in_the_middle() {
        let mut builder = IndexBuilder::new();
        let names = [
            "Marin Arts",
            "Marina Arts",
            "Save A Child",
            "Make-A-Wish Foundation",
            "Save The Wish",
        ];
        for name in names {
            let document = Document {
                name,
                ..Document::default()
            };
            builder.add(&document).unwrap();
        }
        let index = Index::open(builder.finish().unwrap()).unwrap();
        for (text, expected) in [
            ("makeawish", 3),
            ("makeawi", 3),
            ("saveachild ", 2),
            ("marinaarts", 1),
        ] {
            let results = index.search(&Query::new(text));
            let hit = results.hits.first().map(|hit| (hit.document, hit.rewrite));
            assert_eq!(hit, Some((expected, Rewrite::Split(0))), "{text}");
        }
        let hits = index.search(&Query::new("amake")).hits;
        assert!(
            hits.iter().all(|hit| hit.rewrite != Rewrite::Split(0)),
            "a single letter is not the first or last part"
        );
    }

    #[test]
    fn matched_words_are_returned_as_typed() {
        let index = index();
        let results = index.search(&Query::new("The  FOOD Banq of Iowa"));
        let matched: Vec<_> = results.matched_words(&results.hits[0]).collect();
        assert_eq!(matched, ["food", "banq", "of", "iowa"]);
        assert_eq!(results.hits[0].rewrite, Rewrite::Typo(2));
        let results = index.search(&Query::new("53-019"));
        assert_eq!(
            results.matched_words(&results.hits[0]).collect::<Vec<_>>(),
            ["53-019"]
        );
    }

    #[test]
    fn an_explanation_names_the_corrected_word() {
        let index = index();
        let explanations = index.explain(&Query::new("alzhimers associ"));
        let text = explanations[0].to_string();
        assert!(text.contains("alzhimers matched alzheimers"), "{text}");
        assert!(text.contains("a typo was corrected"), "{text}");
    }

    #[test]
    fn any_input_is_accepted() {
        let index = index();
        let long = "knights of columbus ".repeat(40);
        let letters = "a ".repeat(200);
        for text in [
            "", " ", "a", "🐕", "...", "%00", "\0", "of the", "inc", "ОАО", "بيت", "\u{301}", "-----", &long,
            &letters,
        ] {
            for limit in [0, 1, 10, 5000] {
                let results = index.search(&Query {
                    limit,
                    ..Query::new(text)
                });
                assert!(results.hits.len() <= limit);
            }
        }
    }

    #[test]
    fn a_word_is_found_by_a_synonym_that_no_document_has() {
        let mut builder = IndexBuilder::new();
        let document = Document {
            name: "St Zquoxly Mission",
            ..Document::default()
        };
        builder.add(&document).unwrap();
        let index = Index::open(builder.finish().unwrap()).unwrap();
        let results = index.search(&Query::new("saint zquoxly"));
        assert_eq!(results.hits[0].rewrite, Rewrite::AsTyped);
    }

    /// Builds an index of (name, location, postal code, kinds), the most prominent first.
    fn index_with(thesaurus: Thesaurus, documents: &[(&str, &str, &str, &[&str])]) -> Index<Vec<u8>> {
        let mut builder = IndexBuilder::with_thesaurus(thesaurus.into());
        let mut prominence = 9.0;
        for (name, location, postal_code, kinds) in documents {
            let document = Document {
                name,
                location: &[location],
                postal_code: Some(postal_code),
                kinds,
                prominence,
                ..Document::default()
            };
            builder.add(&document).unwrap();
            prominence -= 0.5;
        }
        Index::open(builder.finish().unwrap()).unwrap()
    }

    fn found(index: &Index<Vec<u8>>, text: &str) -> Vec<u32> {
        let results = index.search(&Query::new(text));
        results.hits.iter().map(|hit| hit.document).collect()
    }

    #[test]
    fn a_domain_is_read_as_the_name_of_its_owner() {
        let index = index_with(
            Thesaurus::default(),
            &[
                ("Feeding America", "Chicago IL", "", &[]),
                ("American Civil Liberties Union", "New York NY", "", &[]),
                ("Nature Conservancy", "Arlington VA", "", &[]),
                ("Code Org", "Seattle WA", "", &[]),
                ("Code for America", "Oakland CA", "", &[]),
                ("Planned Parenthood of Iowa", "Des Moines IA", "", &[]),
                ("Parent Hood", "Des Moines IA", "", &[]),
                ("Parent Hood Planned Giving", "Des Moines IA", "", &[]),
                ("Salvation Army", "Alexandria VA", "", &[]),
                ("Make-A-Wish Foundation", "Phoenix AZ", "", &[]),
            ],
        );
        for (text, expected) in [
            ("feedingamerica.org", 0),
            ("www.feedingamerica.o", 0),
            ("feeding-america.org", 0),
            ("https://www.aclu.org/donate", 1),
            ("nature.org", 2),
            ("code.org", 3),
            ("info@codeforamerica.org", 4),
            ("plannedparenthood.org", 5),
            ("salvationarmyusa.org", 8),
            ("makeawish.org", 9),
        ] {
            let results = index.search(&Query::new(text));
            assert_eq!(
                results.hits.first().map(|hit| hit.document),
                Some(expected),
                "{text}"
            );
        }
        let results = index.search(&Query::new("www.FeedingAmerica.org"));
        let words: Vec<_> = results.matched_words(&results.hits[0]).collect();
        assert_eq!(words, ["feedingamerica"]);
    }

    #[test]
    fn the_website_of_a_document_outranks_the_name_of_another() {
        let mut builder = IndexBuilder::new();
        for (name, domain, prominence) in [
            ("Harbor Light", None, 9.0),
            ("Mission House", Some("https://harborlight.org"), 2.0),
        ] {
            let document = Document {
                name,
                domain,
                prominence,
                ..Document::default()
            };
            builder.add(&document).unwrap();
        }
        let index = Index::open(builder.finish().unwrap()).unwrap();
        assert_eq!(found(&index, "harborlight.org"), [1]);
        assert_eq!(found(&index, "harbor-light.com"), [0]);
    }

    #[test]
    fn a_postal_code_is_a_place_before_it_is_the_start_of_a_registration_number() {
        let mut builder = IndexBuilder::new();
        for (name, postal_code, number, prominence) in [
            ("Valley Food Bank", "97201-1234", "111111111", 9.0),
            ("Harbor Museum", "97201", "222222222", 8.0),
            ("Hill Museum", "10001", "972010000", 7.0),
        ] {
            let document = Document {
                name,
                postal_code: Some(postal_code),
                registration_number: Some(number),
                prominence,
                ..Document::default()
            };
            builder.add(&document).unwrap();
        }
        let index = Index::open(builder.finish().unwrap()).unwrap();
        for (text, expected) in [
            ("97201", &[0, 1, 2][..]),
            ("museum 97201", &[1]),
            ("97201 food ba", &[0]),
            ("museum near 97201", &[1]),
            ("museum 97209", &[1]),
            ("hill museum 10099", &[2]),
            ("22222", &[1]),
            ("97-201", &[2]),
            ("972010000", &[2]),
        ] {
            assert_eq!(found(&index, text), expected, "{text}");
        }
    }

    #[test]
    fn words_before_a_place_are_not_searched_for() {
        let index = index_with(
            Thesaurus::default(),
            &[
                ("Boise Food Bank", "Boise ID", "", &[]),
                ("Arts Around Boise", "Boise ID", "", &[]),
            ],
        );
        for text in [
            "food bank near boise",
            "food banks around boise",
            "food bank in boise",
            "food bank near me",
        ] {
            assert_eq!(found(&index, text), [0], "{text}");
        }
        assert_eq!(found(&index, "arts around boise"), [1]);
    }

    #[test]
    fn aliases_compose_with_other_words_places_prefixes_and_typos() {
        let mut thesaurus = Thesaurus::default();
        thesaurus.add_alias("ymca", "Young Men's Christian Association");
        thesaurus.add_spelling("hospital", "medical center");
        thesaurus.add_place_alias("nyc", "New York NY");
        thesaurus.add_synonyms(&["100", "hundred"]);
        let index = index_with(
            thesaurus,
            &[
                (
                    "Young Mens Christian Association of Greater New York",
                    "New York NY",
                    "",
                    &[],
                ),
                ("Young Mens Christian Association of Tulsa", "Tulsa OK", "", &[]),
                ("Goodwill Industries", "New York NY", "", &[]),
                ("Goodwill Industries of Tulsa", "Tulsa OK", "", &[]),
                ("St Lukes Regional Medical Center", "Boise ID", "", &[]),
                ("One Hundred Black Men", "Atlanta GA", "", &[]),
            ],
        );
        for (text, expected) in [
            ("ymca tulsa", 1),
            ("ymca of tul", 1),
            ("ymca nyc", 0),
            ("goodwill nyc", 2),
            ("godwill nyc", 2),
            ("goodwill indust nyc", 2),
            ("st lukes hospital boi", 4),
            ("100 black men", 5),
        ] {
            assert_eq!(found(&index, text).first(), Some(&expected), "{text}");
        }
    }

    #[test]
    fn kinds_compose_with_places_and_names_below_literal_matches() {
        let mut thesaurus = Thesaurus::default();
        for (phrase, kind) in [
            ("zoo", "zoo"),
            ("soup kitchen", "soup-kitchen"),
            ("food bank", "food-bank"),
            ("hospital", "hospital"),
        ] {
            thesaurus.add_kind_phrase(phrase, kind);
        }
        let index = index_with(
            thesaurus,
            &[
                ("Queens Medical Center", "Honolulu HI", "", &["hospital"]),
                (
                    "Loaves and Fishes",
                    "Boise ID",
                    "",
                    &["soup-kitchen", "food-bank"],
                ),
                ("Idaho Zoological Society", "Boise ID", "", &["zoo"]),
                ("Boise Zoo Friends", "Boise ID", "", &[]),
                ("Queens Library", "New York NY", "", &[]),
            ],
        );
        for (text, expected) in [
            ("zoo boise", &[3, 2][..]),
            ("zoo near boi", &[3, 2]),
            ("soup kitchen boise", &[1]),
            ("soup kitch", &[1]),
            ("boise soup ki", &[1]),
            ("queens hospital", &[0]),
            ("honolulu hospi", &[0]),
        ] {
            assert_eq!(found(&index, text), expected, "{text}");
        }
        let results = index.search(&Query::new("boise soup kitchen"));
        let words: Vec<_> = results.matched_words(&results.hits[0]).collect();
        assert_eq!(words, ["boise", "soup", "kitchen"]);
    }

    #[test]
    fn a_word_is_unknown_if_no_document_has_it() {
        let mut builder = IndexBuilder::new();
        let document = Document {
            name: "Food Bank of Iowa",
            location: &["Des Moines"],
            ..Document::default()
        };
        builder.add(&document).unwrap();
        let index = Index::open(builder.finish().unwrap()).unwrap();
        for (text, expected) in [
            ("food bank", &[][..]),
            ("food ban", &[]),
            ("food ban ", &[1]),
            ("ban food", &[0]),
            ("the food zoo of iowa xyz", &[2, 5]),
            ("food of des moines", &[]),
            ("", &[]),
        ] {
            assert_eq!(index.unknown_words(&Tokens::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_corrected_by_the_most_frequent_ones_first() {
        let index = index_of(&[
            ("Boston Hospital", "Boston MA", 9.0),
            ("Norton Hospital", "Boston MA", 8.0),
            ("Boston Common", "Salem MA", 7.0),
        ]);
        assert_eq!(index.corrections("noston", 8), ["boston", "norton"]);
        assert_eq!(index.corrections("noston", 1), ["boston"]);
        assert_eq!(index.corrections("comon", 8), ["common"]);
        for word in ["", "ma", "boston", "zzzz"] {
            assert_eq!(index.corrections(word, 8), [""; 0], "{word}");
        }
    }

    #[test]
    fn a_segment_without_documents_is_valid() {
        assert!(Index::open(IndexBuilder::new().finish().unwrap()).is_ok());
    }
}
