//! What is asked about documents that are not found by the beginning of a name, and which list is walked for it.
//!
//! The shortest walk leads: the rarest word or label, or a more frequent one whose list, read in order, fills the page
//! sooner. All others become tests.

use crate::search::boolean_query::{Slot, Slots};
use crate::search::evaluator::CANDIDATES;
use crate::search::postings::{self, MOST_LISTS, Walk};
use crate::search::prefilter::Test;
use crate::search::searcher::Finder;

/// For a walk of no more documents than this the signatures do.
const FEW: usize = 64;

/// What is asked about documents: the words and the labels that they must have, those that the fewest have first.
pub struct Asked<'s> {
    all: Vec<(usize, About<'s>)>,
}

/// What one of them is.
#[derive(Clone, Copy)]
enum About<'s> {
    Word(&'s Slot),
    /// A group of labels; the first is the narrowest.
    Labels(usize),
}

impl<'s> Asked<'s> {
    /// What a reading and the filter ask.
    pub fn new(finder: &Finder<'_>, slots: &Slots, required: &'s [Slot]) -> Self {
        let words = required.iter().map(|slot| {
            let total = postings::total(finder.segment, slots, slot);
            (total, About::Word(slot))
        });
        let labels = (0..).map(About::Labels);
        let mut all: Vec<_> = words.chain(finder.filter.sizes().zip(labels)).collect();
        all.sort_by_key(|(size, _)| *size);
        Self { all }
    }

    /// The shortest walk, and where its word or label stands; none where there is no list that can be walked.
    pub fn lead<'a>(&self, finder: &Finder<'a>, slots: &Slots) -> Option<(usize, Walk<'a>)> {
        let allowed = match slots.reading.is_guess() {
            true => finder.allowed(slots),
            false => finder.steps,
        };
        let allowed = (self.all.len() > 1).then_some(allowed as usize);
        let cost = |&(at, &(size, about)): &(usize, &(usize, About<'_>))| match about {
            About::Word(slot) if slots.words(slot) > MOST_LISTS => size,
            _ => size.min(self.until_full(finder, at)),
        };
        let walkable = |&(_, &(size, about)): &(usize, &(usize, About<'_>))| match about {
            About::Word(slot) => postings::is_walkable(slots, slot, size, allowed),
            About::Labels(group) => group == 0,
        };
        let (at, &(_, about)) = self.all.iter().enumerate().filter(walkable).min_by_key(cost)?;
        let walk = match about {
            About::Word(slot) => postings::walk(finder.segment, slots, slot),
            About::Labels(_) => finder.filter.walk()?,
        };
        Some((at, walk))
    }

    /// About how many documents in order are passed until the page is full.
    fn until_full(&self, finder: &Finder<'_>, lead: usize) -> usize {
        let rarest = self.all.iter().enumerate().find(|(at, _)| *at != lead);
        let others = rarest.map_or(usize::MAX, |(_, (size, _))| (*size).max(1));
        (2 * CANDIDATES).saturating_mul(finder.segment.document_count() as usize) / others
    }

    /// The tests for a walk that is led by what stands at a place; signatures come last.
    pub fn tests<'a>(
        &self,
        finder: &Finder<'a>,
        slots: &Slots,
        walk: &Walk<'_>,
        lead: Option<usize>,
    ) -> Vec<Test<'a>> {
        let mut tests = Vec::with_capacity(self.all.len());
        let others = self.all.iter().enumerate().filter(|(at, _)| Some(*at) != lead);
        for (_, (_, about)) in others {
            tests.extend(match *about {
                About::Word(slot) if walk.size() <= FEW => Some(Test::Signature(*slot)),
                About::Word(slot) => Some(Test::slot(finder.segment, slots, slot)),
                About::Labels(_) if walk.size() <= FEW => None,
                About::Labels(group) => Some(finder.filter.test(group)),
            });
        }
        tests.sort_by_key(|test| matches!(test, Test::Signature(_)));
        tests
    }
}
