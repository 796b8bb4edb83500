//! Generates locations: real cities by weight, made-up towns in every state, and a few foreign countries.

use super::rng::{Rng, Weighted};
use super::words::{Entry, WordGenerator, number, table};

/// The number of made-up towns. A town has the same name, state and ZIP code in every row.
const TOWNS: u64 = 1 << 15;
/// The number of town names that occur in other names, such as those of schools and lakes.
const TOWN_NAMES: u64 = 1 << 17;
const TOWN_SALT: u64 = 0x70A7;

/// A state and the range of the first three digits of its ZIP codes.
pub(super) struct State {
    code: &'static str,
    name: &'static str,
    min_zip: u64,
    max_zip: u64,
}

struct City {
    name: &'static str,
    state: &'static str,
    zip: u64,
}

/// Cities, towns and countries.
pub(super) struct Places {
    states: Weighted<State>,
    cities: Weighted<City>,
    towns: WordGenerator,
    countries: Vec<Entry>,
}

/// The location of one nonprofit.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The country, if it is foreign.
    pub city: String,
    /// Two letters. Empty if it is foreign.
    pub state: &'static str,
    pub state_name: &'static str,
    /// Five digits. 0 if it is foreign.
    pub zip: u64,
}

impl Places {
    pub(super) fn new(countries: Vec<Entry>) -> Places {
        Places {
            states: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/states.txt"
                )),
                2,
                |[code, name, _, low, high]| State {
                    code,
                    name,
                    min_zip: number(low),
                    max_zip: number(high),
                },
            ),
            cities: table(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/cities.txt"
                )),
                3,
                |[name, state, zip, _]| City {
                    name,
                    state,
                    zip: number(zip),
                },
            ),
            towns: WordGenerator::new(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/../../data/generate/towns.txt"
                )),
                TOWN_SALT,
            ),
            countries,
        }
    }

    /// Generates a location into `place`, and reuses its buffer.
    pub(super) fn generate(&self, rng: &mut Rng, place: &mut Place) {
        place.city.clear();
        match rng.below(1000) {
            0..3 => {
                place.city.push_str(rng.choose_skewed(&self.countries).text);
                (place.state, place.state_name, place.zip) = ("", "", 0);
            }
            3..520 => {
                let city = self.cities.choose(rng);
                let state = self.states.find(|state| state.code == city.state);
                place.city.push_str(city.name);
                (place.state, place.state_name) = (city.state, state.map_or(city.name, |state| state.name));
                place.zip = city.zip * 100 + 1 + rng.rank(60, 8);
            }
            _ => {
                let town = rng.rank(TOWNS, 256);
                let mut town_rng = Rng::for_row(TOWN_SALT, town);
                let state = self.states.choose(&mut town_rng);
                self.towns.write(town, &mut place.city);
                (place.state, place.state_name) = (state.code, state.name);
                let prefix = state.min_zip + town_rng.below(state.max_zip - state.min_zip + 1);
                place.zip = prefix * 100 + 1 + town_rng.below(99);
            }
        }
    }

    /// Writes the name of a town.
    pub(crate) fn write_town(&self, rng: &mut Rng, out: &mut String) {
        self.towns.write(rng.rank(TOWN_NAMES, 512), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::words::WordLists;
    use std::collections::HashMap;

    #[test]
    fn the_zip_code_of_a_town_belongs_to_its_state() {
        let places = Places::new(
            WordLists::new(include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../data/generate/lists.txt"
            )))
            .take("foreign"),
        );
        let mut place = Place::default();
        let mut foreign = 0;
        let mut prefixes: HashMap<(String, &str), Vec<u64>> = HashMap::new();
        for row in 0..20_000 {
            places.generate(&mut Rng::for_row(5, row), &mut place);
            if place.state.is_empty() {
                assert_eq!(place.zip, 0);
                foreign += 1;
                continue;
            }
            assert_ne!(place.state_name, "", "{}", place.city);
            let state = places.states.find(|state| state.code == place.state).unwrap();
            let prefix = place.zip / 100;
            assert!((state.min_zip..=state.max_zip).contains(&prefix), "{place:?}");
            prefixes
                .entry((place.city.clone(), place.state))
                .or_default()
                .push(prefix);
        }
        assert!((30..120).contains(&foreign), "{foreign}");
        assert!(prefixes.len() > 3_000);
    }
}
