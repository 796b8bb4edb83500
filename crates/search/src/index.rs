//! An opened segment and what can be asked of it.

use crate::explain::{self, Explanation};
use crate::query::{Answer, Query};
use crate::search::searcher::Finder;
use crate::segment::format::{OpenError, SectionTable};
use crate::segment::labels::LabelPostings;
use crate::segment::reader::Segment;

/// An index over the bytes of a segment, whoever owns them: a vector, a mapped file, a shared buffer.
#[derive(Clone, Debug)]
pub struct Index<B> {
    bytes: B,
    table: SectionTable,
}

impl<B: AsRef<[u8]>> Index<B> {
    /// Opens a segment after checking that its bytes are those that were written.
    pub fn open(bytes: B) -> Result<Self, OpenError> {
        let table = SectionTable::read(bytes.as_ref(), true)?;
        Ok(Self { bytes, table })
    }

    /// Opens a segment whose bytes the caller has checked, without reading them all.
    pub fn open_trusted(bytes: B) -> Result<Self, OpenError> {
        let table = SectionTable::read(bytes.as_ref(), false)?;
        Ok(Self { bytes, table })
    }

    #[inline]
    pub(crate) fn segment(&self) -> Segment<'_> {
        Segment::new(self.bytes.as_ref(), &self.table)
    }

    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.segment().document_count() as usize
    }

    /// Whether there is no document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The best documents for a query.
    pub fn search<'q>(&'q self, query: &Query<'q>) -> Answer<'q> {
        Finder::new(self.segment(), query).answer()
    }

    /// The best documents for a query, each with the reason why it stands where it stands.
    pub fn explain(&self, query: &Query<'_>) -> Vec<Explanation> {
        explain::explain(self.segment(), query)
    }

    /// The documents that carry `label`, most prominent first.
    pub fn list(&self, label: &str) -> Option<LabelPostings<'_>> {
        self.segment().find_label(label)
    }

    /// All labels that start with `prefix`, in order, with their documents.
    pub fn labels<'s>(&'s self, prefix: &'s str) -> impl Iterator<Item = (&'s str, LabelPostings<'s>)> {
        let segment = self.segment();
        (segment.label_lower_bound(prefix)..segment.label_count())
            .map(move |at| (segment.label_text(at), at))
            .take_while(move |(text, _)| text.starts_with(prefix))
            .map(move |(text, at)| (text, segment.label_postings(at)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, Index, IndexBuilder, Query, Reading, Tier};

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
    fn what_people_type_finds_what_they_mean() {
        let index = index();
        for (text, wanted) in [
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
            let answer = index.search(&Query::new(text));
            assert_eq!(
                answer.hits.first().map(|hit| hit.document),
                Some(wanted),
                "{text}"
            );
        }
    }

    #[test]
    fn short_words_are_never_read_with_a_mistake() {
        assert!(index().search(&Query::new("xlz")).hits.is_empty());
        assert!(index().search(&Query::new("rde")).hits.is_empty());
    }

    #[test]
    fn a_short_alias_is_found_whole_only() {
        let index = index();
        assert_eq!(index.search(&Query::new("alz")).hits[0].tier, Tier::Whole);
        let answer = index.search(&Query::new("al"));
        assert!(answer.hits.iter().all(|hit| hit.name == 0));
    }

    #[test]
    fn a_single_letter_between_two_words_may_be_run_together_with_them() {
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
        for (text, wanted) in [
            ("makeawish", 3),
            ("makeawi", 3),
            ("saveachild ", 2),
            ("marinaarts", 1),
        ] {
            let answer = index.search(&Query::new(text));
            let hit = answer.hits.first().map(|hit| (hit.document, hit.reading));
            assert_eq!(hit, Some((wanted, Reading::Split(0))), "{text}");
        }
        assert!(
            index.search(&Query::new("amake")).hits.is_empty(),
            "no letter begins or ends the words"
        );
    }

    #[test]
    fn matched_words_are_given_as_typed() {
        let index = index();
        let answer = index.search(&Query::new("The  FOOD Banq of Iowa"));
        let matched: Vec<_> = answer.matched(&answer.hits[0]).collect();
        assert_eq!(matched, ["food", "banq", "of", "iowa"]);
        assert_eq!(answer.hits[0].reading, Reading::Typo(2));
        let answer = index.search(&Query::new("53-019"));
        assert_eq!(answer.matched(&answer.hits[0]).collect::<Vec<_>>(), ["53-019"]);
    }

    #[test]
    fn an_explanation_says_what_was_read_as_what() {
        let index = index();
        let explained = index.explain(&Query::new("alzhimers associ"));
        let text = explained[0].to_string();
        assert!(text.contains("alzhimers found as alzheimers"), "{text}");
        assert!(text.contains("a word read with a mistake"), "{text}");
    }

    #[test]
    fn any_input_is_answered() {
        let index = index();
        let long = "knights of columbus ".repeat(40);
        let letters = "a ".repeat(200);
        for text in [
            "", " ", "a", "🐕", "...", "%00", "\0", "of the", "inc", "ОАО", "بيت", "\u{301}", "-----", &long,
            &letters,
        ] {
            for take in [0, 1, 10, 5000] {
                let answer = index.search(&Query {
                    take,
                    ..Query::new(text)
                });
                assert!(answer.hits.len() <= take);
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
        assert_eq!(results.hits[0].reading, Reading::Typed);
    }

    #[test]
    fn a_segment_without_documents_is_valid() {
        assert!(Index::open(IndexBuilder::new().finish().unwrap()).is_ok());
    }
}
