//! Answers of several segments to one query, taken together.
//!
//! Each segment is asked alone. One that does not have what is meant goes on to readings that are tried only where nothing
//! was found, and what these find would stand beside the right answer of another segment, or before it.

use crate::query::{Hit, Reading, Tier};
use crate::search::ranking;
use crate::search::rewriter::ENOUGH;

/// What all segments found, as far as it rules out what some of them found.
///
/// ```
/// use search::{IndexBuilder, Document, Index, Query, Together};
///
/// let index = |name| {
///     let mut builder = IndexBuilder::new();
///     builder.add(&Document { name, prominence: 1.0, ..Document::default() })?;
///     Ok::<_, Box<dyn std::error::Error>>(Index::open(builder.finish()?)?)
/// };
/// let (settled, recent) = (index("Portland Zoo")?, index("Portland Quoll Rescue")?);
/// let query = Query::new("portland quoll");
/// let (settled, recent) = (settled.search(&query).hits, recent.search(&query).hits);
/// let together = Together::new(settled.iter().chain(&recent), query.take);
/// assert!(together.keeps(&recent[0]) && !together.keeps(&settled[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent fact of the hits"
)]
pub struct Together {
    /// The number or domain was typed as a whole.
    identified: bool,
    /// A document has the words as typed.
    typed: bool,
    /// So many documents have them that mistakes are not looked for.
    enough: bool,
    /// A word was read as two or as initials, or with a mistake, the others as typed.
    one_changed: bool,
    /// Something was found without leaving a word out.
    complete: bool,
}

impl Together {
    /// Weighs the hits of all segments for a query that wants `take`.
    pub fn new<'h>(hits: impl IntoIterator<Item = &'h Hit>, take: usize) -> Self {
        let mut all = Self::default();
        let mut plain = 0;
        for hit in hits {
            let by_words = !is_by_identifier(hit);
            all.identified |= !by_words && hit.score >= ranking::IDENTIFIED;
            all.complete |= !matches!(hit.reading, Reading::Without(_));
            all.typed |= by_words && hit.reading == Reading::Typed;
            all.one_changed |= matches!(
                hit.reading,
                Reading::Split(_) | Reading::Initials(_) | Reading::Typo(_)
            );
            plain += usize::from(is_plain(hit));
        }
        all.enough = plain >= ENOUGH.min(take);
        all
    }

    /// Whether a segment of all documents would have looked for this hit as well.
    pub fn keeps(&self, hit: &Hit) -> bool {
        if self.identified {
            return is_by_identifier(hit);
        }
        match hit.reading {
            Reading::Typed | Reading::Joined(_) => true,
            Reading::Split(_) | Reading::Initials(_) => !self.typed && !self.enough,
            Reading::Typo(_) => !self.enough,
            Reading::Typos(..) => !self.typed && !self.enough && !self.one_changed,
            Reading::Without(_) => !self.complete,
        }
    }
}

fn is_by_identifier(hit: &Hit) -> bool {
    matches!(hit.tier, Tier::Number | Tier::Domain)
}

fn is_plain(hit: &Hit) -> bool {
    matches!(hit.reading, Reading::Typed | Reading::Joined(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Query;
    use crate::property_tests::{Body, build};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index as Pick, subsequence};

    /// Beginnings of each other, near misses and words run together; none is another's plural, which a segment knows only
    /// for its own words.
    const WORDS: &[&str] = &[
        "harbor", "rescue", "portland", "port", "garden", "choir", "chair", "quilt", "quill", "food", "bank",
        "foodbank", "oak", "oakland", "of", "inc",
    ];
    /// More than any directory here holds.
    const TAKE: usize = 50;

    /// No body has both words of a near miss: a document found by both counts as found by the one that is worth more.
    fn body((mut words, weight, number): (Vec<&str>, u8, u32)) -> Body {
        for (word, near) in [("choir", "chair"), ("quilt", "quill")] {
            if words.contains(&word) {
                words.retain(|other| *other != near);
            }
        }
        let (name, place) = words.split_at(words.len().min(3));
        Body {
            name: name.join(" "),
            aliases: Vec::new(),
            also: Vec::new(),
            place: vec![place.join(" ")],
            number: Some((100_000_000 + number).to_string()),
            labels: Vec::new(),
            weight: f32::from(weight),
        }
    }

    fn directory() -> impl Strategy<Value = Vec<Body>> {
        let body = (subsequence(WORDS, 1..5).prop_shuffle(), 0u8..6, 0u32..1_000).prop_map(body);
        vec(body, 2..14).prop_map(|mut bodies| {
            bodies.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            bodies
        })
    }

    /// Some words of a body, in their order, or its number.
    fn own_words(body: &Body, chosen: u8, cut: usize) -> String {
        if chosen == 0 {
            return body.number.clone().unwrap_or_default();
        }
        let words = body.name.split(' ').chain(body.place[0].split(' '));
        let words = words.enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        let mut text = words.map(|(_, word)| word).collect::<Vec<_>>().join(" ");
        text.truncate(text.len().saturating_sub(cut).max(1));
        text
    }

    fn found(parts: &[Vec<Body>], text: &str) -> Vec<Vec<String>> {
        let indexes: Vec<_> = parts.iter().map(|bodies| build(bodies)).collect();
        let query = Query {
            take: TAKE,
            ..Query::new(text)
        };
        let answers: Vec<_> = indexes.iter().map(|index| index.search(&query).hits).collect();
        let together = Together::new(answers.iter().flatten(), TAKE);
        let mut found = Vec::new();
        for (hits, bodies) in answers.iter().zip(parts) {
            let kept = hits.iter().filter(|hit| together.keeps(hit));
            found.extend(kept.map(|hit| {
                let body = &bodies[hit.document as usize];
                vec![
                    body.name.clone(),
                    body.place.join(" "),
                    body.number.clone().unwrap_or_default(),
                ]
            }));
        }
        found.sort();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn two_segments_find_what_one_of_all_documents_finds(
            bodies in directory(), recent in any::<u16>(), whose in any::<Pick>(), chosen in 0u8..16, cut in 0usize..3,
        ) {
            let text = own_words(&bodies[whose.index(bodies.len())], chosen, cut);
            let part = |wanted: bool| {
                let places = bodies.iter().enumerate();
                let chosen = places.filter(|(at, _)| (recent >> at & 1 == 1) == wanted);
                chosen.map(|(_, body)| body.clone()).collect::<Vec<_>>()
            };
            let apart = found(&[part(false), part(true)], &text);
            prop_assert_eq!(apart, found(std::slice::from_ref(&bodies), &text), "{:?}", text);
        }
    }
}
