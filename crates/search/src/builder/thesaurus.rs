//! The thesaurus: words and phrases that mean the same, given to the builder.
//!
//! Everything but kinds is applied to the documents when they are added, so that a search needs no extra step
//! for it, and aliases combine with places, prefixes and typos like any other words.

use std::collections::HashMap;

use crate::text::english;
use crate::text::tokenizer::Tokens;

/// Maximum number of further names that aliases give to one name.
const MAX_VARIANTS: usize = 5;

/// Words and phrases that mean the same.
///
/// ```
/// use search::{Document, Index, IndexBuilder, Query, Thesaurus};
///
/// let mut thesaurus = Thesaurus::default();
/// thesaurus.add_alias("ymca", "Young Men's Christian Association");
/// thesaurus.add_place_alias("nyc", "New York NY");
/// thesaurus.add_kind_phrase("soup kitchen", "food-bank");
/// let mut builder = IndexBuilder::with_thesaurus(thesaurus.into());
/// builder.add(&Document {
///     name: "Young Mens Christian Association of Tulsa",
///     prominence: 2.0,
///     ..Document::default()
/// })?;
/// builder.add(&Document {
///     name: "City Harvest",
///     location: &["New York", "NY"],
///     kinds: &["food-bank"],
///     prominence: 1.0,
///     ..Document::default()
/// })?;
/// let index = Index::open(builder.finish()?)?;
/// assert_eq!(index.search(&Query::new("ymca tul")).hits[0].document, 0);
/// assert_eq!(index.search(&Query::new("soup kitch")).hits[0].document, 1);
/// assert_eq!(index.search(&Query::new("nyc soup kitchen")).hits[0].document, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Thesaurus {
    synonyms: Vec<Vec<String>>,
    name_aliases: AliasRules,
    spellings: AliasRules,
    lead_ins: Vec<Vec<String>>,
    place_aliases: AliasRules,
    /// Normalized phrases with the kinds that they mean.
    kinds: Vec<(String, String)>,
}

/// Aliases by the first word of the phrase that they stand for.
#[derive(Clone, Debug, Default)]
struct AliasRules {
    by_first_word: HashMap<String, Vec<AliasRule>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct AliasRule {
    /// The phrase without its first word and without stop words.
    rest: Vec<String>,
    alias: Vec<String>,
}

/// A phrase found in a name: words `start..end` mean `alias`.
#[derive(Clone, Copy, Debug)]
struct Occurrence<'t> {
    start: usize,
    end: usize,
    alias: &'t [String],
}

impl Thesaurus {
    /// Adds words that match each other, like the singular and the plural of a word.
    pub fn add_synonyms(&mut self, words: &[&str]) {
        self.synonyms
            .push(words.iter().flat_map(|word| normalize(word)).collect());
    }

    /// Adds an alias of a phrase in names. A document with the phrase in a name is also found by that name
    /// with the alias instead, which ranks like an alias of the document. Stop words inside the phrase make no
    /// difference.
    pub fn add_alias(&mut self, alias: &str, phrase: &str) {
        self.name_aliases.add(alias, phrase);
    }

    /// Adds another way to write a phrase in names, which ranks lower than the name itself.
    pub fn add_spelling(&mut self, spelling: &str, phrase: &str) {
        self.spellings.add(spelling, phrase);
    }

    /// Adds a phrase that a name may start with and that people leave out: "Trustees of".
    pub fn add_lead_in(&mut self, phrase: &str) {
        let words = normalize(phrase);
        if !words.is_empty() {
            self.lead_ins.push(words);
        }
    }

    /// Adds an alias of a location. The words of the location are matched in the order of
    /// [`Document::location`](crate::Document::location).
    pub fn add_place_alias(&mut self, alias: &str, phrase: &str) {
        self.place_aliases.add(alias, phrase);
    }

    /// Adds a phrase that people type for a kind. It finds the documents with this kind in
    /// [`Document::kinds`](crate::Document::kinds).
    pub fn add_kind_phrase(&mut self, phrase: &str, kind: &str) {
        let phrase = normalize(phrase).join(" ");
        if !phrase.is_empty() {
            self.kinds.push((phrase, kind.to_owned()));
        }
    }

    /// Iterates over the groups of synonyms.
    pub(crate) fn synonyms(&self) -> impl Iterator<Item = &[String]> {
        self.synonyms.iter().map(Vec::as_slice)
    }

    /// Iterates over the phrases for kinds, each with a kind.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds
            .iter()
            .map(|(phrase, kind)| (phrase.as_str(), kind.as_str()))
    }

    /// Returns the names that aliases and spellings make of a name, each with whether it is an alias: with
    /// one phrase replaced, then with all.
    pub(crate) fn name_variants(&self, words: &[&str]) -> Vec<(Vec<String>, bool)> {
        let aliases = self.name_aliases.find(words);
        let spellings = self.spellings.find(words);
        let alias_count = aliases.len();
        let mut occurrences = aliases;
        occurrences.extend(spellings);
        let mut variants: Vec<(Vec<String>, bool)> = Vec::new();
        let mut add = |replaced: &[Occurrence<'_>], is_alias: bool| {
            let variant = replace(words, replaced);
            if variants.len() < MAX_VARIANTS && variants.iter().all(|(other, _)| *other != variant) {
                variants.push((variant, is_alias));
            }
        };
        let from = usize::from(words.first() == Some(&english::ARTICLE));
        for lead_in in &self.lead_ins {
            if words[from..].starts_with_words(lead_in) {
                let rest = &words[from + lead_in.len()..];
                let skipped = rest.iter().take_while(|word| english::is_stop_word(word)).count();
                let rest = Occurrence {
                    start: 0,
                    end: from + lead_in.len() + skipped,
                    alias: &[],
                };
                if rest.end < words.len() {
                    add(&[rest], true);
                }
            }
        }
        let mut in_order = occurrences.clone();
        in_order.sort_by_key(|occurrence| occurrence.start);
        let mut together: Vec<Occurrence<'_>> = Vec::new();
        for occurrence in &in_order {
            if together.last().is_none_or(|last| last.end <= occurrence.start) {
                together.push(*occurrence);
            }
        }
        for (number, occurrence) in occurrences.iter().enumerate() {
            add(&[*occurrence], number < alias_count);
        }
        if together.len() > 1 {
            add(&together, false);
        }
        variants
    }

    /// Iterates over the words of the aliases of a location.
    pub(crate) fn place_words(&self, words: &[&str]) -> impl Iterator<Item = &str> {
        let found = self.place_aliases.find(words);
        found.into_iter().flat_map(|it| it.alias).map(String::as_str)
    }
}

impl AliasRules {
    fn add(&mut self, alias: &str, phrase: &str) {
        let mut words = normalize(phrase).into_iter();
        let (Some(first), alias) = (words.next(), normalize(alias)) else {
            return;
        };
        let rest: Vec<String> = words.filter(|word| !english::is_stop_word(word)).collect();
        let rule = AliasRule { rest, alias };
        let rules = self.by_first_word.entry(first).or_default();
        if !rule.alias.is_empty() && !rules.contains(&rule) {
            rules.push(rule);
            // Longer phrases first, so that they are preferred where phrases overlap.
            rules.sort_by_key(|rule| std::cmp::Reverse(rule.rest.len()));
        }
    }

    /// Returns the phrases in `words`, in order.
    fn find(&self, words: &[&str]) -> Vec<Occurrence<'_>> {
        let mut found = Vec::new();
        if self.by_first_word.is_empty() {
            return found;
        }
        for (start, word) in words.iter().enumerate() {
            for rule in self.by_first_word.get(*word).into_iter().flatten() {
                let mut end = start + 1;
                let matches = rule.rest.iter().all(|expected| {
                    while words.get(end).is_some_and(|word| english::is_stop_word(word)) {
                        end += 1;
                    }
                    end += 1;
                    words.get(end - 1) == Some(&expected.as_str())
                });
                // A name that has the alias already needs no other.
                if matches && !words[end..].starts_with_words(&rule.alias) {
                    found.push(Occurrence {
                        start,
                        end,
                        alias: &rule.alias,
                    });
                }
            }
        }
        found
    }
}

trait StartsWithWords {
    fn starts_with_words(&self, words: &[String]) -> bool;
}

impl StartsWithWords for [&str] {
    fn starts_with_words(&self, words: &[String]) -> bool {
        self.len() >= words.len() && self.iter().zip(words).all(|(one, other)| one == other)
    }
}

/// Returns `words` with each occurrence replaced by its alias.
fn replace(words: &[&str], occurrences: &[Occurrence<'_>]) -> Vec<String> {
    let mut variant = Vec::with_capacity(words.len());
    let mut from = 0;
    for occurrence in occurrences {
        variant.extend(words[from..occurrence.start].iter().map(|&word| word.to_owned()));
        variant.extend_from_slice(occurrence.alias);
        from = occurrence.end;
    }
    variant.extend(words[from..].iter().map(|&word| word.to_owned()));
    variant
}

fn normalize(text: &str) -> Vec<String> {
    Tokens::new(text).iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(thesaurus: &Thesaurus, name: &str) -> Vec<String> {
        let words: Vec<&str> = name.split(' ').collect();
        let variants = thesaurus.name_variants(&words);
        variants.iter().map(|(words, _)| words.join(" ")).collect()
    }

    #[test]
    fn every_phrase_of_a_name_is_replaced_alone_and_with_the_others() {
        let mut thesaurus = Thesaurus::default();
        thesaurus.add_alias("YMCA", "Young Men's Christian Association");
        thesaurus.add_alias("nyc", "new york");
        assert_eq!(
            variants(&thesaurus, "young mens christian association of greater new york"),
            [
                "ymca of greater new york",
                "young mens christian association of greater nyc",
                "ymca of greater nyc"
            ]
        );
        assert!(variants(&thesaurus, "young mens association of york").is_empty());
    }

    #[test]
    fn stop_words_inside_a_phrase_make_no_difference() {
        let mut thesaurus = Thesaurus::default();
        thesaurus.add_alias("spca", "society for the prevention of cruelty to animals");
        for name in [
            "alaska society for prevention of cruelty to animals",
            "alaska society prevention cruelty animals",
        ] {
            assert_eq!(variants(&thesaurus, name), ["alaska spca"]);
        }
    }

    #[test]
    fn a_name_is_known_without_its_lead_in() {
        let mut thesaurus = Thesaurus::default();
        thesaurus.add_lead_in("trustees of");
        assert_eq!(
            variants(&thesaurus, "the trustees of the columbia university"),
            ["columbia university"]
        );
        assert!(variants(&thesaurus, "friends of the trustees of columbia").is_empty());
        assert!(variants(&thesaurus, "trustees of").is_empty());
    }

    #[test]
    fn a_name_that_goes_on_with_the_alias_has_no_variant() {
        let mut thesaurus = Thesaurus::default();
        thesaurus.add_alias("naacp", "national association");
        assert!(variants(&thesaurus, "national association naacp").is_empty());
    }
}
