//! The rules of matching said plainly: every reading is tried on every document, with strings and without any index.

use std::collections::BTreeSet;

use super::Body;
use super::reference_matching::{Slot, all_words, judge, meet, names, near};
use crate::query::{Query, Reading, Tier};
use crate::search::ranking;
use crate::search::rewriter::{ENOUGH, LONGEST_SPLIT, SHORTEST_SPLIT, SPLIT_LETTERS};
use crate::text::english;
use crate::text::initials::INITIALS_LENGTHS;
use crate::text::tokenizer::Tokens;

/// A hit as the tests compare it.
pub type Found = (u32, f32, Tier, Reading);

struct Scan<'a> {
    bodies: &'a [Body],
    query: &'a Query<'a>,
    dictionary: BTreeSet<String>,
    folded: Tokens,
    found: Vec<Found>,
    begun: bool,
}

/// What the index has to find.
pub fn scan(bodies: &[Body], query: &Query<'_>) -> Vec<Found> {
    let mut dictionary: BTreeSet<String> = bodies.iter().flat_map(all_words).collect();
    for class in english::SYNONYMS {
        if class.iter().any(|word| dictionary.contains(*word)) {
            dictionary.extend(class.iter().map(|&word| word.to_owned()));
        }
    }
    let folded = Tokens::new(query.text);
    let mut scan = Scan {
        bodies,
        query,
        dictionary,
        folded,
        found: Vec::new(),
        begun: false,
    };
    scan.words();
    scan.page()
}

impl Scan<'_> {
    fn page(&self) -> Vec<Found> {
        let mut page = self.found.clone();
        page.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        page.truncate(self.query.take);
        page
    }

    fn offer(&mut self, hit: Found) {
        let body = &self.bodies[hit.0 as usize];
        if !self
            .query
            .filter
            .iter()
            .all(|group| group.iter().any(|label| body.labels.contains(label)))
        {
            return;
        }
        match self.found.iter_mut().find(|known| known.0 == hit.0) {
            Some(known) if known.1 < hit.1 => *known = hit,
            Some(_) => {}
            None => self.found.push(hit),
        }
    }

    fn is_open(&self, at: usize) -> bool {
        self.folded.last_is_prefix() && at + 1 == self.folded.len()
    }

    fn word(&self, word: &str, open: bool) -> Slot {
        let typed: BTreeSet<String> = self
            .dictionary
            .iter()
            .filter(|it| if open { it.starts_with(word) } else { *it == word })
            .cloned()
            .collect();
        let exact = self.dictionary.get(word).cloned();
        let class = if exact.is_some() {
            self.class(word)
        } else {
            BTreeSet::new()
        };
        let others = class.into_iter().filter(|word| !typed.contains(word)).collect();
        let optional = if open {
            english::is_legal_suffix(word) && word.len() > 2
        } else {
            english::is_stop_word(word)
        };
        Slot {
            typed,
            others,
            exact,
            optional,
            article: word == "the",
            text: None,
            last: false,
        }
    }

    /// All words of the dictionary that are other writings, plurals or singulars of each other.
    fn class(&self, word: &str) -> BTreeSet<String> {
        let kin = |a: &str, b: &str| {
            english::SYNONYMS
                .iter()
                .any(|class| class.contains(&a) && class.contains(&b))
                || english::singular_forms(a).any(|stem| stem == b)
                || english::singular_forms(b).any(|stem| stem == a)
        };
        let mut class = BTreeSet::from([word.to_owned()]);
        loop {
            let more: Vec<String> = self
                .dictionary
                .iter()
                .filter(|a| class.iter().any(|b| kin(a, b)))
                .cloned()
                .collect();
            let before = class.len();
            class.extend(more);
            if class.len() == before {
                return class;
            }
        }
    }

    fn typed(&self, at: usize) -> Slot {
        let text = self.folded.word(at);
        Slot {
            text: Some(text.to_owned()),
            last: at + 1 == self.folded.len(),
            ..self.word(text, self.is_open(at))
        }
    }

    fn words(&mut self) {
        let count = self.folded.len();
        let typed: Vec<Slot> = (0..count).map(|at| self.typed(at)).collect();
        let dead: Vec<usize> = (0..count)
            .filter(|&at| typed[at].typed.is_empty() && typed[at].others.is_empty() && !typed[at].optional)
            .collect();
        self.run(&typed, Reading::Typed, 0.0);
        for at in 1..count {
            self.joined(&typed, at - 1);
        }
        if self.page().len() >= ENOUGH.min(self.query.take) || (self.begun && !self.query.filter.is_empty()) {
            return;
        }
        let none = self.found.is_empty();
        for at in 0..count {
            if dead == [at] || (dead.is_empty() && none) {
                self.split(&typed, at);
                self.initials(&typed, at);
            }
        }
        if self.page().len() >= self.query.take {
            return;
        }
        match dead[..] {
            [] => (0..count).for_each(|at| self.typos(&typed, &[at])),
            [_] | [_, _] => self.typos(&typed, &dead),
            _ => {}
        }
        if !self.found.is_empty() || count < 2 {
            return;
        }
        if let [one] = dead[..] {
            for other in (0..count).filter(|&at| at != one) {
                self.typos(&typed, &[one.min(other), one.max(other)]);
            }
        }
        if !self.found.is_empty() {
            return;
        }
        for at in (0..count).filter(|&at| dead == [at] || dead.is_empty()) {
            let mut slots = typed.clone();
            slots.remove(at);
            self.run(&slots, Reading::Without(at as u8), ranking::WITHOUT);
        }
    }

    fn joined(&mut self, typed: &[Slot], at: usize) {
        let (left, right) = (self.folded.word(at), self.folded.word(at + 1));
        if left.len() < 2 || right.len() < 2 || left.len() + right.len() < SHORTEST_SPLIT {
            return;
        }
        let one = self.word(&format!("{left}{right}"), self.is_open(at + 1));
        if one.typed.is_empty() {
            return;
        }
        let mut slots = typed.to_vec();
        slots.splice(at..at + 2, [one]);
        self.run(&slots, Reading::Joined(at as u8), ranking::JOINED);
    }

    fn split(&mut self, typed: &[Slot], at: usize) {
        let word = self.folded.word(at).to_owned();
        if word.len() < SHORTEST_SPLIT {
            return;
        }
        let frequency = |words: &BTreeSet<String>| -> usize {
            let in_body = |body: &Body| {
                all_words(body)
                    .into_iter()
                    .collect::<BTreeSet<_>>()
                    .intersection(words)
                    .count()
            };
            self.bodies.iter().map(in_body).sum()
        };
        let open = self.is_open(at);
        let in_two = |word: &str| -> Option<(usize, Vec<Slot>)> {
            let mut best: Option<(usize, Vec<Slot>)> = None;
            for cut in 2..=word.len().saturating_sub(2) {
                let left = self.word(&word[..cut], false);
                let right = self.word(&word[cut..], open);
                if left.exact.is_none() || right.typed.is_empty() {
                    continue;
                }
                let rarer = frequency(&left.typed).min(frequency(&right.typed));
                if best.as_ref().is_none_or(|best| rarer > best.0) {
                    best = Some((rarer, vec![left, right]));
                }
            }
            best
        };
        let lettered = |word: &str| -> Option<(usize, Vec<Slot>)> {
            if !word.starts_with(SPLIT_LETTERS) || word.len() < 3 {
                return None;
            }
            let (letter, right) = (self.word(&word[..1], false), self.word(&word[1..], open));
            let is_known = letter.exact.is_some() && !right.typed.is_empty();
            let rarer = frequency(&letter.typed).min(frequency(&right.typed));
            is_known.then(|| (rarer, vec![letter, right]))
        };
        let mut best = in_two(&word);
        if word.len() <= LONGEST_SPLIT {
            for cut in 2..=word.len() - 2 {
                let left = self.word(&word[..cut], false);
                if left.exact.is_none() {
                    continue;
                }
                let most = frequency(&left.typed);
                let lettered = lettered(&word[cut..]).map(|(rarer, others)| (rarer.min(most) / 2, others));
                for (rarer, others) in in_two(&word[cut..]).into_iter().chain(lettered) {
                    let rarest = rarer.min(most);
                    if best.as_ref().is_none_or(|best| rarest > best.0) {
                        best = Some((rarest, std::iter::once(left.clone()).chain(others).collect()));
                    }
                }
            }
        }
        if let Some((_, parts)) = best {
            let mut slots = typed.to_vec();
            let whole = slots[at].clone();
            let marked = parts.into_iter().map(|part| Slot {
                text: whole.text.clone(),
                last: whole.last,
                ..part
            });
            slots.splice(at..=at, marked);
            self.run(&slots, Reading::Split(at as u8), ranking::JOINED);
        }
    }

    fn initials(&mut self, typed: &[Slot], at: usize) {
        let word = self.folded.word(at).to_owned();
        if !INITIALS_LENGTHS.contains(&word.len()) || typed[at].exact.is_some() {
            return;
        }
        for (document, body) in self.bodies.iter().enumerate() {
            let initials = |words: &[String], with_noise: bool| -> String {
                let counted = words
                    .iter()
                    .filter(|word| with_noise || !english::is_stop_word(word));
                counted.filter_map(|word| word.chars().next()).collect()
            };
            let spelled = names(body)
                .iter()
                .any(|name| initials(&name.spine, true) == word || initials(&name.spine, false) == word);
            let others = typed.iter().enumerate().all(|(other, slot)| {
                other == at || slot.optional || all_words(body).iter().any(|word| slot.has(word))
            });
            if spelled && others {
                let hit = (
                    document as u32,
                    body.weight + ranking::INITIALS,
                    Tier::Initials,
                    Reading::Initials(at as u8),
                );
                self.offer(hit);
            }
        }
    }

    fn typos(&mut self, typed: &[Slot], wrong: &[usize]) {
        let reading = match *wrong {
            [one] => Reading::Typo(one as u8),
            [one, two] => Reading::Typos(one as u8, two as u8),
            _ => return,
        };
        let mut slots = typed.to_vec();
        for &at in wrong {
            let open = self.is_open(at);
            let meant: BTreeSet<String> = self
                .dictionary
                .iter()
                .filter(|word| near(self.folded.word(at), word, open))
                .cloned()
                .collect();
            if meant.is_empty() {
                return;
            }
            let Slot { text, last, .. } = slots[at].clone();
            slots[at] = Slot {
                typed: meant,
                text,
                last,
                ..Slot::default()
            };
        }
        self.run(&slots, reading, ranking::TYPO * wrong.len() as f32);
    }

    fn run(&mut self, slots: &[Slot], reading: Reading, cost: f32) {
        let every = slots.iter().all(|slot| slot.optional);
        let required: Vec<&Slot> = slots.iter().filter(|slot| every || !slot.optional).collect();
        if required
            .iter()
            .any(|slot| slot.typed.is_empty() && slot.others.is_empty())
        {
            return;
        }
        for document in 0..self.bodies.len() {
            for (tier, bonus) in self.begins(document, slots, cost, reading) {
                let hit = (
                    document as u32,
                    self.bodies[document].weight + bonus,
                    tier,
                    reading,
                );
                self.offer(hit);
            }
        }
        for document in 0..self.bodies.len() {
            let body = &self.bodies[document];
            let has = all_words(body);
            let own = |slots: &[Slot]| match slots.split_last() {
                Some((last, earlier))
                    if self.folded.last_is_prefix() && earlier.iter().any(|slot| meet(slot, last)) =>
                {
                    has.iter()
                        .any(|word| last.has(word) && !earlier.iter().any(|slot| slot.has(word)))
                }
                _ => true,
            };
            if required.iter().all(|slot| has.iter().any(|word| slot.has(word))) && own(slots) {
                let (bonus, tier) = judge(body, slots, &required);
                let hit = (document as u32, body.weight + bonus + cost, tier, reading);
                self.offer(hit);
            }
        }
    }

    /// What each name of a document that begins with the words is worth, strongest first.
    fn begins(&mut self, document: usize, slots: &[Slot], cost: f32, reading: Reading) -> Vec<(Tier, f32)> {
        let open = self.folded.last_is_prefix();
        let article = slots.len() > 1 && slots[0].article;
        let spine = &slots[usize::from(article)..];
        let whole = if open { ranking::WHOLE } else { ranking::BEGINS };
        let mut worth = Vec::new();
        for name in names(&self.bodies[document]) {
            let fits = |words: &[String], slots: &[Slot]| {
                words.len() >= slots.len() && slots.iter().zip(words).all(|(slot, word)| slot.has(word))
            };
            let variant = |slots: &[Slot]| {
                slots
                    .iter()
                    .zip(&name.spine)
                    .any(|(slot, word)| slot.others.contains(word))
            };
            let mut note = |tier: Tier, bonus: f32, variant: bool| {
                let bonus = bonus + cost + if variant { ranking::VARIANT } else { 0.0 };
                let bonus = bonus
                    + if article && name.article {
                        ranking::ARTICLE
                    } else {
                        0.0
                    };
                let short = name.all.len() == 1 && name.all[0].len() <= 3;
                match (name.shown, name.alias, tier) {
                    (true, _, _) => worth.push((tier, bonus)),
                    (_, _, Tier::Exact) => {}
                    (_, true, Tier::Begins) if short => {}
                    (_, true, Tier::Whole) => worth.push((tier, bonus + ranking::ALIAS)),
                    (_, true, _) => worth.push((tier, bonus)),
                    (_, false, _) => worth.push((tier, bonus + ranking::OTHER_NAME)),
                }
            };
            let spelled: Vec<&String> = slots.iter().filter_map(|slot| slot.exact.as_ref()).collect();
            if spelled.len() == slots.len() && name.all.iter().collect::<Vec<_>>() == spelled {
                let typed = open && reading == Reading::Typed;
                note(Tier::Exact, if typed { ranking::EXACT } else { whole }, false);
            }
            let begun = fits(&name.spine, spine);
            let last = &spine[spine.len() - 1];
            let finished = begun && {
                let word = &name.spine[spine.len() - 1];
                last.exact.as_ref() == Some(word) || last.others.contains(word)
            };
            if finished && last.exact.is_some() && name.spine.len() == spine.len() {
                note(Tier::Whole, whole, variant(spine));
            }
            for cut in 1..spine.len() {
                let legal = |slot: &Slot| {
                    let text = slot.text.as_deref().unwrap_or("?");
                    english::is_legal_suffix(text)
                        || (open && slot.last && english::is_prefix_of_legal_suffix(text))
                };
                let ends = name.spine.len() == cut && fits(&name.spine, &spine[..cut]);
                if ends
                    && spine[cut..].iter().all(legal)
                    && name.after.as_ref().is_some_and(|word| spine[cut].has(word))
                {
                    note(Tier::Whole, whole, variant(&spine[..cut]));
                }
            }
            let short = last.text.as_ref().is_some_and(|text| text.len() <= 3);
            if finished && open && short && last.exact.is_some() && !last.others.is_empty() {
                note(Tier::Begins, ranking::BEGINS + ranking::SHORT_WORD, false);
            }
            if begun {
                self.begun = true;
                note(Tier::Begins, ranking::BEGINS, variant(spine));
            }
        }
        worth
    }
}
