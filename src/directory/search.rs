//! Search and browse lists: what the index is told of a nonprofit, and how a view is asked.

use crate::app::answer_cache::Keep;
use crate::directory::View;
use crate::directory::nonprofits::causes::Causes;
use crate::directory::nonprofits::{Nonprofit, place};
use crate::platform::text::fold;
use ::search::{Answer, BuildError, Builder, Document, Hit, Query, Together};
use std::sync::Arc;

/// The label that all nonprofits of a cause carry.
pub fn cause_label(name: &str) -> String {
    format!("cause:{}", name.trim().to_ascii_lowercase())
}

/// The label that all nonprofits of a state carry.
pub fn state_label(code: &str) -> String {
    format!("state:{}", code.trim().to_ascii_uppercase())
}

/// The label that all nonprofits of a city carry, whatever its state and however its saint, mount or fort is written.
pub fn city_label(name: &str) -> String {
    let mut label = String::from("city");
    for (place, word) in fold(name, ' ').split(' ').enumerate() {
        label.push(if place == 0 { ':' } else { ' ' });
        label.push_str(match word {
            "saint" => "st",
            "mount" => "mt",
            "fort" => "ft",
            _ => word,
        });
    }
    label
}

/// The label of nonprofits that gifts can be passed on to.
pub const DISBURSABLE: &str = "disbursable";

/// Tells the index of a nonprofit.
pub fn add(builder: &mut Builder, nonprofit: &Nonprofit<'_>, causes: &Causes) -> Result<u32, BuildError> {
    let aliases: Vec<&str> = nonprofit.aliases.lines().collect();
    let number = nonprofit.ein.map(|ein| ein.to_string());
    let mut labels: Vec<String> = causes
        .of_set(nonprofit.causes)
        .map(|cause| cause_label(&cause.name))
        .collect();
    if !nonprofit.state.is_empty() {
        labels.push(state_label(nonprofit.state));
    }
    if !nonprofit.city.is_empty() {
        labels.push(city_label(nonprofit.city));
    }
    if nonprofit.is_disbursable() {
        labels.push(DISBURSABLE.to_owned());
    }
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    builder.add(&Document {
        name: nonprofit.name,
        aliases: &aliases,
        also: &[nonprofit.chapter, nonprofit.filed_name],
        place: &[
            nonprofit.city,
            nonprofit.state,
            place::state_name(nonprofit.state).unwrap_or_default(),
        ],
        number: number.as_deref(),
        domain: nonprofit.website_url,
        weight: nonprofit.prominence as f32 / 1_000.0,
        labels: &labels,
    })
}

/// A nonprofit that was found, with the typed words that found it.
#[derive(Debug)]
pub struct Match<'v> {
    pub nonprofit: Nonprofit<'v>,
    /// As typed, in lower case, in the order typed.
    pub words: Arc<[String]>,
}

/// The same, before it is read.
#[derive(Clone, Debug)]
pub struct Spot {
    pub at: At,
    pub words: Arc<[String]>,
}

/// What a search found, kept for the next who asks the same.
impl Keep for Arc<[Spot]> {
    fn size(&self) -> usize {
        // The words are mostly shared; those of the first stand for all.
        let words = self
            .first()
            .map_or(0, |spot| spot.words.iter().map(|word| word.len() + 40).sum());
        size_of_val(&**self) + words
    }
}

/// Where a nonprofit of a view is kept.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Snapshot(u32),
    Overlay(u32),
}

/// Gives the hits of an answer their words; hits in a row mostly share them.
fn words_of<'a>(answer: &'a Answer<'_>) -> impl FnMut(&Hit) -> Arc<[String]> + 'a {
    let mut last: Option<(u64, Arc<[String]>)> = None;
    move |hit| {
        let number = answer.same_words(hit);
        match &last {
            Some((same, words)) if *same == number => Arc::clone(words),
            _ => {
                let words: Arc<[String]> = answer.matched(hit).collect();
                last = Some((number, Arc::clone(&words)));
                words
            }
        }
    }
}

impl View {
    /// The best `take` nonprofits for a text, each of which carries a label of every group of `filter`.
    pub fn search(&self, text: &str, take: usize, filter: &[&[&str]]) -> Vec<Match<'_>> {
        let read = |spot: &Spot| {
            let words = Arc::clone(&spot.words);
            self.nonprofit(spot.at)
                .map(|nonprofit| Match { nonprofit, words })
        };
        self.spots(text, take, filter).iter().filter_map(read).collect()
    }

    /// Reads the nonprofit at a place.
    pub fn nonprofit(&self, at: At) -> Option<Nonprofit<'_>> {
        match at {
            At::Snapshot(place) => self.snapshot.as_ref()?.nonprofit(place),
            At::Overlay(place) => self.overlay.nonprofit(place),
        }
    }

    /// Where the best `take` nonprofits are for a text.
    pub fn spots(&self, text: &str, take: usize, filter: &[&[&str]]) -> Arc<[Spot]> {
        let Some(snapshot) = &self.snapshot else {
            return Arc::default();
        };
        let is_replaced = |place: u32| self.overlay.replaces(place);
        let hidden: Option<&dyn Fn(u32) -> bool> = match self.overlay.is_empty() {
            true => None,
            false => Some(&is_replaced),
        };
        let mut settled = snapshot.index().find(&Query {
            text,
            take,
            filter,
            hidden,
        });
        let recent = self.overlay.index().map(|index| {
            index.find(&Query {
                text,
                take,
                filter,
                hidden: None,
            })
        });
        let Some(mut recent) = recent.filter(|recent| !recent.hits.is_empty()) else {
            return spots(&settled, At::Snapshot).map(|(_, spot)| spot).collect();
        };
        let together = Together::new(settled.hits.iter().chain(&recent.hits), take);
        settled.hits.retain(|hit| together.keeps(hit));
        recent.hits.retain(|hit| together.keeps(hit));
        let all = spots(&settled, At::Snapshot).chain(spots(&recent, At::Overlay));
        let mut all: Vec<_> = all
            .filter_map(|(score, spot)| Some((score, self.nonprofit(spot.at)?, spot)))
            .collect();
        all.sort_by(|(a, found, _), (b, other, _)| {
            b.total_cmp(a)
                .then_with(|| other.prominence.cmp(&found.prominence))
                .then_with(|| found.name.cmp(other.name))
                .then_with(|| found.id.cmp(&other.id))
        });
        all.truncate(take);
        all.into_iter().map(|(_, _, spot)| spot).collect()
    }
}

/// Score and place of every hit, with its words.
fn spots<'a>(answer: &'a Answer<'_>, at: fn(u32) -> At) -> impl Iterator<Item = (f32, Spot)> + 'a {
    let mut words = words_of(answer);
    answer.hits.iter().map(move |hit| {
        let spot = Spot {
            at: at(hit.document),
            words: words(hit),
        };
        (hit.score, spot)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_city_has_one_label_however_it_is_written() {
        for (label, names) in [
            ("city:st louis", ["St. Louis", "saint louis", "ST LOUIS"]),
            (
                "city:port st lucie",
                ["Port Saint Lucie", "port st. lucie", "Port St Lucie"],
            ),
            ("city:mt vernon", ["Mount Vernon", "Mt. Vernon", "mt vernon"]),
            ("city:ft worth", ["Fort Worth", "Ft. Worth", "FT WORTH"]),
            (
                "city:mountain view",
                ["Mountain View", "mountain  view", "MOUNTAIN VIEW"],
            ),
        ] {
            assert_eq!(names.map(city_label), [label; 3]);
        }
    }
}
