//! Compares names word by word: spelling, order and legal suffixes may differ.

use ::search::{Tokens, canonical_word, is_stop_word};

/// The similarity of equal names, in percent.
pub(crate) const EQUAL: u32 = 100;

/// The similarity of names with the same letters but other spaces, such as "Food Bank" and "Foodbank".
const SAME_LETTERS: u32 = 98;
/// The similarity of names with the same words in another order.
const SAME_WORDS: u32 = 97;
/// More words than a name has. Further ones are ignored.
const MAX_WORDS: usize = 64;

/// The significant words of a name. Buffers are reused from one name to the next.
#[derive(Debug, Default)]
pub struct NameWords {
    tokens: Tokens,
    /// All words without spaces, each as the first of its synonyms.
    letters: String,
    /// The end of each word in `letters`.
    ends: Vec<usize>,
    /// The index of each word in `tokens`, for how it is spelled: a typo is in the word and not in its synonym.
    indexes: Vec<usize>,
}

/// How two names compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// In percent, [`EQUAL`] only for the same words in the same order.
    pub similarity: u32,
    /// How many words of the first name are not in the second one, also not with a typo.
    pub only_here: u32,
    /// The reverse.
    pub only_there: u32,
}

impl NameWords {
    /// Replaces the words with those of a name. Words such as "the" and "inc" do not count, unless there are no others.
    pub fn set(&mut self, name: &str) {
        self.tokens.tokenize(name);
        let has_others = self.tokens.iter().any(|word| !is_stop_word(word));
        self.letters.clear();
        self.ends.clear();
        self.indexes.clear();
        let words = self.tokens.iter().enumerate();
        let words = words.filter(|(_, word)| !has_others || !is_stop_word(word));
        for (index, word) in words.take(MAX_WORDS) {
            self.letters.push_str(canonical_word(word));
            self.ends.push(self.letters.len());
            self.indexes.push(index);
        }
    }

    /// Returns whether the name has no letters and digits.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the words in alphabetical order: equal for names that differ in order, suffixes and synonyms only.
    pub(crate) fn sorted(&self) -> String {
        let mut words: Vec<&str> = self.words().collect();
        words.sort_unstable();
        words.join(" ")
    }

    /// Returns a word as it is spelled.
    fn spelled(&self, number: usize) -> &str {
        self.indexes
            .get(number)
            .map_or("", |index| self.tokens.word(*index))
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, end)| &self.letters[start..*end])
    }

    /// Returns the similarity of two names in percent, [`EQUAL`] only for the same words in the same order.
    pub fn similarity(&self, other: &NameWords) -> u32 {
        self.compare(other).similarity
    }

    /// Compares two names.
    pub(crate) fn compare(&self, other: &NameWords) -> Comparison {
        if self.letters == other.letters {
            let similarity = match (self.is_empty(), self.ends == other.ends) {
                (true, _) => 0,
                (false, true) => EQUAL,
                (false, false) => SAME_LETTERS,
            };
            return Comparison {
                similarity,
                ..Comparison::default()
            };
        }
        // Equal words first, so that a similar word does not take the place of an equal one.
        let (mut used_here, mut used_there) = (0_u64, 0_u64);
        let mut matched = 0;
        for is_equal_pass in [true, false] {
            for (here, word) in self.words().enumerate() {
                if used_here >> here & 1 == 1 {
                    continue;
                }
                let best = other
                    .words()
                    .enumerate()
                    .filter(|(there, _)| used_there >> there & 1 == 0)
                    .map(|(there, candidate)| {
                        let grade = if word == candidate {
                            EQUAL
                        } else if is_equal_pass {
                            0
                        } else {
                            let spelled = word_similarity(self.spelled(here), other.spelled(there));
                            spelled.max(word_similarity(word, candidate))
                        };
                        (grade * (weight(word) + weight(candidate)), there)
                    })
                    .max_by_key(|(gain, there)| (*gain, std::cmp::Reverse(*there)));
                if let Some((gain, there)) = best.filter(|(gain, _)| *gain > 0) {
                    matched += gain;
                    used_here |= 1 << here;
                    used_there |= 1 << there;
                }
            }
        }
        let total = self.words().chain(other.words()).map(weight).sum::<u32>();
        Comparison {
            similarity: (matched / total.max(1)).min(SAME_WORDS),
            only_here: self.ends.len() as u32 - used_here.count_ones(),
            only_there: other.ends.len() as u32 - used_there.count_ones(),
        }
    }
}

/// Returns how much a word counts. Long words say more than short ones.
fn weight(word: &str) -> u32 {
    word.len().clamp(2, 8) as u32
}

/// Returns the similarity of two different words in percent: plurals, abbreviations and typos.
fn word_similarity(a: &str, b: &str) -> u32 {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() < 4 || short.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    if let Some(rest) = long.strip_prefix(short) {
        return if rest == "s" { 95 } else { 80 };
    }
    if is_abbreviation(short, long) {
        return 75;
    }
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let prefix = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (short, long) = (&short[prefix..], &long[prefix..]);
    let suffix = short
        .iter()
        .rev()
        .zip(long.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (short, long) = (&short[..short.len() - suffix], &long[..long.len() - suffix]);
    match (short, long) {
        ([] | [_], [_]) => 85,
        ([a, b], [c, d]) if (a, b) == (d, c) => 85,
        (_, [_, _]) if prefix + suffix >= 6 => 75,
        _ => 0,
    }
}

/// Returns whether a short word abbreviates a long one by leaving out letters: "natl" for "national", "svcs" for
/// "services". Both begin and end with the same letters, and few vowels are left.
fn is_abbreviation(short: &str, long: &str) -> bool {
    const MAX_LENGTH: usize = 6;
    if short.len() > MAX_LENGTH || long.len() < short.len() + 3 {
        return false;
    }
    let is_vowel = |byte: &u8| b"aeiou".contains(byte);
    let (short, long) = (short.as_bytes(), long.as_bytes());
    let mut rest = long.iter();
    short[0] == long[0]
        && short.last() == long.last()
        && short[1..].iter().filter(|byte| is_vowel(byte)).count() <= 1
        && short.iter().all(|byte| rest.any(|other| other == byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn similarity(a: &str, b: &str) -> u32 {
        let (mut first, mut second) = (NameWords::default(), NameWords::default());
        first.set(a);
        second.set(b);
        first.similarity(&second)
    }

    #[test]
    fn spelling_that_means_nothing_makes_no_difference() {
        for (a, b) in [
            ("The Granite Town Library, Inc.", "GRANITE TOWN LIBRARY"),
            ("Saint Jude's Hospital", "ST JUDES HOSP"),
            ("Médecins Sans Frontières", "medecins sans frontieres"),
            ("Boys & Girls Club", "boys and girls club"),
        ] {
            assert_eq!(similarity(a, b), EQUAL, "{a}");
        }
    }

    #[test]
    fn similar_names_are_between_equal_and_different_ones() {
        for (a, b, expected) in [
            ("Concord Food Bank", "Concord Foodbank", 98..=98),
            ("Library of Concord", "Concord Library", 97..=97),
            ("Granite Town Libary", "Granite Town Library", 90..=96),
            ("Granite Town Library", "Granite Town Library Friends", 75..=90),
            ("Granite Town Library", "Granite School", 30..=60),
            ("Granite Town Library", "Blue Whale Rescue", 0..=0),
            ("Lodge 12", "Lodge 13", 50..=80),
            ("Lois Foundataon", "Lois Foundation", 85..=96),
            ("Granite Regl Svcs", "Granite Regional Services", 75..=96),
            ("", "", 0..=0),
        ] {
            assert!(
                expected.contains(&similarity(a, b)),
                "{a}, {b}: {}",
                similarity(a, b)
            );
        }
    }

    #[test]
    fn words_that_only_one_name_has_are_counted() {
        let compare = |a: &str, b: &str| {
            let (mut first, mut second) = (NameWords::default(), NameWords::default());
            first.set(a);
            second.set(b);
            let compared = first.compare(&second);
            (compared.only_here, compared.only_there)
        };
        assert_eq!(compare("Saint Titus Church", "St John Church"), (1, 1));
        assert_eq!(
            compare("Boys Club of Salem", "Salem Boys Lacrosse Club, Inc."),
            (0, 1)
        );
        assert_eq!(compare("Granite Collge Foundation", "Granite College"), (1, 0));
        assert_eq!(compare("The Granite Foodbank", "Granite Food Bank"), (0, 0));
    }

    proptest! {
        #[test]
        fn similarity_is_at_most_100(a in "[A-Za-z0-9 &'-]{0,40}", b in "[A-Za-z0-9 &'-]{0,40}") {
            prop_assert!(similarity(&a, &b) <= EQUAL);
        }

        #[test]
        fn a_name_with_a_word_equals_itself(name in "[A-Za-z0-9]{1,10}[A-Za-z0-9 &'-]{0,40}") {
            prop_assert_eq!(similarity(&name, &name), EQUAL);
        }
    }
}
