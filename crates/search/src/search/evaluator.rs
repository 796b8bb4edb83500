//! One reading through the tiers, from the strongest on.
//!
//! Names that begin with the words come from the sorted list of names, all others from the list of the rarest word.
//! Since documents are numbered by prominence and a tier is worth at most so much, a tier is left as soon as no document
//! further down can enter the page.

use crate::query::{Reading, Tier};
use crate::search::boolean_query::{Slot, Slots};
use crate::search::name_prefix::{self, Stretch};
use crate::search::planner::Asked;
use crate::search::postings::{self, BATCH, Walk};
use crate::search::prefilter::Test;
use crate::search::ranking::{self, Worth};
use crate::search::rewriter::ENOUGH;
use crate::search::searcher::Finder;
use crate::segment::format::Section;
use crate::segment::forward_index::{STOP_WORD_FLAG, TermList};
use crate::segment::min_tree::{MinTree, SmallestEntries};
use crate::segment::name_entry;

/// Documents of one list that are judged.
pub const CANDIDATES: usize = 16;
/// Steps through one list for words as they were typed.
const STEPS: u32 = 16_000;
/// The same where names begin with what was typed.
const STEPS_BEGUN: u32 = 1_000;
/// The same once enough were found.
const STEPS_ENOUGH: u32 = 1_000;
/// Steps through one list for what may have been meant, as long as nothing was found.
const STEPS_OF_A_GUESS: u32 = 4_000;
/// The same once something was found.
const STEPS_OF_A_LATE_GUESS: u32 = 256;
/// So many tests count as much as a step.
const TESTS_OF_A_STEP: usize = 4;
/// Records that are fetched together.
const SIDE_BY_SIDE: usize = 8;
/// What looking at a record counts.
const LOOK: u32 = 16;
/// No more names than this are tried of one stretch.
const MOST_NAMES: usize = 1_024;
/// Names that begin with all words but the last are looked through if they are no more than this.
const MOST_BESIDE: usize = 1_024;
/// An alias no longer than this is found whole only.
const SHORT_ALIAS: usize = 3;

impl<'a> Finder<'a> {
    /// Tries one reading through all tiers and remembers it.
    pub(crate) fn run(&mut self, slots: Slots) {
        if !slots.dead() {
            let before = self.begins(&slots);
            self.listed(&slots, &before);
        }
        self.remember(slots);
    }

    /// Whether no document at all could enter the page with this bonus.
    fn hopeless(&self, bonus: f32) -> bool {
        self.top.rejects(self.segment.prominence(0) + bonus, 0)
    }

    /// Names that begin with the words; those that begin with all but the last are given back.
    fn begins(&mut self, slots: &Slots) -> Vec<Stretch> {
        let found = name_prefix::stretches(self.segment, slots, &self.folded);
        self.begun |= !found.begins.is_empty();
        // After a blank more words are to come, so that a name that ends here is not what is meant.
        let (exact, whole) = match self.folded.last_is_prefix() {
            true if slots.reading == Reading::Typed => (ranking::EXACT, ranking::WHOLE),
            true => (ranking::WHOLE, ranking::WHOLE),
            false => (ranking::BEGINS, ranking::BEGINS),
        };
        self.visit(found.exact.as_slice(), slots, Tier::Exact, exact);
        self.visit(&found.whole, slots, Tier::Whole, whole);
        self.visit(&found.legal, slots, Tier::Whole, whole);
        self.visit(
            &found.short,
            slots,
            Tier::Begins,
            ranking::BEGINS + ranking::SHORT_WORD,
        );
        if !self.ready(slots) {
            self.visit(&found.begins, slots, Tier::Begins, ranking::BEGINS);
        }
        found.before
    }

    /// Offers the names kept ready for a single word; whether no other name could enter the page.
    fn ready(&mut self, slots: &Slots) -> bool {
        let [slot] = slots.all() else { return false };
        let Some(node) = slot.node.filter(|_| self.filter.narrowest().is_none()) else {
            return false;
        };
        let bonus = ranking::BEGINS + slots.cost;
        for entry in self.segment.completions(node).iter() {
            let document = name_entry::document(entry);
            if self
                .top
                .rejects(self.segment.prominence(document) + bonus, document)
            {
                return slots.ranges(slot).len() == 1;
            }
            self.offer_name(entry, slots, Tier::Begins, bonus);
        }
        false
    }

    /// Offers the most prominent names of `stretches`.
    fn visit(&mut self, stretches: &[Stretch], slots: &Slots, tier: Tier, bonus: f32) {
        let article = if slots.article() { ranking::ARTICLE } else { 0.0 };
        for variant in [false, true] {
            let bonus = bonus + slots.cost + if variant { ranking::VARIANT } else { 0.0 };
            let chosen = stretches.iter().filter(|stretch| stretch.variant == variant);
            if chosen.clone().next().is_none() || self.hopeless(bonus + ranking::ALIAS + article) {
                continue;
            }
            let labelled: Option<Vec<_>> = self.filter.narrowest().and_then(|lists| {
                lists
                    .iter()
                    .map(crate::segment::labels::LabelPostings::name_list)
                    .collect()
            });
            if let Some(lists) = labelled {
                for (places, ranked) in lists {
                    let within = |at: usize| places.lower_bound(at as u32);
                    let inside: Vec<_> = chosen
                        .clone()
                        .map(|it| (within(it.from), within(it.to)))
                        .collect();
                    self.take(ranked, &inside, slots, tier, bonus);
                }
            } else {
                let ranked = MinTree::new(
                    self.segment.u32s(Section::NameEntries),
                    self.segment.u32s(Section::NameMinima),
                );
                let all: Vec<_> = chosen.map(|it| (it.from, it.to)).collect();
                self.take(ranked, &all, slots, tier, bonus);
            }
        }
    }

    /// Offers names of `stretches` from the most prominent on until no other could enter the page.
    fn take(
        &mut self,
        ranked: MinTree<'a>,
        stretches: &[(usize, usize)],
        slots: &Slots,
        tier: Tier,
        bonus: f32,
    ) {
        let alias = if tier == Tier::Whole { ranking::ALIAS } else { 0.0 };
        let article = if slots.article() { ranking::ARTICLE } else { 0.0 };
        let highest = bonus + alias + article;
        let mut most = self.query.take.min(MOST_NAMES) * 3 / 2 + 1;
        let mut seen = 0;
        loop {
            let mut least = SmallestEntries::new(most);
            for &(from, to) in stretches {
                ranked.find_smallest(from, to, &mut least);
            }
            for &entry in &least.entries()[seen..] {
                let document = name_entry::document(entry);
                if self
                    .top
                    .rejects(self.segment.prominence(document) + highest, document)
                {
                    return;
                }
                self.offer_name(entry, slots, tier, bonus);
            }
            if !least.is_full() || most > MOST_NAMES {
                return;
            }
            seen = most;
            most *= 4;
        }
    }

    fn offer_name(&mut self, entry: u32, slots: &Slots, tier: Tier, bonus: f32) {
        let (document, which) = (name_entry::document(entry), name_entry::name(entry));
        let mut score = self.segment.prominence(document) + bonus;
        let article = slots.article();
        if which > 0 || article {
            let name = self.segment.record(document).name(which);
            if article && name.core_start() > 0 {
                score += ranking::ARTICLE;
            }
            score += match (name.is_alias(), tier) {
                _ if which == 0 => 0.0,
                // Only the shown name is what it is exactly; another has been offered as a whole name.
                (_, Tier::Exact) => return,
                (true, Tier::Begins) if self.is_short(name) => return,
                (true, Tier::Whole) => ranking::ALIAS,
                (true, _) => 0.0,
                (false, _) => ranking::OTHER_NAME,
            };
        }
        self.offer(document, score, tier, which as u8, slots.reading);
    }

    /// Whether an alias is too short to be found by its beginning.
    fn is_short(&self, name: crate::segment::forward_index::TermList<'_>) -> bool {
        name.len() == 1 && self.segment.trie().word_bytes(name.term(0)).len() <= SHORT_ALIAS
    }

    /// Documents that have all words anywhere: the rarest word, or the rarest label, leads, and the others are asked about
    /// its documents.
    fn listed(&mut self, slots: &Slots, before: &[Stretch]) {
        if self.hopeless(ranking::MOST_LISTED + slots.cost) {
            return;
        }
        let required: Vec<Slot> = slots.required().copied().collect();
        self.beside(before, slots, &required);
        let asked = Asked::new(self, slots, &required);
        let (at, lead) = match asked.lead(self, slots) {
            Some((at, lead)) => (Some(at), lead),
            None => (None, postings::heads(self.segment, slots, &required[0])),
        };
        let tests = asked.tests(self, slots, &lead, at);
        self.walk(lead, slots, &required, &tests);
    }

    /// Documents that have the last word beside a name that begins with the others: a place or a chapter was added.
    fn beside(&mut self, before: &[Stretch], slots: &Slots, required: &[Slot]) {
        let names: usize = before.iter().map(|stretch| stretch.to - stretch.from).sum();
        let needless = self.top.full() || self.filter.narrowest().is_some();
        if names == 0 || names > MOST_BESIDE || needless {
            return;
        }
        let entries = self.segment.u32s(Section::NameEntries);
        let mut documents = Vec::new();
        for stretch in before {
            let named = entries.slice(stretch.from, stretch.to);
            documents.extend(named.iter().map(name_entry::document).filter(|&document| {
                let signature = self.segment.signature(document);
                required.iter().all(|slot| slot.may_be_in(signature))
            }));
        }
        documents.sort_unstable();
        documents.dedup();
        self.walk(Walk::Gathered(documents, 0), slots, required, &[]);
    }

    /// Steps that one list may take now.
    pub(crate) fn allowed(&self, slots: &Slots) -> u32 {
        let found = self.top.len();
        let allowed = match slots.reading.is_guess() {
            false if self.filter.narrowest().is_some() => STEPS,
            false if found >= ENOUGH => STEPS_ENOUGH,
            false if self.begun => STEPS_BEGUN,
            false => STEPS,
            true if found == 0 && !self.begun => STEPS_OF_A_GUESS,
            true => STEPS_OF_A_LATE_GUESS,
        };
        allowed.min(self.steps)
    }

    /// Offers the documents of `walk` that pass all `tests` and have all `required` words.
    fn walk(&mut self, mut walk: Walk<'a>, slots: &Slots, required: &[Slot], tests: &[Test<'a>]) {
        let most = ranking::MOST_LISTED + slots.cost;
        let mut left = CANDIDATES;
        let allowed = self.allowed(slots);
        let mut steps = allowed;
        let mut batch = [0; BATCH];
        while left > 0
            && steps > 0
            && let Some(part) = walk.next(self.segment, tests, &mut batch)
        {
            // Most documents fail the first tests; many words cost more than few.
            steps = steps.saturating_sub((part.passed + part.passed * tests.len() / TESTS_OF_A_STEP) as u32);
            let documents = &batch[..part.left];
            for documents in documents.chunks(SIDE_BY_SIDE) {
                let mut words = [TermList::default(); SIDE_BY_SIDE];
                for (words, &document) in words.iter_mut().zip(documents) {
                    *words = self.segment.record(document).all_terms();
                }
                for (&document, &words) in documents.iter().zip(&words) {
                    let weight = self.segment.prominence(document);
                    if left == 0 || self.top.rejects(weight + most, document) {
                        break;
                    }
                    steps = steps.saturating_sub(LOOK);
                    if holds(words, slots, required) && self.filter.admits(document) {
                        left -= 1;
                        let record = self.segment.record(document);
                        let Worth { bonus, name, first } = ranking::judge(record, slots);
                        let tier = if first { Tier::First } else { Tier::Anywhere };
                        self.offer(document, weight + bonus + slots.cost, tier, name, slots.reading);
                    }
                }
            }
            if self.top.full()
                && self
                    .top
                    .rejects(self.segment.prominence(part.last) + most, part.last)
            {
                break;
            }
        }
        self.steps -= allowed - steps;
    }
}

/// Whether a document has all `required` words, the word still being typed one of its own.
fn holds(words: TermList<'_>, slots: &Slots, required: &[Slot]) -> bool {
    let terms = || words.iter().map(|term| term & !STOP_WORD_FLAG);
    let has_all = required
        .iter()
        .all(|slot| terms().any(|term| slots.has(slot, term)));
    has_all
        && match slots.all().split_last() {
            Some((last, earlier)) if slots.open && slots.overlap() => {
                terms().any(|term| slots.has(last, term) && !earlier.iter().any(|slot| slots.has(slot, term)))
            }
            _ => true,
        }
}
