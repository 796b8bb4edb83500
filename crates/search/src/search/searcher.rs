//! Finding: readings of what was typed, tried from the likeliest on, each through the tiers from the strongest on.
//!
//! This file holds the state of one query and what is found by number or domain; [`crate::search::rewriter`] says which readings are
//! tried, [`crate::search::evaluator`] how one reading is looked up. All work is counted against one allowance, so that no query,
//! hostile or unlucky, costs more than a fixed multiple of the usual one.

use crate::query::{Answer, Hit, MOST_WORDS, Query, Reading, Tier};
use crate::search::boolean_query::{self, Slots};
use crate::search::filter::Filter;
use crate::search::postings::{self, BATCH};
use crate::search::ranking;
use crate::search::top_k::Top;
use crate::segment::format::Section;
use crate::segment::forward_index::STOP_WORD_FLAG;
use crate::segment::reader::Segment;
use crate::segment::trie::Cursor;
use crate::text::domain;
use crate::text::tokenizer::Tokens;

/// Steps through lists that one query may take.
const STEPS: u32 = 20_000;

/// One query on its way.
pub struct Finder<'a> {
    pub(crate) segment: Segment<'a>,
    pub(crate) query: Query<'a>,
    pub(crate) folded: Tokens,
    pub(crate) filter: Filter<'a>,
    pub(crate) top: Top,
    pub(crate) steps: u32,
    /// Whether a name, filtered out or not, begins with the words of a reading.
    pub(crate) begun: bool,
    /// Where each word leads in the trie.
    pub(crate) places: Vec<Option<Cursor<'a>>>,
    /// The readings tried so far; a hit remembers which one found it.
    readings: Vec<Slots>,
}

impl<'a> Finder<'a> {
    /// Prepares to find `query`.
    pub fn new(segment: Segment<'a>, query: &Query<'a>) -> Self {
        Self {
            segment,
            query: *query,
            folded: Tokens::new(query.text),
            filter: Filter::new(segment, query),
            top: Top::new(query.take),
            steps: STEPS,
            begun: false,
            places: Vec::new(),
            readings: Vec::with_capacity(4),
        }
    }

    /// Finds.
    pub fn answer(self) -> Answer<'a> {
        self.finish().0
    }

    /// Finds, and gives the readings that were tried as well.
    pub(crate) fn finish(mut self) -> (Answer<'a>, Vec<Slots>) {
        if self.query.take > 0 && !self.filter.is_empty() && self.segment.document_count() > 0 {
            self.number();
            self.domain();
            let identified = self
                .top
                .hits()
                .first()
                .is_some_and(|hit| hit.score >= ranking::IDENTIFIED);
            if !identified && !self.folded.is_empty() {
                self.words();
            }
        }
        let mut hits = self.top.into_hits();
        for hit in &mut hits {
            hit.matched = match self.readings.get(usize::from(hit.by)) {
                Some(slots) => matched(self.segment, slots, hit),
                None => 0,
            };
        }
        (
            Answer {
                hits,
                text: self.query.text,
                words: self.folded,
            },
            self.readings,
        )
    }

    /// How many words are read.
    pub(crate) fn count(&self) -> usize {
        self.folded.len().min(MOST_WORDS)
    }

    /// Whether the word `at` may be the beginning of a longer one.
    pub(crate) fn is_open(&self, at: usize) -> bool {
        self.folded.last_is_prefix() && at + 1 == self.folded.len()
    }

    /// Whether the last word that is read may go on.
    pub(crate) fn open(&self) -> bool {
        self.is_open(self.count().saturating_sub(1))
    }

    /// Offers a document for the page.
    pub(crate) fn offer(&mut self, document: u32, score: f32, tier: Tier, name: u8, reading: Reading) {
        if self.top.rejects(score, document) || self.top.has(document, score) || !self.filter.admits(document)
        {
            return;
        }
        let by = self.readings.len().min(usize::from(u8::MAX)) as u8;
        self.top.offer(Hit {
            document,
            score,
            tier,
            name,
            reading,
            by,
            matched: 0,
        });
    }

    /// Remembers a reading that found what it could.
    pub(crate) fn remember(&mut self, slots: Slots) {
        self.readings.push(slots);
    }

    /// Documents by their number, with or without dash, or by its beginning of five digits or more.
    fn number(&mut self) {
        let text = self.query.text.trim();
        if !text.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            return;
        }
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        let Ok(start) = digits.parse::<u32>() else { return };
        if !(5..=9).contains(&digits.len()) {
            return;
        }
        let scale = 10u32.pow(9 - digits.len() as u32);
        let numbers = self.segment.u32s(Section::RegistrationNumbers);
        let (from, to) = (
            numbers.lower_bound(start * scale),
            numbers.lower_bound((start + 1).saturating_mul(scale)),
        );
        let bonus = if scale == 1 {
            ranking::IDENTIFIED
        } else {
            ranking::IDENTIFIED_START
        };
        for document in self
            .segment
            .u32s(Section::RegistrationDocuments)
            .slice(from, to)
            .iter()
        {
            let score = self.segment.prominence(document) + bonus;
            self.offer(document, score, Tier::Number, 0, Reading::Typed);
        }
    }

    /// Documents by the domain of their website, or by its beginning.
    fn domain(&mut self) {
        let Some(domain) = domain::parse_domain(self.query.text) else {
            return;
        };
        let mut slots = Slots::new(Reading::Typed, 0.0, true);
        boolean_query::push_word(self.segment, &domain, true, 0, &mut slots);
        let slot = slots.all()[0];
        let mut walk = postings::heads(self.segment, &slots, &slot);
        let mut batch = [0; BATCH];
        let part = walk.next(self.segment, &[], &mut batch);
        for &document in &batch[..part.map_or(0, |part| part.left)] {
            let whole = self
                .segment
                .record(document)
                .location()
                .iter()
                .any(|term| Some(term) == slot.exact);
            let bonus = if whole {
                ranking::IDENTIFIED
            } else {
                ranking::IDENTIFIED_START
            };
            self.offer(
                document,
                self.segment.prominence(document) + bonus,
                Tier::Domain,
                0,
                Reading::Typed,
            );
        }
        self.remember(Slots::new(Reading::Typed, 0.0, true));
    }
}

/// The typed words that a document has, a bit for each.
fn matched(segment: Segment<'_>, slots: &Slots, hit: &Hit) -> u64 {
    let begins = matches!(hit.tier, Tier::Exact | Tier::Whole | Tier::Begins);
    if begins && slots.plain() {
        return slots.all().iter().fold(0, |words, slot| words | slot.words);
    }
    let record = segment.record(hit.document).all_terms();
    let initials = match hit.reading {
        Reading::Initials(at) => 1 << at,
        _ => 0,
    };
    slots.all().iter().fold(initials, |words, slot| {
        let has = record.iter().any(|term| slots.has(slot, term & !STOP_WORD_FLAG));
        words | if has { slot.words } else { 0 }
    })
}
